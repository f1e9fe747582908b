"""A query whose time ends, equal queries at once, and a retriever that refuses."""

import asyncio
import contextlib
from types import SimpleNamespace
from typing import Any, cast

import pytest

from libs.contracts.api.search import PlanQuery, RetrieveAnswer, SearchRequest
from libs.contracts.faults import Code, WorldFault
from libs.contracts.query.documents import DocumentsAnswer
from services.planner.analysis.model import Analyzer
from services.planner.local import analyzer
from services.planner.understanding import Understanding
from services.planner.workflow import Workflow


class Bus:
    """Answers `query.retrieve` with what it is given, once `go` is set."""

    def __init__(self, answer: RetrieveAnswer | Exception) -> None:
        self.answer = answer
        self.go = asyncio.Event()
        self.go.set()
        self.asked: list[Any] = []
        self.ran: list[Any] = []

    async def request(self, subject: Any, body: Any, reply: Any, *, timeout: float) -> Any:
        if reply is DocumentsAnswer:
            return DocumentsAnswer(corpus_version=7)
        self.asked.append(body)
        await self.go.wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def publish(self, subject: Any, ran: Any, **kwargs: Any) -> None:
        self.ran.append(ran)


class Cache:
    """Remembers nothing but what was put."""

    def __init__(self) -> None:
        self.kept: list[str] = []

    async def get(self, key: str) -> None:
        return None

    async def put(self, key: str, response: Any) -> None:
        self.kept.append(key)


async def version(namespace: str) -> int:
    return 7


def workflow(bus: Bus, cache: Cache | None = None) -> Workflow:
    documents = SimpleNamespace(corpus_version=version)
    return Workflow(cast(Any, bus), cast(Any, documents), cast(Any, cache), "f")


def query(**fields: Any) -> PlanQuery:
    request = SearchRequest.model_validate({"query": "q", **fields})
    return PlanQuery(namespace="acme", key_id="key-1", request=request)


def found(**fields: Any) -> RetrieveAnswer:
    return RetrieveAnswer(**{"corpus_version": 7, "strategy": "fusion", "chunks": [], **fields})


async def test_a_search_without_the_dense_channel_is_partial_and_not_kept() -> None:
    cache = Cache()
    work = workflow(Bus(found(unfinished=["dense"])), cache)
    response = await work.answer(query(budget={"milliseconds": 30}))
    await work.finish()
    assert (response.status, response.budget.stop_reason) == ("partial", "time")
    assert "dense" in response.status_reason
    assert "budget.milliseconds" in response.status_reason
    assert cache.kept == []


async def test_the_trace_tells_how_long_the_query_was_analysed() -> None:
    bus = Bus(found())
    work = workflow(bus)
    work.understanding = Understanding(Analyzer(analyzer()))
    await work.answer(query(query="pump pressure in 2024"))
    await work.finish()
    assert bus.ran[0].trace["planner"]["stage_latencies_ms"]["query_analysis_ms"] > 0


async def test_a_complete_search_is_kept() -> None:
    cache = Cache()
    work = workflow(Bus(found()), cache)
    response = await work.answer(query())
    await work.finish()
    assert (response.status, response.budget.stop_reason) == ("abstained", "complete")
    assert len(cache.kept) == 1


@pytest.mark.parametrize(
    "answer", [found(corpus_version=8), WorldFault(Code.OVERLOADED, "full", 1.0)]
)
async def test_what_is_of_another_version_or_failed_is_not_kept(
    answer: RetrieveAnswer | Exception,
) -> None:
    cache = Cache()
    work = workflow(Bus(answer), cache)
    with contextlib.suppress(WorldFault):
        await work.answer(query())
    await work.finish()
    assert cache.kept == []


async def test_a_retriever_that_is_silent_leaves_a_partial_answer() -> None:
    bus = Bus(WorldFault(Code.TIMEOUT, "query.retrieve did not answer within 1 s"))
    response = await workflow(bus).answer(query(budget={"milliseconds": 1}))
    assert (response.status, response.budget.stop_reason) == ("partial", "time")
    assert response.corpus_version == 7
    assert bus.asked[0].milliseconds <= 1


async def test_a_full_retriever_is_a_fault_with_its_delay() -> None:
    with pytest.raises(WorldFault) as refused:
        await workflow(Bus(WorldFault(Code.OVERLOADED, "full", 1.0))).answer(query())
    assert (refused.value.code, refused.value.retry_after) == (Code.OVERLOADED, 1.0)


async def test_equal_queries_at_once_are_one_search_with_a_run_each() -> None:
    bus = Bus(found())
    bus.go.clear()
    work = workflow(bus, Cache())
    asked = [asyncio.create_task(work.answer(query())) for _ in range(5)]
    other = asyncio.create_task(work.answer(query(top_k=3)))
    while len(bus.asked) < 2:
        await asyncio.sleep(0)
    bus.go.set()
    responses = await asyncio.gather(*asked, other)
    assert len(bus.asked) == 2
    assert len({response.run_id for response in responses}) == 6
    assert [response.cached for response in responses].count(False) == 2


async def test_what_explains_names_what_a_long_query_lost() -> None:
    bus = Bus(found(notes=["the query has 100 different words: the 64 rarest were searched"]))
    explained = await workflow(bus).answer(query(explain=True))
    plain = await workflow(bus).answer(query())
    assert "rarest" in explained.budget.steps[0]["notes"][0]
    assert "notes" not in plain.budget.steps[0]


async def test_what_a_query_states_goes_with_it_and_what_was_given_up_is_told() -> None:
    bus = Bus(found(relaxed_filters=["year"]))
    planner = workflow(bus)
    await planner.answer(query(query="2023년 산업재해 보고서"))
    planner.understanding = Understanding(Analyzer(analyzer()))
    answer = await planner.answer(query(query="2023년 산업재해 보고서"))
    await planner.answer(query(query="!!!"))
    await planner.finish()
    plain, guided, vague = (step.analysis for step in bus.asked)
    assert (plain, vague) == (None, None)
    assert guided is not None
    assert guided.hard_filters.year == 2023
    assert answer.relaxed_filters == ["year"]
    assert answer.budget.steps[0]["relaxed_filters"] == ["year"]
