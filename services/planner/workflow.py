"""One query from request to evidence envelope."""

import asyncio
import time
from collections.abc import Coroutine
from dataclasses import dataclass, field, replace

from libs.contracts.api.search import (
    PlanQuery,
    SearchResponse,
)
from libs.contracts.events import SearchRan
from libs.contracts.events.planner import RunStep, SearchHit
from libs.contracts.faults import CallerFault, Code, Fault
from libs.contracts.subjects import SEARCH_RAN
from libs.contracts.tokens import new_id
from libs.contracts.trace import Trace
from libs.runtime.bus import Bus
from libs.runtime.catalog.documents import DocumentStore
from libs.runtime.flights import Flights
from libs.runtime.gate import Gate
from libs.runtime.inference.tokens import TokenCounter
from libs.runtime.ranking import ranked_by
from libs.runtime.stores import Stores
from libs.runtime.telemetry import logger, trace_id
from services.planner.agentic.mode import AgenticMode
from services.planner.answered import EVIDENCE, Answered, Key, Understood, given
from services.planner.budgeted import Count, roughly
from services.planner.cache import AnswerCache, answer_cache, cache_key
from services.planner.classic import ClassicMode
from services.planner.context import (
    Context,
    asked_back,
    unclear_trace,
    understood_in_context,
)
from services.planner.documents import named_documents
from services.planner.settings import Settings
from services.planner.traces import cached_trace
from services.planner.understanding import Understanding, understanding_of

log = logger("planner")

IN_HAND = 256
"""Queries that one planner has in hand; they mostly wait for the retriever, and hold memory."""


def workflow_of(
    bus: Bus, stores: Stores, settings: Settings, agentic: AgenticMode | None
) -> "Workflow":
    """The workflow as the settings want it."""
    threshold = settings.context_resolution_threshold
    return Workflow(
        bus,
        stores.catalog.documents,
        answer_cache(bus) if settings.planner_cache else None,
        f"1:{ranked_by(settings)}:{threshold:g}",
        agentic,
        understanding_of(settings),
        threshold,
        agentic.count if agentic else TokenCounter(settings.models_dir()).count_many,
    )


@dataclass
class Workflow:
    """Answers queries; `fingerprint` names the settings and models answers depend on."""

    bus: Bus
    documents: DocumentStore
    cache: AnswerCache | None
    fingerprint: str
    agentic: AgenticMode | None = None
    understanding: Understanding = field(default_factory=Understanding)
    context_threshold: float = 0.6
    count: Count = roughly

    def __post_init__(self) -> None:
        self._background: set[asyncio.Task[None]] = set()
        self._gate = Gate("the planner", IN_HAND, 0)
        self._flights: Flights[str, SearchResponse] = Flights()
        self._classic = ClassicMode(self.bus, self.count)

    async def answer(self, query: PlanQuery) -> SearchResponse:
        """The evidence for a query; raises a `CallerFault` for what cannot be asked here, and
        `WorldFault(OVERLOADED)` at once when there is no room for it.

        A query whose time ends is answered with what was found, as `partial`.
        """
        if query.request.mode == "agentic" and self.agentic is None:
            raise CallerFault(Code.INVALID, "mode agentic is off here: use classic", 422)
        if query.request.mode == "classic" and query.request.continue_ is not None:
            raise CallerFault(Code.INVALID, "continue needs mode agentic", 422)
        async with self._gate.enter():
            return await self._answer(query)

    def key(self, query: PlanQuery, version: int) -> str:
        """Where the answer to a query over this corpus version is kept."""
        return cache_key(query, version, f"{self.fingerprint}:{self.understanding.fingerprint}")

    async def _answer(self, query: PlanQuery) -> SearchResponse:
        started = time.perf_counter()
        version = await self.documents.corpus_version(query.namespace)
        key = self.key(query, version)
        context = understood_in_context(query, self.context_threshold)
        if context.clarification is not None:
            response = asked_back(query.request, context, version)
            trace = unclear_trace(query.request, context, response)
            self._record(query, response, [], trace, started)
            return response
        cached = await self.cache.get(key) if self.cache else None
        if cached is None:
            response, own = await self._flights.join(
                key, lambda: self._run(context, key, version, started)
            )
            if own:
                return response
            cached = response
        response = cached.model_copy(
            update={"run_id": new_id("run"), "trace_id": trace_id(), "cached": True}
        )
        trace = context.served().told(cached_trace(query.request, response))
        seen = await self.agentic.seen(query) if self.agentic else frozenset[Key]()
        step = RunStep(kind="cache", outputs={EVIDENCE: given(response, seen)})
        self._record(query, response, [step], trace, started)
        return response

    async def _run(
        self, context: Context, key: str, version: int, started: float
    ) -> SearchResponse:
        """The answer to a question as its conversation resolves it: in the documents that are
        spoken of or that it names, and in all where those do not hold enough."""
        if not context.narrowed:
            context = context.about(await named_documents(self.bus, context.query))
        understood = await self.understanding.of(context.query, started)
        done = await self._answered(context.query, understood, version, started)
        if reason := context.wanting(done):
            context = context.widened(reason, done)
            calls = done.response.budget.spent.get("calls", 0)
            again = replace(understood, calls=calls)
            second = await self._answered(context.query, again, version, started)
            done = second.behind(done)
        done = understood.told(done)
        response = context.marked(done.response)
        if self.cache and done.whole and response.corpus_version == version:
            self._later(self.cache.put(key, response))
        self._record(context.query, response, done.steps, context.told(done.trace), started)
        return response

    async def _answered(
        self, query: PlanQuery, understood: Understood, version: int, started: float
    ) -> Answered:
        if query.request.mode == "classic":
            return await self._classic.answer(query, understood, version, started)
        assert self.agentic is not None
        return await self.agentic.answer(query, understood, version, started)

    def _record(
        self,
        query: PlanQuery,
        response: SearchResponse,
        steps: list[RunStep],
        trace: Trace,
        started: float,
    ) -> None:
        ran = SearchRan(
            run_id=response.run_id,
            namespace=query.namespace,
            key_id=query.key_id,
            mode=query.request.mode,
            status=response.status,
            cached=response.cached,
            corpus_version=response.corpus_version,
            latency_ms=round(1000 * (time.perf_counter() - started), 3),
            trace_id=response.trace_id,
            steps=steps,
            hits=[
                SearchHit(document_id=e.document_id, chunk_id=e.chunk_id) for e in response.evidence
            ],
            trace=trace.model_dump(mode="json"),
        )
        self._later(self._say(ran))

    async def _say(self, ran: SearchRan) -> None:
        try:
            await self.bus.publish(SEARCH_RAN, ran, message_id=ran.run_id, namespace=ran.namespace)
        except Fault as fault:
            log.warning("run not recorded", run_id=ran.run_id, code=str(fault.code))

    def _later(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def warm_up(self) -> None:
        """Load what queries are read and counted with, so that the first does not wait."""
        if self.agentic is not None:
            await self.agentic.warm_up()
        await self.understanding.warm_up()

    async def finish(self) -> None:
        """Wait for what was put off the search path."""
        await asyncio.gather(*self._background, return_exceptions=True)
        await self.understanding.close()
