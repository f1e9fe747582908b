"""The lexical channel of entries, by the whole of one attempt."""

from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any, cast

from libs.contracts.api.ingest import DocumentMetadata
from libs.contracts.artefacts.chunk import Chunk, ChunkMetadata
from libs.contracts.entries import Entry, EntryWeights
from libs.contracts.query.entries import MatchQuery
from libs.runtime.catalog.documents import ActiveRevision
from libs.runtime.index.port import Hit, LexicalQuery, Scope
from libs.runtime.index.tokenizer import tokenize
from services.retriever.entries import EntryFinder
from services.retriever.scope import Corpus

NAMES = ("환율 조회", "환전 신청", "등대 예약")
ACTIVE = ActiveRevision(
    7, "entries-bank", 1, "m.csv", "bank", "entries", DocumentMetadata(), 3, None
)


class Index:
    """Answers each query of words with the next of these lists."""

    def __init__(self, *answers: list[tuple[int, float]]) -> None:
        self.answers = list(answers)
        self.asked: list[list[str]] = []

    async def search(
        self, channel: str, query: LexicalQuery, scope: Scope, limit: int
    ) -> list[Hit]:
        assert channel == "content"
        self.asked.append(query.tokens)
        return [Hit(7, order, f"t{order}", score) for order, score in self.answers.pop(0)]


def finder(index: Index) -> EntryFinder:
    chunks = [
        Chunk(chunk_id=f"t{n}", type="text", content=name, path=[], order=n,
              metadata=ChunkMetadata(length=1, summary="", tokens=1, content_hash="x",
                                     entry=Entry(id=str(n), name=name)))
        for n, name in enumerate(NAMES)
    ]  # fmt: skip

    async def corpus(namespace: str) -> Corpus:
        return Corpus(1, [], None, (ACTIVE,))

    async def version(namespace: str) -> int:
        return 1

    async def whole(revisions: list[int], most: int) -> list[tuple[int, Chunk]]:
        return [(7, chunk) for chunk in chunks]

    @asynccontextmanager
    async def enter(until: float | None) -> Any:
        yield

    catalog = SimpleNamespace(
        documents=SimpleNamespace(corpus_version=version), chunks=SimpleNamespace(whole=whole)
    )
    retriever = SimpleNamespace(
        gate=SimpleNamespace(enter=enter), corpus=corpus, catalog=catalog, index=index,
        embedder=None,
    )  # fmt: skip
    return EntryFinder(cast(Any, retriever))


def query(said: str, words: str) -> MatchQuery:
    return MatchQuery(
        namespace="acme", collection="bank", text=said, original=said, said=said, words=words,
        telling=words.split(), weights=EntryWeights(popularity=0, threshold=0),
    )  # fmt: skip


async def test_what_was_said_and_its_telling_words_both_count() -> None:
    index = Index([(0, 2.0), (1, 1.5)], [(1, 1.0), (2, 0.5)])
    found = await finder(index).match(query("환전하고 싶은데", "환전"))
    assert index.asked == [tokenize("환전하고 싶은데"), tokenize("환전")]
    assert found.entries[0].id == "1"
    assert {hit.id for hit in found.entries} == {"0", "1", "2"}


async def test_an_older_planner_says_only_the_words() -> None:
    index = Index([(2, 1.0)])
    found = await finder(index).match(query("", "등대"))
    assert index.asked == [tokenize("등대")]
    assert [hit.id for hit in found.entries] == ["2"]
