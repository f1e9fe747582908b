"""The local search index, run through the suite, and what only it promises."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from libs.contracts.faults import Code, WorldFault
from libs.runtime.index import lexical_reader, lexical_writer
from libs.runtime.index.factory import open_index
from libs.runtime.index.port import IndexDocument, SearchIndex
from libs.runtime.index.schema import FOLDER
from libs.runtime.index.tantivy_index import TantivyIndex
from tests.contract.suites.index import (
    MODEL,
    NS,
    MakeIndex,
    SearchIndexSuite,
    asks,
    document,
    places,
    scope,
    unit_vectors,
)

SECRET = "xyzzyplugh"


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: a commit is eight fsyncs."""
    shared = Path("/dev/shm")
    if os.access(shared, os.W_OK):
        folder = Path(tempfile.mkdtemp(prefix="groundwire-index-", dir=shared))
        yield folder / "index"
        shutil.rmtree(folder)
    else:
        yield tmp_path / "index"


@pytest.fixture
async def index(root: Path) -> AsyncIterator[TantivyIndex]:
    index = TantivyIndex(root, writer=True)
    yield index
    await index.close()


class BrokenWriter:
    """Fails whatever it is asked."""

    def __getattr__(self, name: str) -> object:
        raise RuntimeError("broken")


class TestTantivyIndex(SearchIndexSuite):
    @pytest.fixture
    def make_index(self, root: Path) -> MakeIndex:
        return lambda writer: TantivyIndex(root, writer=writer)

    @pytest.fixture
    def index_source(self, root: Path) -> str:
        return (
            "from pathlib import Path\n"
            "from libs.runtime.index.tantivy_index import TantivyIndex\n"
            f"def open_index(writer): return TantivyIndex(Path({str(root)!r}), writer=writer)\n"
        )


async def test_the_url_chooses_the_index(root: Path) -> None:
    index: SearchIndex = open_index(f"file:{root}", writer=True)
    await index.write(NS, 1, [document("apple")])
    assert (root / FOLDER).is_dir()
    await index.close()
    for url in ("", "file:", "elastic://host", str(root)):
        with pytest.raises(ValueError, match="use file:<path>"):
            open_index(url, writer=False)


async def test_an_index_opened_for_reading_is_not_written(root: Path) -> None:
    reader = TantivyIndex(root, writer=False)
    for write in (
        lambda: reader.write(NS, 1, []),
        lambda: reader.write_vectors(NS, 1, MODEL, [], unit_vectors(0)),
        lambda: reader.remove(NS, [1]),
    ):
        with pytest.raises(RuntimeError, match="for reading"):
            await write()
    await reader.close()
    assert not root.exists()


async def test_waiting_writes_share_a_commit(
    index: TantivyIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups: list[int] = []
    apply = lexical_writer.LexicalWriter._apply

    def counted(self: lexical_writer.LexicalWriter, prepared: list) -> list[int]:
        groups.append(len(prepared))
        return apply(self, prepared)

    monkeypatch.setattr(lexical_writer.LexicalWriter, "_apply", counted)
    await asyncio.gather(*(index.write(NS, revn, [document("apple")]) for revn in range(100)))
    assert sum(groups) == 100
    assert len(groups) < 20


async def test_a_document_that_does_not_fit_fails_alone(index: TantivyIndex) -> None:
    bad = [document("apple", 0), document("apple", -1)]
    outcomes = await asyncio.gather(
        *(index.write(NS, r, bad if r == 5 else [document("apple")]) for r in range(10)),
        return_exceptions=True,
    )
    assert [r for r, told in enumerate(outcomes) if isinstance(told, Exception)] == [5]
    assert isinstance(outcomes[5], ValueError)
    assert [(await index.digest(NS, r)).count for r in range(10)] == [1] * 5 + [0] + [1] * 4


async def test_a_failed_commit_is_done_again_one_by_one(
    index: TantivyIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A document with a wrongly typed field passes `add_document` and fails the commit."""
    import tantivy

    await index.write(NS, 5, [document("old")])
    made = lexical_writer.to_document

    def poisonous(schema: object, ns: str, revn: int, source: IndexDocument) -> tantivy.Document:
        if "poison" in source.content_tokens:
            return tantivy.Document(revn=[revn], content="poison")
        return made(schema, ns, revn, source)

    monkeypatch.setattr(lexical_writer, "to_document", poisonous)
    outcomes = await asyncio.gather(
        *(index.write(NS, r, [document("poison" if r == 5 else "apple")]) for r in range(10)),
        return_exceptions=True,
    )
    assert [r for r, told in enumerate(outcomes) if isinstance(told, Exception)] == [5]
    assert isinstance(outcomes[5], WorldFault)
    await index.write(NS, 10, [document("apple")])
    found = await index.search("content", asks("apple"), scope(*range(20)), 100)
    assert places(found) == [(r, 0) for r in range(11) if r != 5]
    assert places(await index.search("content", asks("old"), scope(5), 10)) == [(5, 0)]


async def test_a_second_writer_is_refused_after_a_while(index: TantivyIndex, root: Path) -> None:
    await index.write(NS, 1, [document("apple")])
    second = TantivyIndex(root, writer=True, lock_seconds=0.2)
    with pytest.raises(WorldFault, match="another process is writing") as caught:
        await second.write(NS, 2, [document("apple")])
    assert caught.value.code is Code.STORE_AWAY
    await index.close()
    await second.write(NS, 2, [document("apple")])
    assert (await second.digest(NS, 2)).count == 1
    await second.close()


async def test_a_writer_waits_for_one_that_ends(index: TantivyIndex, root: Path) -> None:
    await index.write(NS, 1, [document("apple")])
    second = TantivyIndex(root, writer=True)
    waiting = asyncio.create_task(second.write(NS, 2, [document("apple")]))
    await asyncio.wait([waiting], timeout=0.2)
    assert not waiting.done()
    await index.close()
    await waiting
    assert (await second.digest(NS, 1)).count == 1
    await second.close()


async def test_what_is_submitted_is_finished_at_close(root: Path) -> None:
    index = TantivyIndex(root, writer=True)
    writes = [asyncio.ensure_future(index.write(NS, r, [document("apple")])) for r in range(5)]
    await asyncio.wait(writes, timeout=0)
    await index.close()
    await asyncio.gather(*writes)
    reader = TantivyIndex(root, writer=False)
    assert len(await reader.search("content", asks("apple"), scope(*range(5)), 10)) == 5
    await reader.close()
    with pytest.raises(RuntimeError, match="closed"):
        await index.write(NS, 9, [])


async def test_removing_nothing_commits_nothing(index: TantivyIndex, root: Path) -> None:
    await index.write(NS, 1, [document("apple")])
    await index.remove(NS, [1])
    last = (root / FOLDER / "meta.json").read_bytes()
    assert await index.remove(NS, [1, 2]) == 0
    await index.write(NS, 3, [])
    assert (root / FOLDER / "meta.json").read_bytes() == last


async def test_writing_goes_on_after_the_engine_broke(index: TantivyIndex) -> None:
    await index.write(NS, 1, [document("apple")])
    assert index._lexical is not None
    index._lexical._writer = BrokenWriter()
    with pytest.raises(WorldFault, match="could not be written"):
        await index.write(NS, 2, [document("apple")])
    await index.write(NS, 3, [document("apple")])
    await index.purge()
    found = await index.search("content", asks("apple"), scope(1, 2, 3), 10)
    assert places(found) == [(1, 0), (3, 0)]


async def test_a_term_that_only_seems_to_be_everywhere_is_bounded(
    index: TantivyIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[object] = []
    read = lexical_reader.stored_text

    def counted(stored: object) -> object:
        looked_at.append(stored)
        return read(stored)

    monkeypatch.setattr(lexical_reader, "stored_text", counted)
    monkeypatch.setattr(lexical_reader, "MAX_READ", 20)
    texts = ["abcx bcd"] * 100 + ["abcd"]
    await index.write(NS, 1, [document(t, i) for i, t in enumerate(texts)])
    assert await index.search("term", asks("abcd"), scope(1), 5) == []
    assert len(looked_at) == 25
    assert len(await index.search("term", asks("bcd"), scope(1), 200)) == 101


@pytest.mark.parametrize("damage", ["{}", "", "not json"])
async def test_a_damaged_index_is_a_store_that_is_away(root: Path, damage: str) -> None:
    index = TantivyIndex(root, writer=True)
    await index.write(NS, 1, [document("apple")])
    await index.close()
    (root / FOLDER / "meta.json").write_text(damage)
    index = TantivyIndex(root, writer=True)
    for call in (
        lambda: index.search("content", asks("apple"), scope(1), 10),
        lambda: index.digest(NS, 1),
        lambda: index.write(NS, 2, [document("apple")]),
    ):
        with pytest.raises(WorldFault) as caught:
            await call()
        assert caught.value.code is Code.STORE_AWAY
    await index.close()


async def test_removed_text_leaves_the_disk(index: TantivyIndex, root: Path) -> None:
    def files_with(secret: str) -> list[str]:
        return sorted(
            str(path)
            for path in root.rglob("*")
            if path.is_file() and secret.encode() in path.read_bytes()
        )

    await asyncio.gather(
        *(
            index.write(NS, revn, [document(f"apple {i} word{revn}", i) for i in range(40)])
            for revn in range(30)
        ),
        index.write(NS, 99, [document(SECRET, path=f"{SECRET}.pdf", name=SECRET)]),
    )
    await index.write_vectors(NS, 99, MODEL, [SECRET], unit_vectors(1))
    assert files_with(SECRET)
    reader = TantivyIndex(root, writer=False)
    before = await reader.search("content", asks("apple"), scope(*range(30)), 10_000)
    await index.remove(NS, [99])
    await index.purge()
    assert files_with(SECRET) == []
    assert len(before) == 1200
    after = await reader.search("content", asks("apple"), scope(*range(30)), 10_000)
    assert [(h.revn, h.order, h.chunk_id) for h in after] == [
        (h.revn, h.order, h.chunk_id) for h in before
    ]
    for revn in range(30):
        assert (await reader.digest(NS, revn)).count == 40
        found = await reader.search("term", asks(f"7 word{revn}"), scope(revn), 100)
        assert found
    await index.purge()
    await reader.close()
