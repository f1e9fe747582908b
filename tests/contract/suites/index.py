"""What every search index must do, whatever it is made of.

Subclass in a test module, name the class `Test…`, and give the fixtures `make_index` and
`index_source`. One index at a time is opened for writing.
"""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator, Callable

import numpy as np
import pytest

from libs.contracts.artefacts.chunk import ChunkType, digest_ids
from libs.runtime.index.port import (
    EMPTY_DIGEST,
    MAX_QUERY_TERMS,
    Digest,
    Hit,
    IndexDocument,
    LexicalChannel,
    LexicalQuery,
    Scope,
    SearchIndex,
)
from libs.runtime.index.tokenizer import query_terms, tokenize

MakeIndex = Callable[[bool], SearchIndex]
NS = "tenant"
MODEL = "model-a"
CHANNELS: list[LexicalChannel] = ["content", "path", "term"]

READER = """
import asyncio, json, sys
import numpy as np
from libs.runtime.index.port import LexicalQuery, Scope

async def main():
    index = open_index(False)
    for line in sys.stdin:
        revn = json.loads(line)
        scope = Scope("tenant", frozenset([revn]))
        lexical = await index.search("content", LexicalQuery(["appl"]), scope, 10)
        vectors = await index.search_vectors("model-a", np.eye(4, dtype=np.float32)[0], scope, 10)
        held = await index.digest("tenant", revn)
        print(json.dumps([len(lexical), len(vectors), held.count]), flush=True)
    await index.close()

asyncio.run(main())
"""

WRITER = """
import asyncio, json, sys
from libs.runtime.index.port import IndexDocument

async def main():
    index = open_index(True)
    async def write(revn):
        names = [f"t{revn}-{i}" for i in range(20)]
        documents = [
            IndexDocument(name, i, "text", ["appl"], ["path"], "apple")
            for i, name in enumerate(names)
        ]
        await index.write("tenant", revn, documents)
        print(revn, flush=True)
    for start in range(1, 100_000, 3):
        await asyncio.gather(*(write(revn) for revn in range(start, start + 3)))

asyncio.run(main())
"""


def document(
    content: str,
    order: int = 0,
    *,
    kind: ChunkType = "text",
    path: str = "guide.pdf",
    name: str = "",
) -> IndexDocument:
    return IndexDocument(
        chunk_id=name or f"{kind[0]}{order:064x}",
        order=order,
        type=kind,
        content_tokens=tokenize(content),
        path_tokens=tokenize(path),
        term_text=f"{path}\n{content}",
    )


def asks(text: str) -> LexicalQuery:
    return LexicalQuery(tokenize(text), query_terms(text))


def scope(*revns: int, types: set[ChunkType] | None = None, namespace: str = NS) -> Scope:
    return Scope(namespace, frozenset(revns), None if types is None else frozenset(types))


def places(hits: list[Hit]) -> list[tuple[int, int]]:
    return [(hit.revn, hit.order) for hit in hits]


def unit_vectors(count: int, dimension: int = 16, seed: int = 1) -> np.ndarray:
    vectors = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


class SearchIndexSuite:
    """The MUSTs of `libs/runtime/index/port.py`."""

    @pytest.fixture
    def make_index(self) -> MakeIndex:
        """Opens the one index of this test, for writing or for reading only."""
        raise NotImplementedError

    @pytest.fixture
    def index_source(self) -> str:
        """Python text that defines `open_index(writer)`, for another process."""
        raise NotImplementedError

    @pytest.fixture
    async def index(self, make_index: MakeIndex) -> AsyncIterator[SearchIndex]:
        index = make_index(True)
        yield index
        await index.close()

    # lexical writes

    async def test_nothing_is_found_before_anything_is_written(self, make_index: MakeIndex) -> None:
        reader = make_index(False)
        for channel in CHANNELS:
            assert await reader.search(channel, asks("apple"), scope(1), 10) == []
        assert await reader.search_vectors(MODEL, unit_vectors(1)[0], scope(1), 10) == []
        assert await reader.digest(NS, 1) == EMPTY_DIGEST
        assert await reader.vector_digest(NS, 1, MODEL) == EMPTY_DIGEST
        await reader.close()

    async def test_another_process_sees_what_a_write_returned_from(
        self, index: SearchIndex, index_source: str
    ) -> None:
        reader = await self._python(index_source + READER)

        async def seen(revn: int) -> list[int]:
            assert reader.stdin is not None
            assert reader.stdout is not None
            reader.stdin.write(json.dumps(revn).encode() + b"\n")
            answer: list[int] = json.loads(await reader.stdout.readline())
            return answer

        assert await seen(1) == [0, 0, 0]
        for revn in range(1, 5):
            await index.write(NS, revn, [document("apple", i) for i in range(revn)])
            assert await seen(revn) == [revn, 0, revn]
            names = [f"t{i:064x}" for i in range(revn)]
            await index.write_vectors(NS, revn, MODEL, names, np.eye(4, dtype=np.float32)[:revn])
            assert await seen(revn) == [revn, revn, revn]
        await index.write(NS, 2, [document("apple")])
        assert await seen(2) == [1, 2, 1]
        await index.remove(NS, [2, 3])
        assert await seen(2) == [0, 0, 0]
        assert await seen(3) == [0, 0, 0]
        assert await seen(4) == [4, 4, 4]
        assert reader.stdin is not None
        reader.stdin.close()
        assert await reader.wait() == 0

    async def test_a_write_replaces_the_revision_whole(self, index: SearchIndex) -> None:
        await index.write(NS, 1, [document("apple pie", i) for i in range(5)])
        for _ in range(2):
            await index.write(NS, 1, [document("cherry cake", i) for i in range(3)])
            assert await index.search("content", asks("apple"), scope(1), 10) == []
            hits = await index.search("content", asks("cherry"), scope(1), 10)
            assert places(hits) == [(1, 0), (1, 1), (1, 2)]
            assert (await index.digest(NS, 1)).count == 3
        await index.write(NS, 1, [])
        assert await index.digest(NS, 1) == EMPTY_DIGEST

    async def test_a_revision_is_written_piece_by_piece(self, index: SearchIndex) -> None:
        def piece(*orders: int) -> list[IndexDocument]:
            return [document("apple pie", i, name=f"p{i}") for i in orders]

        for _ in range(2):
            await index.write(NS, 1, piece(0, 1, 2))
            await asyncio.gather(index.append(NS, 1, piece(3, 4)), index.write(NS, 2, piece(0)))
            assert (await index.digest(NS, 1)).count == 5
            await index.append(NS, 1, piece(5))
            await index.append(NS, 1, [])
            wanted = Digest(6, digest_ids([f"p{i}" for i in range(6)]))
            assert await index.digest(NS, 1) == wanted
            hits = await index.search("content", asks("apple"), scope(1), 10)
            assert places(hits) == [(1, i) for i in range(6)]
        assert await index.remove(NS, [1]) == 6
        assert (await index.digest(NS, 2)).count == 1

    @pytest.mark.parametrize("unseen", [False, True])
    async def test_a_write_tells_what_is_held_then(self, index: SearchIndex, unseen: bool) -> None:
        async def written(namespace: str, revn: int, *names: str) -> None:
            documents = [document("apple", i, name=name) for i, name in enumerate(names)]
            told = await index.write(namespace, revn, documents, unseen=unseen)
            assert told == Digest(len(names), digest_ids(list(names)))
            assert await index.digest(namespace, revn) == told

        await asyncio.gather(
            written(NS, 1, "a", "b", "c"), written(NS, 2, "d"), written("other", 1, "e", "f")
        )
        await asyncio.gather(
            written(NS, 1, "c", "x"), written(NS, 3), *(written("other", 9, "g") for _ in range(3))
        )
        assert (await index.digest("other", 1)).count == 2

    async def test_digests_are_those_of_the_chunk_ids(self, index: SearchIndex) -> None:
        ids = [f"t{i}" for i in range(30)]
        documents = [document("apple", i, name=name) for i, name in enumerate(ids)]
        await index.write(NS, 1, documents[::-1])
        assert await index.digest(NS, 1) == Digest(30, digest_ids(ids))
        assert await index.digest(NS, 2) == EMPTY_DIGEST
        assert await index.digest("other", 1) == EMPTY_DIGEST

    async def test_concurrent_writes_all_count(self, index: SearchIndex) -> None:
        await asyncio.gather(
            *(index.write(NS, revn, [document("apple", i) for i in range(3)]) for revn in range(60))
        )
        digests = await asyncio.gather(*(index.digest(NS, revn) for revn in range(60)))
        assert {d.count for d in digests} == {3}

    async def test_readers_see_a_revision_whole(
        self, index: SearchIndex, make_index: MakeIndex
    ) -> None:
        versions = [
            [document(f"apple {word}", i) for i in range(size)]
            for word, size in (("red", 30), ("green", 50))
        ]
        await index.write(NS, 1, versions[0])
        reader = make_index(False)
        done = asyncio.Event()

        async def write() -> None:
            for turn in range(20):
                await index.write(NS, 1, versions[turn % 2])
            done.set()

        async def read() -> set[int]:
            sizes = set()
            while not done.is_set():
                hits = await reader.search("content", asks("apple"), scope(1), 100)
                sizes.add(len(hits))
            return sizes

        _, sizes = await asyncio.gather(write(), read())
        await reader.close()
        assert sizes <= {30, 50}

    async def test_a_killed_writer_loses_nothing_that_it_returned_from(
        self, make_index: MakeIndex, index_source: str
    ) -> None:
        writer = await self._python(index_source + WRITER)
        assert writer.stdout is not None
        returned = [int(await writer.stdout.readline()) for _ in range(12)]
        writer.send_signal(signal.SIGKILL)
        returned += [int(line) for line in (await writer.stdout.read()).split(b"\n")[:-1]]
        await writer.wait()
        index = make_index(True)
        await index.write(NS, 0, [document("apple")])
        assert (await index.digest(NS, 0)).count == 1
        for revn in returned:
            expected = Digest(20, digest_ids(f"t{revn}-{i}" for i in range(20)))
            assert await index.digest(NS, revn) == expected
        begun = range(max(returned) + 1, max(returned) + 4)
        assert {(await index.digest(NS, revn)).count for revn in begun} <= {0, 20}
        await index.close()

    async def test_a_second_opening_keeps_all(self, make_index: MakeIndex) -> None:
        first = make_index(True)
        await first.write(NS, 1, [document("apple")])
        await first.write_vectors(NS, 1, MODEL, ["t0"], unit_vectors(1))
        await first.close()
        second = make_index(True)
        await second.write(NS, 2, [document("apple")])
        hits = await second.search("content", asks("apple"), scope(1, 2), 10)
        assert places(hits) == [(1, 0), (2, 0)]
        assert (await second.vector_digest(NS, 1, MODEL)).count == 1
        await second.close()

    # lexical searches

    @pytest.mark.parametrize("channel", CHANNELS)
    async def test_only_the_scope_is_found(
        self, index: SearchIndex, channel: LexicalChannel
    ) -> None:
        for revn in (1, 2, 3):
            await index.write(NS, revn, [document("apple", path="apple.pdf")])
        await index.write("other", 1, [document("apple", path="apple.pdf", name="foreign")])
        assert places(await index.search(channel, asks("apple"), scope(1, 3), 10)) == [
            (1, 0),
            (3, 0),
        ]
        assert await index.search(channel, asks("apple"), scope(4), 10) == []
        assert await index.search(channel, asks("apple"), scope(), 10) == []
        assert await index.search(channel, asks("apple"), scope(1), 0) == []
        found = await index.search(channel, asks("apple"), scope(1, 2, namespace="other"), 10)
        assert [hit.chunk_id for hit in found] == ["foreign"]
        assert await index.search(channel, asks("apple"), scope(1, namespace="t"), 10) == []

    @pytest.mark.parametrize("channel", CHANNELS)
    @pytest.mark.parametrize("inside", [1, 150])
    async def test_hits_in_scope_are_found_below_any_number_out_of_scope(
        self, index: SearchIndex, channel: LexicalChannel, inside: int
    ) -> None:
        better, worse = "apple banana", "apple and much that is of no interest to anybody here"
        crowd = [document(better, i, path=f"{better}.pdf") for i in range(400)]
        for revn in range(1000, 1005):
            await index.write(NS, revn, crowd)
        wanted = range(1, 1 + inside)
        await asyncio.gather(
            *(
                index.write(NS, r, [document(worse, i, path=f"{worse}.pdf") for i in (0, 1)])
                for r in wanted
            )
        )
        hits = await index.search(channel, asks(better), scope(*wanted), 100)
        assert places(hits) == [(r, i) for r in wanted for i in (0, 1)][:100]
        everything = scope(*wanted, *range(1000, 1005))
        assert places(await index.search(channel, asks(better), everything, 5)) == [
            (1000, i) for i in range(5)
        ]

    async def test_chunk_types_limit_the_hits(self, index: SearchIndex) -> None:
        kinds: list[ChunkType] = ["text", "image", "table"]
        await index.write(NS, 1, [document("apple", i, kind=kinds[i % 3]) for i in range(9)])
        names = [f"{kinds[i % 3][0]}{i:064x}" for i in range(9)]
        await index.write_vectors(NS, 1, MODEL, names, unit_vectors(9))
        for types, orders in (
            ({"text"}, {0, 3, 6}),
            ({"table"}, {2, 5, 8}),
            ({"image", "table"}, {1, 2, 4, 5, 7, 8}),
            (set(), set()),
        ):
            limited = scope(1, types=types)
            for channel in ("content", "term"):
                hits = await index.search(channel, asks("apple"), limited, 10)
                assert {hit.order for hit in hits} == orders
            near = await index.search_vectors(MODEL, unit_vectors(1, seed=2)[0], limited, 10)
            assert {hit.order for hit in near} == orders

    @pytest.mark.parametrize(
        ("channel", "query", "expected"),
        [
            ("content", "searching for companies", 0),
            ("content", "the company's search", 0),
            ("content", "전자금융 거래", 1),
            ("content", "제12조", 1),
            ("content", "ISO 9001", 2),
            ("content", "v1.2.3", 2),
            ("content", "東京都", 3),
            ("path", "regulations", 1),
            ("path", "규정집", 1),
            ("term", "earch", 0),
            ("term", '"arch eng"', 0),
            ("term", "금융거", 1),
            ("term", "조의", 1),
            ("term", "9001:20", 2),
            ("term", "ＴＯＫＹＯ", 3),
            ("term", "규정집/reg", 1),
        ],
    )
    async def test_korean_english_and_substrings(
        self, index: SearchIndex, channel: LexicalChannel, query: str, expected: int
    ) -> None:
        texts = [
            ("A company searched.\nThe search engine of companies.", "intro.pdf"),
            ("제12조의2(목적) 이 규정은 전자금융거래의 안전을 정한다.", "규정집/Regulation A"),
            ("Quality per ISO-9001:2015, release v1.2.3", "quality.docx"),
            ("東京都の天気 Tokyo weather", "weather.html"),
        ]
        await index.write(NS, 1, [document(t, i, path=p) for i, (t, p) in enumerate(texts)])
        hits = await index.search(channel, asks(query), scope(1), 1)
        assert places(hits) == [(1, expected)]

    async def test_better_matches_come_first(self, index: SearchIndex) -> None:
        texts = ["apple", "apple banana", "banana", "apple banana cherry date", "elder"]
        await index.write(NS, 1, [document(t, i) for i, t in enumerate(texts)])
        hits = await index.search("content", asks("apple banana"), scope(1), 10)
        assert hits[0].order == 1
        assert {h.order for h in hits} == {0, 1, 2, 3}
        assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
        terms = await index.search("term", asks("apple cherry"), scope(1), 10)
        assert terms[0].order == 3
        assert {h.order for h in terms} == {0, 1, 3}

    async def test_the_term_channel_finds_true_substrings_only(self, index: SearchIndex) -> None:
        texts = ["abcx bcd", "xabcdx", "ab cd", "ABCD", "가나 나다", "가나다"]
        await index.write(NS, 1, [document(t, i) for i, t in enumerate(texts)])
        found = await index.search("term", LexicalQuery([], ["abcd"]), scope(1), 10)
        assert places(found) == [(1, 1), (1, 3)]
        found = await index.search("term", LexicalQuery([], ["가나다"]), scope(1), 10)
        assert places(found) == [(1, 5)]
        found = await index.search("term", LexicalQuery([], ["cd"]), scope(1), 10)
        assert places(found) == [(1, 0), (1, 1), (1, 2), (1, 3)]
        rarer_first = await index.search("term", LexicalQuery([], ["cd", "ab cd"]), scope(1), 2)
        assert places(rarer_first) == [(1, 2), (1, 0)]

    @pytest.mark.parametrize("channel", CHANNELS)
    async def test_ties_are_ordered_by_place(
        self, index: SearchIndex, channel: LexicalChannel
    ) -> None:
        revns = [5, 3, 9, 1, 7, 2, 8, 4, 6]
        for revn in revns:
            await index.write(NS, revn, [document("apple pear", i) for i in range(60)][::-1])
        expected = [(revn, i) for revn in sorted(revns) for i in range(60)]
        for text in ("apple guide pear", "guide apple"):
            for limit in (1, 10, 100, 1000):
                hits = await index.search(channel, asks(text), scope(*revns), limit)
                assert places(hits) == expected[:limit]
                assert len({h.score for h in hits}) == 1

    @pytest.mark.parametrize(
        "hostile",
        [
            '"', '"apple', "apple*", "*", "appl?", "/.*/", "(((", "[a TO z]", "content:apple",
            "-apple", "+apple", "apple AND NOT", "\\", "apple~2", "apple^99", "{}", "$where",
            "'; drop table--", "\x00", "apple\x00", "\ud800", "\u202eapple", "a" * 100_000,
            "가" * 100_000, "🙂" * 50_000, "\u0301" * 10_000, "a b " * 20_000,
        ],
    )  # fmt: skip
    async def test_hostile_text_is_only_text(self, index: SearchIndex, hostile: str) -> None:
        raw = IndexDocument("raw", 1, "text", [hostile, "ok"], [hostile], hostile)
        await index.write(NS, 1, [document("plum", 0), raw, document(hostile, 2)])
        assert (await index.digest(NS, 1)).count == 3
        ok = await index.search("content", LexicalQuery(["ok"]), scope(1), 10)
        assert places(ok) == [(1, 1)]
        for query in (LexicalQuery([hostile], [hostile]), asks(hostile)):
            for channel in CHANNELS:
                hits = await index.search(channel, query, scope(1), 10)
                assert 0 not in {hit.order for hit in hits}

    async def test_huge_queries_are_answered(self, index: SearchIndex) -> None:
        await index.write(NS, 1, [document("apple banana", i) for i in range(3)])
        words = [f"word{i}" for i in range(50_000)]
        query = LexicalQuery([*words, "appl"], ["apple", *words])
        for channel in ("content", "term"):
            assert len(await index.search(channel, query, scope(1), 10)) == 3

    async def test_of_too_many_terms_the_rarest_are_looked_for(self, index: SearchIndex) -> None:
        common = [f"often{i:02d}" for i in range(MAX_QUERY_TERMS)]
        texts = [" ".join(common)] * 5 + ["or 희귀한 word", "나 rarely"]
        await index.write(NS, 1, [document(t, i) for i, t in enumerate(texts)])
        query = LexicalQuery([], [*common, "nowhere", "희귀한", "rarely"])
        hits = await index.search("term", query, scope(1), 10)
        assert sorted(hit.order for hit in hits) == list(range(7))
        scores = {hit.order: hit.score for hit in hits}
        fewer = LexicalQuery([], common[: MAX_QUERY_TERMS - 2])
        alone = await index.search("term", fewer, scope(1), 10)
        assert scores[0] == pytest.approx(alone[0].score)

    # vectors

    async def test_the_nearest_vectors_are_found_exactly(self, index: SearchIndex) -> None:
        vectors = {revn: unit_vectors(40, seed=revn) for revn in range(1, 12)}
        for revn, rows in vectors.items():
            await index.write(NS, revn, [document("apple", i) for i in range(40)])
            await index.write_vectors(NS, revn, MODEL, [f"c{revn}-{i}" for i in range(40)], rows)
        query = unit_vectors(1, seed=99)[0]
        inside = [2, 3, 5, 7, 11]
        near = sorted(
            ((float(vectors[r][i] @ query), r, i) for r in inside for i in range(40)), reverse=True
        )
        hits = await index.search_vectors(MODEL, query, scope(*inside), 20)
        assert places(hits) == [(r, i) for _, r, i in near[:20]]
        assert [h.chunk_id for h in hits] == [f"c{r}-{i}" for _, r, i in near[:20]]
        assert [h.score for h in hits] == pytest.approx([s for s, _, _ in near[:20]], abs=1e-3)
        assert len(await index.search_vectors(MODEL, query, scope(*inside), 1000)) == 200

    async def test_vectors_are_switched_on_by_scope_model_and_namespace(
        self, index: SearchIndex
    ) -> None:
        for namespace, revn in ((NS, 1), (NS, 2), ("other", 1)):
            await index.write(namespace, revn, [document("apple")])
            await index.write_vectors(namespace, revn, MODEL, ["t0"], unit_vectors(1))
        await index.write_vectors(NS, 1, "model-b", ["t0"], unit_vectors(1, dimension=8))
        query = unit_vectors(1)[0]
        assert places(await index.search_vectors(MODEL, query, scope(2), 9)) == [(2, 0)]
        assert places(await index.search_vectors(MODEL, query, scope(1, 2, 3), 9)) == [
            (1, 0),
            (2, 0),
        ]
        assert await index.search_vectors(MODEL, query, scope(2, namespace="other"), 9) == []
        assert await index.search_vectors("model-c", query, scope(1), 9) == []
        assert await index.search_vectors(MODEL, query, scope(), 9) == []
        assert await index.search_vectors(MODEL, query, scope(1), 0) == []
        small = unit_vectors(1, dimension=8)[0]
        assert places(await index.search_vectors("model-b", small, scope(1, 2), 9)) == [(1, 0)]

    async def test_vectors_are_replaced_whole(self, index: SearchIndex) -> None:
        query = unit_vectors(1)[0]
        await index.write(NS, 1, [document("apple", i) for i in range(8)])
        for size in (8, 3, 3, 5):
            ids = [f"v{i}" for i in range(size)]
            await index.write_vectors(NS, 1, MODEL, ids, unit_vectors(size, seed=size))
            assert await index.vector_digest(NS, 1, MODEL) == Digest(size, digest_ids(ids))
            assert len(await index.search_vectors(MODEL, query, scope(1), 100)) == size
        assert await index.vector_digest(NS, 1, "model-b") == EMPTY_DIGEST
        await index.write_vectors(NS, 1, MODEL, [], np.empty((0, 16), np.float32))
        assert await index.vector_digest(NS, 1, MODEL) == EMPTY_DIGEST
        assert await index.search_vectors(MODEL, query, scope(1), 100) == []

    async def test_equal_vectors_are_ordered_by_place(self, index: SearchIndex) -> None:
        rows = np.repeat(unit_vectors(1), 50, axis=0)
        for revn in (3, 1, 2):
            await index.write(NS, revn, [document("apple", i) for i in range(50)])
            await index.write_vectors(NS, revn, MODEL, [f"c{i}" for i in range(50)], rows)
        hits = await index.search_vectors(MODEL, rows[0], scope(1, 2, 3), 70)
        assert places(hits) == [(r, i) for r in (1, 2, 3) for i in range(50)][:70]

    async def test_vectors_must_fit_their_chunks(self, index: SearchIndex) -> None:
        with pytest.raises(ValueError, match="vectors"):
            await index.write_vectors(NS, 1, MODEL, ["a", "b"], unit_vectors(3))
        with pytest.raises(ValueError, match="finite"):
            await index.write_vectors(NS, 1, MODEL, ["a"], np.full((1, 4), np.nan, np.float32))
        assert await index.vector_digest(NS, 1, MODEL) == EMPTY_DIGEST

    async def test_the_revisions_of_every_channel_are_told(self, index: SearchIndex) -> None:
        assert await index.revisions(NS) == set()
        await index.write(NS, 1, [document("apple", i) for i in range(3)])
        await index.write_vectors(NS, 2, MODEL, ["v"], unit_vectors(1))
        await index.write_vectors(NS, 3, "another", ["v"], unit_vectors(1, 8))
        await index.write("other", 4, [document("apple", 0)])
        assert await index.revisions(NS) == {1, 2, 3}

    # removal

    async def test_removed_revisions_leave_every_channel(self, index: SearchIndex) -> None:
        for namespace, revn in ((NS, 1), (NS, 2), (NS, 3), ("other", 1)):
            await index.write(namespace, revn, [document("apple", i) for i in range(revn + 1)])
            ids = [f"v{i}" for i in range(revn + 1)]
            await index.write_vectors(namespace, revn, MODEL, ids, unit_vectors(revn + 1))
        assert await index.revisions(NS) == {1, 2, 3}
        assert await index.remove(NS, [1, 2, 77]) == 5
        assert await index.remove(NS, [1, 2, 77]) == 0
        assert await index.remove(NS, []) == 0
        assert await index.revisions(NS) == {3}
        for revn in (1, 2):
            assert await index.digest(NS, revn) == EMPTY_DIGEST
            assert await index.vector_digest(NS, revn, MODEL) == EMPTY_DIGEST
        wide = scope(1, 2, 3)
        for channel in CHANNELS:
            hits = await index.search(channel, asks("apple guide"), wide, 10)
            assert places(hits) == [(3, i) for i in range(4)]
        near = await index.search_vectors(MODEL, unit_vectors(1)[0], wide, 10)
        assert {hit.revn for hit in near} == {3}
        assert (await index.digest("other", 1)).count == 2
        assert (await index.vector_digest("other", 1, MODEL)).count == 2

    async def test_a_purge_changes_nothing_that_is_found(self, index: SearchIndex) -> None:
        await index.purge()
        for revn in (1, 2, 3):
            await index.write(NS, revn, [document("apple", i) for i in range(revn + 1)])
            ids = [f"v{i}" for i in range(revn + 1)]
            await index.write_vectors(NS, revn, MODEL, ids, unit_vectors(revn + 1))
        await index.remove(NS, [2])
        late = [document("cherry", 0)]
        await asyncio.gather(index.purge(), index.write(NS, 4, late), index.purge())
        assert [(await index.digest(NS, revn)).count for revn in (1, 2, 3, 4)] == [2, 0, 4, 1]
        for channel in CHANNELS:
            hits = await index.search(channel, asks("apple guide"), scope(1, 2, 3), 10)
            assert places(hits) == [(1, 0), (1, 1), *((3, i) for i in range(4))]
        near = await index.search_vectors(MODEL, unit_vectors(1)[0], scope(1, 2, 3), 10)
        assert {hit.revn for hit in near} == {1, 3}

    async def _python(self, source: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            source,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
