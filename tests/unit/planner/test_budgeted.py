"""Classic mode spends no more tokens on evidence than its budget, and says what it spent."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.contracts.api.search import (
    Budget,
    PlanQuery,
    RetrieveAnswer,
    RetrievedChunk,
    SearchRequest,
)
from libs.contracts.query.documents import DocumentsAnswer
from libs.runtime.inference.errors import ModelUnavailable
from services.planner.budgeted import JOINT, counted, opened, roughly
from services.planner.workflow import Workflow


def chunk(name: str, words: int) -> RetrievedChunk:
    return RetrievedChunk(
        document_id="d",
        revision=1,
        file_name="a.md",
        chunk_id=name,
        type="text",
        content=" ".join(["word"] * words),
        path=["Part"],
        order=0,
        page_numbers=[],
        boxes=[],
        content_hash="sha256:ab",
        score=1.0,
        channels={},
        summary=f"about {name}",
    )


def words(texts: Any) -> list[int]:
    return [len(text.split()) for text in texts]


@given(st.lists(st.integers(1, 60), max_size=12), st.integers(0, 300))
def test_what_is_rendered_stays_within_the_room(sizes: list[int], room: int) -> None:
    chunks = [chunk(f"c{n}", size) for n, size in enumerate(sizes)]
    found = opened(chunks, room, words, explain=False)
    rendered = [piece.chunk_id for piece in found.evidence]
    assert sum(words([piece.content])[0] for piece in found.evidence) <= found.tokens <= room or (
        not rendered and found.tokens == 0
    )
    assert len(found.evidence) + len(found.outline) == len(chunks)
    assert rendered == [c.chunk_id for c in chunks if c.chunk_id in rendered]
    if chunks and words([chunks[0].content])[0] + 4 + JOINT <= room:
        assert rendered[0] == "c0"


def test_without_the_models_package_more_is_counted_than_there_is() -> None:
    def away(texts: Any) -> list[int]:
        raise ModelUnavailable("no package")

    assert (
        counted(away, ["twelve words", "한국어"]) == roughly(["twelve words", "한국어"]) == [7, 5]
    )


@pytest.mark.parametrize(
    ("tokens", "given", "status", "stop"),
    [(1000, 3, "ok", "complete"), (50, 1, "partial", "tokens"), (1, 0, "partial", "tokens")],
)
async def test_classic_answers_within_its_tokens(
    tokens: int, given: int, status: str, stop: str
) -> None:
    class Bus:
        async def request(self, subject: Any, body: Any, reply: Any, *, timeout: float) -> Any:
            if reply is DocumentsAnswer:
                return DocumentsAnswer(corpus_version=7)
            chunks = [chunk(f"c{n}", 30) for n in range(3)]
            return RetrieveAnswer(corpus_version=7, strategy="fusion", chunks=chunks)

        async def publish(self, subject: Any, ran: Any, **kwargs: Any) -> None: ...

    async def version(namespace: str) -> int:
        return 7

    documents = cast(Any, SimpleNamespace(corpus_version=version))
    work = Workflow(cast(Any, Bus()), documents, None, "f", count=words)
    request = SearchRequest(query="what is it", budget=Budget(tokens=tokens))
    response = await work.answer(PlanQuery(namespace="acme", key_id="k", request=request))
    await work.finish()
    assert (len(response.evidence), response.status) == (given, status)
    assert [item.summary for item in response.outline] == ["about c0", "about c1", "about c2"][
        given:
    ]
    spent = response.budget.spent["tokens"]
    assert response.budget.stop_reason == stop
    assert words([response.evidence_text])[0] <= spent <= tokens
    assert (spent > 0) is (given > 0)
    assert (response.status_reason == "") is (status == "ok")


@pytest.mark.parametrize(
    ("channels", "tokens", "told"),
    [
        ({"content": 0.4, "dense": 0.2}, 1000, "Searched by words and by meaning: 3 of"),
        ({"content": 0.4}, 1000, "Searched by words alone, vectors took no part: 3 of"),
        ({"content": 0.4, "dense": 0.2}, 50, "; 2 more had no room in its tokens and are listed"),
    ],
)
async def test_the_trace_says_what_took_part_and_what_had_no_room(
    channels: dict[str, float], tokens: int, told: str
) -> None:
    traces: list[dict[str, Any]] = []

    class Bus:
        async def request(self, subject: Any, body: Any, reply: Any, *, timeout: float) -> Any:
            if reply is DocumentsAnswer:
                return DocumentsAnswer(corpus_version=7)
            chunks = [
                chunk(f"c{n}", 30).model_copy(update={"channels": channels}) for n in range(3)
            ]
            return RetrieveAnswer(corpus_version=7, strategy="fusion", chunks=chunks)

        async def publish(self, subject: Any, ran: Any, **kwargs: Any) -> None:
            traces.append(ran.trace)

    async def version(namespace: str) -> int:
        return 7

    documents = cast(Any, SimpleNamespace(corpus_version=version))
    work = Workflow(cast(Any, Bus()), documents, None, "f", count=words)
    request = SearchRequest(query="what is it", budget=Budget(tokens=tokens))
    await work.answer(PlanQuery(namespace="acme", key_id="k", request=request))
    await work.finish()
    assert told in traces[0]["planner"]["readable_summary"]
