"""Chunks ranked anew by a reranker on a real endpoint, and as they were where it fails."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from libs.contracts.api.search import RetrieveAnswer, RetrievedChunk, RetrieveQuery
from libs.runtime.inference.rerank import Reranker, open_reranker
from libs.runtime.models.settings import Endpoint
from services.retriever.reranking import CHANNEL, DEPTH, READ_CHARS, Reranking
from tests.support.models import FakeModels, Hang, Reply, Status


def chunk(number: int, content: str) -> RetrievedChunk:
    return RetrievedChunk(
        document_id="doc", revision=1, file_name="a.md", chunk_id=f"t{number}", type="text",
        content=content, path=["Part"], order=number, page_numbers=[], boxes=[],
        content_hash="sha256:0", score=1 - number / 100, channels={"content": 1.0},
    )  # fmt: skip


class Retriever:
    """Finds the same chunks for every query, as many as are wanted."""

    def __init__(self, *contents: str) -> None:
        self.chunks = [chunk(n, content) for n, content in enumerate(contents)]
        self.asked: list[RetrieveQuery] = []

    async def retrieve(self, query: RetrieveQuery) -> RetrieveAnswer:
        self.asked.append(query)
        found = self.chunks[: query.top_k]
        return RetrieveAnswer(corpus_version=3, strategy="fusion", chunks=found)


@pytest.fixture
async def reranker(server: FakeModels) -> AsyncIterator[Reranker]:
    found = open_reranker(Endpoint(url=server.url, name="ranks"), None)
    assert found is not None
    yield found
    await found.close()


def asks(**fields: Any) -> RetrieveQuery:
    return RetrieveQuery(namespace="acme", query="safety rules", **{"top_k": 2, **fields})


async def test_the_best_by_the_reranker_come_first(reranker: Reranker, server: FakeModels) -> None:
    retriever = Retriever("nothing", "rules", "safety rules", *["filler"] * 80)
    answer = await Reranking(retriever, reranker).retrieve(asks())  # type: ignore[arg-type]
    assert [c.chunk_id for c in answer.chunks] == ["t2", "t1"]
    assert [c.score for c in answer.chunks] == [1.0, 0.5]
    assert answer.chunks[0].channels == {"content": 1.0, CHANNEL: 1.0}
    assert CHANNEL in answer.timings_ms
    assert len(server.asked[0].body["documents"]) == DEPTH
    (asked,) = retriever.asked
    assert (asked.top_k, asked.whole) == (DEPTH, 2), "a corpus of ten is no small one for two"


class Logits:
    """Scores as a server gives them that applies no function to them."""

    name = "logits"

    async def scores(self, query: str, texts: Any, seconds: float) -> dict[int, float]:
        return {0: -4.0, 1: 800.0, 2: -900.0}

    async def close(self) -> None: ...


async def test_scores_of_any_scale_become_shares_of_one() -> None:
    retriever = Retriever("a", "b", "c", "d")
    answer = await Reranking(retriever, Logits()).retrieve(asks(top_k=4))  # type: ignore[arg-type]
    assert [c.chunk_id for c in answer.chunks] == ["t1", "t0", "t2", "t3"]
    assert [round(c.score, 3) for c in answer.chunks] == [1.0, 0.018, 0.0, 0.0]


async def test_headings_are_read_and_long_texts_cut(reranker: Reranker, server: FakeModels) -> None:
    retriever = Retriever("long " * 2000)
    await Reranking(retriever, reranker).retrieve(asks())  # type: ignore[arg-type]
    (text,) = server.asked[0].body["documents"]
    assert text.startswith("Part\nlong")
    assert len(text) == READ_CHARS


@pytest.mark.parametrize(
    ("reply", "milliseconds"), [(Status(400), None), (Hang(), 1000), (Status(200), 0)]
)
async def test_without_an_answer_nothing_changes(
    reranker: Reranker, server: FakeModels, reply: Reply, milliseconds: int | None
) -> None:
    server.otherwise = reply
    retriever = Retriever("nothing", "rules", "safety rules")
    query = asks(milliseconds=milliseconds)
    answer = await Reranking(retriever, reranker).retrieve(query)  # type: ignore[arg-type]
    plain = await Reranking(Retriever("nothing", "rules", "safety rules")).retrieve(query)  # type: ignore[arg-type]
    assert answer.chunks == plain.chunks
    assert answer.notes == ["the reranker did not answer"]
    assert CHANNEL not in answer.timings_ms


async def test_without_a_reranker_no_more_is_looked_at() -> None:
    retriever = Retriever("rules")
    await Reranking(retriever).retrieve(asks())  # type: ignore[arg-type]
    assert retriever.asked[0].top_k == 2
