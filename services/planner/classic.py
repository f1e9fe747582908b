"""Classic mode: one search, verified, and the envelope, trace and step of it."""

import asyncio
import time
from dataclasses import dataclass
from typing import Any

from libs.contracts.api.search import (
    PlanQuery,
    Receipt,
    RetrieveAnswer,
    RetrieveQuery,
    SearchResponse,
)
from libs.contracts.events.planner import RunStep
from libs.contracts.query.analysis import QueryAnalysis
from libs.contracts.query.text import MAX_QUERY_CHARS
from libs.contracts.subjects import QUERY_RETRIEVE
from libs.contracts.tokens import new_id
from libs.runtime.bus import Bus
from libs.runtime.telemetry import trace_id
from services.planner.answered import EVIDENCE, Answered, Understood, given
from services.planner.asking import ask_in_time
from services.planner.budgeted import Count, Opened, opened, roughly
from services.planner.outcome import outcome
from services.planner.rendering import evidence_text
from services.planner.traces import classic_trace
from services.planner.verifier import Looked, filters_of, needs_of


@dataclass
class ClassicMode:
    """Answers classic queries through the retriever; `count` counts model tokens."""

    bus: Bus
    count: Count = roughly

    async def answer(
        self, query: PlanQuery, understood: Understood, version: int, started: float
    ) -> Answered:
        """The evidence for a query as it is understood; `started` is `time.perf_counter()` at
        its arrival. A query whose time ends is answered with what was found."""
        request = query.request
        looked = await self._verified(query, understood.analysis, version, started)
        answer = looked.answer
        retrieved = time.perf_counter()
        room = request.budget.tokens - understood.tokens
        found = await asyncio.to_thread(
            opened, answer.chunks, room, self.count, explain=request.explain
        )
        response = self._respond(
            query, looked, found, understood.tokens, retrieve_ms=1000 * (retrieved - started)
        )
        trace = classic_trace(
            request,
            response,
            strategy=answer.strategy,
            analysis_ms=understood.milliseconds,
            attempts=looked.attempts,
            coverage=looked.coverage,
            render_ms=1000 * (time.perf_counter() - retrieved),
            again=looked.again,
            by_meaning=not answer.chunks or any("dense" in c.channels for c in answer.chunks),
        )
        steps = [
            RunStep(
                kind="retrieve",
                inputs={"top_k": request.top_k},
                outputs={
                    "strategy": answer.strategy,
                    "chunks": [c.chunk_id for c in answer.chunks],
                    EVIDENCE: given(response),
                },
                latency_ms=round(1000 * (retrieved - started), 3),
                tokens=found.tokens,
            )
        ]
        return Answered(response, steps, trace, whole=not answer.unfinished)

    async def _verified(
        self, query: PlanQuery, analysis: QueryAnalysis | None, version: int, started: float
    ) -> Looked:
        """What was found, with a second look for what the question needs and nothing holds."""
        needs = needs_of(query.request.query, analysis)
        looked = Looked(needs, query.request.top_k, query.request.query, analysis)
        begun = time.perf_counter()
        first = await self._retrieve(query, analysis, version, started)
        looked.saw(first, 1000 * (time.perf_counter() - begun))
        if looked.lacking and not first.unfinished:
            again = " ".join([*looked.lacking, query.request.query])
            request = query.request.model_copy(update={"query": again[:MAX_QUERY_CHARS]})
            begun = time.perf_counter()
            kept = filters_of(analysis, relaxed=bool(first.relaxed_filters))
            second = await self._retrieve(
                query.model_copy(update={"request": request}), kept, version, started
            )
            looked.saw_again(second, 1000 * (time.perf_counter() - begun))
        return looked

    async def _retrieve(
        self, query: PlanQuery, analysis: QueryAnalysis | None, version: int, started: float
    ) -> RetrieveAnswer:
        """What the retriever found in the time that is left, nothing when it does not answer."""
        request = query.request
        spent = 1000 * (time.perf_counter() - started)
        left = max(0, round(request.budget.milliseconds - spent))
        step = RetrieveQuery(
            namespace=query.namespace,
            query=request.query,
            top_k=request.top_k,
            filters=request.filters,
            explain=request.explain,
            milliseconds=left,
            analysis=analysis,
        )
        answer = await ask_in_time(self.bus, QUERY_RETRIEVE, step, RetrieveAnswer, left / 1000)
        if answer is None:
            answer = RetrieveAnswer(
                corpus_version=version, strategy="fusion", chunks=[], unfinished=["scope"]
            )
        if answer.corpus_version == 0 and answer.unfinished:
            return answer.model_copy(update={"corpus_version": version})
        return answer

    def _respond(
        self, query: PlanQuery, looked: Looked, found: Opened, tokens: int, *, retrieve_ms: float
    ) -> SearchResponse:
        request, answer, evidence = query.request, looked.answer, found.evidence
        status = outcome(answer, looked.unsupported, len(found.outline))
        step: dict[str, Any] = {
            "kind": "retrieve",
            "strategy": answer.strategy,
            **answer.timings_ms,
            "tokens": found.tokens,
            "unopened": len(found.outline),
        }
        if answer.relaxed_filters:
            step["relaxed_filters"] = answer.relaxed_filters
        if answer.unfinished:
            step["unfinished"] = answer.unfinished
        if request.explain and answer.notes:
            step["notes"] = answer.notes
        return SearchResponse(
            status=status.status,
            status_reason=status.reason or looked.reason,
            query_type=looked.query_type(status.status),
            claim_count=len(evidence),
            relaxed_filters=answer.relaxed_filters,
            evidence_text=evidence_text(evidence),
            run_id=new_id("run"),
            trace_id=trace_id(),
            corpus_version=answer.corpus_version,
            evidence=evidence,
            outline=found.outline,
            budget=Receipt(
                limit=request.budget.model_dump(),
                spent={"milliseconds": round(retrieve_ms), "tokens": tokens + found.tokens},
                steps=[step],
                stop_reason=status.stop_reason,
            ),
        )
