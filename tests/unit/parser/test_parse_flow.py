"""From an accepted source to joined rows: profiler and parser handlers over real sandboxes."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from libs.contracts.api.ingest import DocumentMetadata, IngestOptions
from libs.contracts.api.reading import PictureQuery
from libs.contracts.events import (
    DocumentAccepted,
    DocumentParsed,
    DocumentProfiled,
    DocumentSharded,
    ShardParsed,
    ShardsDone,
)
from libs.contracts.faults import Code, DocumentFault, Fault, StaleFault, WorldFault
from libs.runtime.sandbox.verdict import ChildCrashed
from libs.runtime.work import Work
from services.parser.handlers import on_picture
from services.parser.storing import store_shard
from services.profiler.profile import Bounds
from tests.support import documents
from tests.support.pdfs import PdfPage, write_pdf
from tests.support.waiting import until
from tests.unit.parser.flow import Flow, started

PICTURE = (
    "# Signs\n\n![stop](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlE"
    "QVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==)\n\nText.\n"
)


@pytest.fixture(scope="module")
async def base(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Flow]:
    async with started(tmp_path_factory.mktemp("flow"), parser_preload_delay=0) as flow:
        yield flow


@pytest.fixture
def flow(base: Flow) -> Flow:
    """The running services with a fresh memory."""
    base.bus.said.clear()
    base.bus.queue.clear()
    base.bus.ids.clear()
    base.stores.jobs.shards.clear()
    base.stores.jobs.failures.clear()
    return base


def in_shards_of_one_page(flow: Flow, window: int) -> Flow:
    profiler = replace(flow.profiler, bounds=Bounds(shard_over=1, shard_pages=1), window=window)
    return replace(flow, profiler=profiler)


async def test_a_markdown_file_goes_the_whole_way(flow: Flow) -> None:
    await flow.accept("pump.md", documents.MARKDOWN.encode())
    parsed = await flow.settle()
    assert [type(e) for e in flow.bus.said] == [
        DocumentAccepted, DocumentProfiled, DocumentSharded, DocumentParsed,
    ]  # fmt: skip
    rows = await flow.rows(parsed.rows)
    assert parsed.row_count == len(rows)
    assert [(r.text, r.level) for r in rows if r.kind == "heading"] == [
        ("Pump manual", 1), ("Installation", 2), ("Maintenance", 2), ("Lubrication", 3),
    ]  # fmt: skip
    assert any(r.kind == "table" and r.cells for r in rows)
    assert (await flow.profile(parsed.profile)).language == "en"
    assert (await flow.diagnostics(parsed.diagnostics)).engine == parsed.engine
    assert parsed.rows.key.startswith("default/doc-1/1/.jobs/job-1/1/")


async def test_the_same_event_twice_gives_the_same_bytes_under_the_same_keys(flow: Flow) -> None:
    await flow.accept("turbine.pdf", documents.manual_pdf())
    first = await flow.settle()
    flow.bus.ids.clear()
    for event in list(flow.bus.said):
        await flow.handle(event)
    second = await flow.settle()
    skip = {"occurred_at"}
    assert first.model_dump(exclude=skip) == second.model_dump(exclude=skip)


async def test_a_long_document_is_parsed_in_shards_through_a_window(flow: Flow) -> None:
    words = ("tide", "pier", "crane", "berth", "pilot", "cargo", "quay")
    pages = [
        [
            *([(20.0, f"{n // 10} All about the {words[n % 7]} and more")] if n % 10 == 0 else []),
            *((11.0, f"The {words[(n * k) % 7]} {words[(n + k) % 7]} " * k) for k in range(1, 6)),
        ]
        for n in range(1, 251)
    ]
    await flow.accept("long.pdf", documents.pdf(pages))
    await flow.handle(flow.bus.queue.popleft())
    profile = await flow.profile(flow.bus.of(DocumentProfiled)[0].profile)
    assert [(s.first, s.last) for s in profile.shards] == [(1, 100), (101, 200), (201, 250)]
    assert flow.profiler.window == 4
    parsed = await flow.settle()
    assert sorted(e.shard for e in flow.bus.of(DocumentSharded)) == [0, 1, 2]
    assert [e.done for e in flow.bus.of(ShardParsed)] == [1, 2, 3]
    assert len(flow.bus.of(ShardsDone)) == 1
    rows = await flow.rows(parsed.rows)
    assert [r.order for r in rows] == list(range(len(rows)))
    assert sorted({r.page for r in rows if r.page}) == list(range(1, 251))
    assert [r.page for r in rows] == sorted(r.page or 0 for r in rows)
    headings = [r for r in rows if r.kind == "heading"]
    assert len(headings) == 25
    assert {r.level for r in headings} == {1}


async def test_the_window_releases_one_shard_for_each_that_was_parsed(flow: Flow) -> None:
    narrowed = in_shards_of_one_page(flow, window=2)
    await narrowed.accept(
        "five.pdf", documents.pdf([[(11, f"Page {n} says so.")] for n in range(5)])
    )
    await narrowed.handle(flow.bus.queue.popleft())
    out: list[int] = []
    for _ in range(5):
        sharded = [e for e in flow.bus.of(DocumentSharded) if e.shard not in out]
        assert len(sharded) <= 2
        event = sharded[0]
        out.append(event.shard)
        await narrowed.handle(event)
        await narrowed.handle(flow.bus.of(ShardParsed)[-1])
    assert out == [0, 1, 2, 3, 4]
    assert len(flow.bus.of(ShardsDone)) == 1


async def test_assets_travel_with_their_hashes_and_are_listed_while_referred_to(flow: Flow) -> None:
    await flow.accept("signs.md", PICTURE.encode())
    parsed = await flow.settle()
    rows = await flow.rows(parsed.rows)
    (name,) = [r.asset for r in rows if r.asset]
    assert list(parsed.assets) == [name]
    stored = await flow.stores.objects.get(parsed.assets[name].key)
    assert stored.startswith(b"\x89PNG")


async def test_what_the_sender_stated_is_not_inferred(flow: Flow) -> None:
    stated = IngestOptions(metadata=DocumentMetadata(language="ko", year=1999))
    await flow.accept("report-2024.md", documents.MARKDOWN.encode(), options=stated)
    parsed = await flow.settle()
    assert (await flow.profile(parsed.profile)).inferred == {}
    flow.bus.ids.clear()
    await flow.accept("report-2024.md", documents.MARKDOWN.encode(), job="job-2")
    parsed = await flow.settle()
    assert (await flow.profile(parsed.profile)).inferred == {"language": "en", "year": 2024}


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("a.pdf", b"no pdf", Code.UNREADABLE),
        ("a.docx", documents.docx()[:1500], Code.UNREADABLE),
        ("a.bin", bytes(400), Code.UNSUPPORTED),
        ("empty.md", b"", Code.EMPTY),
    ],
)
async def test_a_bad_document_is_the_documents_fault_at_its_first_stage(
    flow: Flow, name: str, data: bytes, code: Code
) -> None:
    await flow.accept(name, data)
    with pytest.raises(DocumentFault) as caught:
        await flow.settle()
    assert caught.value.code is code
    assert len(flow.bus.said) == 1


async def test_a_source_that_is_gone_or_changed_is_told_apart(flow: Flow) -> None:
    await flow.accept("a.md", b"# One\n")
    event = flow.bus.queue.popleft()
    assert isinstance(event, DocumentAccepted)
    await flow.stores.objects.put(event.source.key, b"# Another\n")
    with pytest.raises(WorldFault):
        await flow.handle(event)
    await flow.stores.objects.delete([event.source.key])
    with pytest.raises(DocumentFault) as caught:
        await flow.handle(event)
    assert caught.value.code is Code.SOURCE_MISSING


async def test_changed_rows_of_a_shard_are_never_joined(flow: Flow) -> None:
    cut = in_shards_of_one_page(flow, window=4)
    await cut.accept("two.pdf", documents.pdf([[(11, "One page.")], [(11, "Another page.")]]))
    while not flow.bus.of(ShardsDone):
        await cut.handle(flow.bus.queue.popleft())
    done = flow.bus.of(ShardsDone)[0]
    await flow.stores.objects.put(done.rows[0].key, b"other bytes")
    with pytest.raises(WorldFault):
        await flow.handle(done)
    await flow.stores.objects.delete([done.rows[0].key])
    with pytest.raises(WorldFault):
        await flow.handle(done)


async def test_a_crash_is_retried_once_and_then_held_against_the_document(
    flow: Flow, monkeypatch: pytest.MonkeyPatch
) -> None:
    await flow.accept("a.md", b"# One\n")
    await flow.handle(flow.bus.queue.popleft())
    shard = flow.bus.of(DocumentSharded)[0]

    def crash(*_: Any, **__: Any) -> Any:
        raise ChildCrashed("SIGSEGV")

    monkeypatch.setattr("services.parser.helped.parse_shard", crash)
    faults: list[Fault] = []
    for _ in range(2):
        with pytest.raises(Fault) as caught:
            await flow.handle(shard)
        faults.append(caught.value)
    assert [f.code for f in faults] == [Code.WORKER_LOST, Code.PARSER_CRASHED]
    assert flow.stores.jobs.failures == {("parser:job-1:0", "crash"): 2}


async def test_an_asset_named_against_the_rules_is_not_stored(flow: Flow, tmp_path: Path) -> None:
    await flow.accept("a.md", b"# One\n")
    event = flow.bus.queue[0]

    class Finished:
        result = {
            "engine": "x", "versions": {}, "findings": [], "row_count": 1, "joined": True,
            "media_types": {"profile.json": "a/b"},
        }  # fmt: skip

    finished: Any = Finished()
    with pytest.raises(RuntimeError, match="against the rules"):
        await store_shard(flow.stores.objects, event, 0, finished)


async def test_a_cancel_ends_a_parse_within_two_seconds(flow: Flow) -> None:
    text = "\n\n".join(f"Paragraph {n} of a text that takes its time." for n in range(400_000))
    await flow.accept("long.txt", text.encode())
    await flow.handle(flow.bus.queue.popleft())
    shard, work = flow.bus.of(DocumentSharded)[0], Work("job-1")
    work.take_progress()
    task = asyncio.create_task(flow.handle(shard, work))
    await until(work.take_progress)
    assert not task.done()
    work.cancel()
    with pytest.raises(StaleFault):
        await asyncio.wait_for(task, 5)


async def test_every_format_goes_the_whole_way(flow: Flow) -> None:
    for number, (name, (data, query)) in enumerate(documents.of_every_format().items()):
        await flow.accept(name, data, job=f"job-{number}")
        parsed = await flow.settle()
        rows = await flow.rows(parsed.rows)
        said = " ".join(r.text for r in rows).casefold()
        assert query.split()[0].casefold() in said, name


async def test_a_page_that_nobody_waits_for_any_more_is_not_drawn(
    flow: Flow, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = write_pdf(PdfPage().text(100, 100, "Words", 12))
    info = await flow.stores.objects.put("acme/source", data)
    query = PictureQuery(
        namespace="acme", source="acme/source", sha256=info.sha256, media="pdf", page=1,
        width=300, target="acme/page.png",
    )  # fmt: skip
    busy = replace(flow.parser, pictures=asyncio.Semaphore(0))
    with monkeypatch.context() as impatient:
        impatient.setattr("services.parser.handlers.PICTURE_SECONDS", 0.05)
        with pytest.raises(WorldFault, match="too many") as late:
            await on_picture(busy, query)
    assert late.value.code is Code.TIMEOUT
    assert await flow.stores.objects.stat("acme/page.png") is None
    busy.pictures.release()
    assert (await on_picture(busy, query)).width == 300
