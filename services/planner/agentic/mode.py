"""Agentic mode: a query from request to envelope, its trace, and the steps to be recorded."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from libs.contracts.api.search import PlanQuery, SearchResponse
from libs.contracts.events.planner import RunStep
from libs.contracts.faults import CallerFault, Code
from libs.contracts.trace import Attempt, Planner, Trace
from libs.contracts.trace.v1 import StageLatencies
from libs.runtime.bus import Bus
from libs.runtime.catalog.runs import RunRecord, RunStore
from libs.runtime.index.tokenizer import tokenize
from libs.runtime.inference.errors import ModelUnavailable
from libs.runtime.inference.tokens import TokenCounter
from libs.runtime.telemetry import trace_id
from services.planner.agentic.agent import Agent
from services.planner.agentic.budget import Cost, Ledger
from services.planner.agentic.envelope import Count, coverage, envelope
from services.planner.agentic.gathered import Gathered, Look
from services.planner.answered import EVIDENCE, Answered, Key, Understood, given
from services.planner.traces import given_up, trace_of
from services.planner.verifier import tried

CALLS = 24
"""Requests of one query: all that the longest plan can make, with room."""

RENDER_SHARE = 0.1
RENDER_MILLISECONDS = 50.0
"""Of a query's time, kept for rendering: the smaller of both."""

_RECORDED_WITHIN = 2.0
_LOOK_AGAIN = 0.05


@dataclass
class AgenticMode:
    """Answers agentic queries; `count` counts model tokens, and may load a model."""

    bus: Bus
    runs: RunStore
    count: Count

    async def warm_up(self) -> None:
        """Load what counts tokens and what stems words: the first query does not wait for them."""
        await asyncio.to_thread(self._count, [""])
        await asyncio.to_thread(tokenize, "words")

    async def answer(
        self, query: PlanQuery, understood: Understood, version: int, started: float
    ) -> Answered:
        """The evidence for a query as it is understood; `started` is
        `time.perf_counter()` at its arrival."""
        seen = await self.seen(query)
        limit = query.request.budget
        kept = min(RENDER_MILLISECONDS, RENDER_SHARE * limit.milliseconds)

        def clock() -> float:
            return 1000 * (time.perf_counter() - started)

        ledger = Ledger(Cost(limit.tokens, CALLS), limit.milliseconds - kept, clock)
        began = clock()
        spend_before(ledger, understood)
        agent = Agent(self.bus, query, ledger, version, seen, understood.analysis, understood.plan)
        analysed = clock()
        gathered = await agent.gather()
        retrieved = clock()
        ledger.milliseconds = limit.milliseconds
        response = await asyncio.to_thread(
            envelope, query, gathered, ledger, self._count, trace_id()
        )
        trace = agentic_trace(
            query,
            gathered,
            response,
            analysis_ms=understood.milliseconds + analysed - began,
            retrieve_ms=retrieved - analysed,
            render_ms=clock() - retrieved,
        )
        return Answered(response, _recorded(response, seen), trace, not gathered.unfinished)

    async def seen(self, query: PlanQuery) -> frozenset[Key]:
        """What the run that this one continues, and those before it, gave as evidence."""
        run_id = query.request.continue_
        if run_id is None:
            return frozenset()
        run = await self._run(query, run_id)
        if run is None or run.key_id != query.key_id:
            raise CallerFault(Code.NOT_FOUND, "the run to continue does not exist", 404)
        pairs = [pair for step in run.steps for pair in step.get("outputs", {}).get(EVIDENCE, [])]
        return frozenset((pair[0], pair[1]) for pair in pairs if len(pair) == 2)

    def _count(self, texts: Sequence[str]) -> list[int]:
        """Model tokens; without the model's package, one for every two bytes, which is more."""
        try:
            return self.count(texts)
        except ModelUnavailable:
            return [len(text.encode()) // 2 + 1 for text in texts]

    async def _run(self, query: PlanQuery, run_id: str) -> RunRecord | None:
        """The run; one that just ended may not be stored yet."""
        end = time.monotonic() + min(_RECORDED_WITHIN, query.request.budget.milliseconds / 2000)
        while True:
            run = await self.runs.get(query.namespace, run_id)
            if run is not None or time.monotonic() >= end:
                return run
            await asyncio.sleep(_LOOK_AGAIN)


def agentic_mode(bus: Bus, runs: RunStore, models: Path) -> AgenticMode:
    """The mode with the tokeniser of the packaged embedder, which is kept in `models`."""
    return AgenticMode(bus, runs, TokenCounter(models).count_many)


def spend_before(ledger: Ledger, understood: Understood) -> None:
    """What models and calls cost before the plan began is spent from the same budget."""
    left = ledger.left
    cost = Cost(min(understood.tokens, left.tokens), min(understood.calls, left.calls))
    held = ledger.reserve("before", cost, evidence=True)
    if held is not None:
        ledger.settle(held, cost)


def _recorded(response: SearchResponse, seen: frozenset[Key]) -> list[RunStep]:
    """The receipt's steps, and what was given as evidence so far: ids alone."""
    steps = [
        RunStep(
            kind=str(step.get("kind", "skipped")),
            inputs={"step_id": step["step_id"]},
            outputs={k: step[k] for k in ("calls", "unfinished", "unopened") if k in step},
            latency_ms=step.get("milliseconds", 0.0),
            tokens=step.get("tokens", 0),
        )
        for step in response.budget.steps
    ]
    steps[-1].outputs[EVIDENCE] = given(response, seen)
    return steps


def agentic_trace(
    query: PlanQuery,
    gathered: Gathered,
    response: SearchResponse,
    *,
    analysis_ms: float,
    retrieve_ms: float,
    render_ms: float,
) -> Trace:
    """The record of an agentic query; milliseconds."""
    request = query.request
    sides = coverage(gathered, response.evidence)
    before = sum(gathered.tried_ms.values())
    looks = gathered.looks or [Look(retrieve_ms=retrieve_ms)]
    first = replace(looks[0], retrieve_ms=max(0.0, looks[0].retrieve_ms - before))
    none = ["unsupported" if gathered.unsupported else "no_evidence"]
    return trace_of(
        request,
        response,
        Planner(
            query_type=response.query_type,
            pipeline="agentic",
            strategy=gathered.plan.shape,
            retrieval_mode="hierarchical" if gathered.navigated else "flat",
            stage_sequence=[*(step.step_id for step in gathered.plan.steps), "open", "render"],
            selected_stage="reduced" if len(looks) > 1 else gathered.stage,
            selected_top_k=request.top_k,
            retrieval_budget=request.budget.model_dump(),
            comparison_coverage=sides,
            stage_latencies_ms=StageLatencies(
                query_analysis_ms=round(analysis_ms, 3), answer_generation_ms=round(render_ms, 3)
            ),
            verifier_retry=len(looks) > 1,
            attempts=[
                *tried(gathered.tried_ms, request.top_k),
                *(
                    Attempt(
                        stage="reduced" if number else gathered.stage,
                        top_k=request.top_k,
                        verified=bool(response.evidence) and not look.lacking,
                        verification_reasons=[f"missing: {need}" for need in look.lacking]
                        if response.evidence
                        else none,
                        retrieve_ms=round(look.retrieve_ms, 3),
                        verify_ms=round(look.verify_ms, 3),
                    )
                    for number, look in enumerate([first, *looks[1:]])
                ),
            ],
            readable_summary=_told(gathered, response, request.top_k),
        ),
    )


def _told(gathered: Gathered, response: SearchResponse, top_k: int) -> str:
    """The run in a few sentences, for somebody who sees nothing else."""
    reached = len(gathered.bridge.via)
    said = [
        f"Planned as {gathered.plan.shape}: {gathered.plan.reason}.",
        f"{reached} pieces were reached over names, sections or related documents.",
    ]
    if gathered.relaxed_filters:
        said.append(f"Given up, since it left nothing: {given_up(gathered.relaxed_filters)}.")
    if len(gathered.looks) > 1:
        said.append("A second search by name followed, since the best pieces lacked some.")
    if gathered.unsupported:
        said.append("What was found has nothing to do with the query, so nothing is given.")
    given = f"{len(response.evidence)} of at most {top_k} pieces are given"
    return " ".join([*said, f"{given}, {len(response.outline)} stay unopened."])
