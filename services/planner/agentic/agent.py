"""Runs a plan: steps under one budget, each a request to the retriever."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel

from libs.contracts.api.search import (
    PlanQuery,
    RetrieveAnswer,
    RetrievedChunk,
    RetrieveQuery,
)
from libs.contracts.artefacts.chunk import base_id
from libs.contracts.bus import Subject
from libs.contracts.query.analysis import HardFilters, QueryAnalysis
from libs.contracts.query.navigate import NavigateAnswer, NavigateQuery
from libs.contracts.query.plan import PlanStep, RetrievalPlan
from libs.contracts.query.probe import (
    MAX_EQUAL,
    ChunkRef,
    CitedRef,
    HydrateAnswer,
    HydrateQuery,
    Mention,
    ProbeAnswer,
    ProbeQuery,
)
from libs.contracts.query.text import MAX_QUERY_CHARS
from libs.contracts.subjects import QUERY_HYDRATE, QUERY_NAVIGATE, QUERY_PROBE, QUERY_RETRIEVE
from libs.runtime.bus import Bus
from services.planner.agentic.bridge import CANDIDATES, SEEDS, Bridge, key_of
from services.planner.agentic.budget import Cost, Ledger
from services.planner.agentic.gathered import Gathered, Look, in_order
from services.planner.agentic.rules import plan
from services.planner.answered import RERANK, Key
from services.planner.asking import ask_in_time
from services.planner.verifier import (
    filters_of,
    joined,
    missing,
    needs_of,
    why_unsupported,
)

BREADTH = 10
"""How many chunks beyond `top_k` are looked at, to be listed when they stay unopened."""

R = TypeVar("R", bound=BaseModel)


@dataclass
class Agent:
    """Asks the retriever for one query, as its `analysis` guides it, so that the first search
    is the classic one; chunks that were `seen` come no more; `plan` replaces the rules'."""

    bus: Bus
    query: PlanQuery
    ledger: Ledger
    version: int
    seen: frozenset[Key] = frozenset()
    analysis: QueryAnalysis | None = None
    plan: RetrievalPlan | None = None

    def __post_init__(self) -> None:
        request = self.query.request
        self._wanted = min(100, request.top_k + BREADTH + len(self.seen))
        self._chunks: dict[Key, RetrievedChunk] = {}
        self._out = Gathered(
            self.plan or plan(request.query), self.version, bridge=Bridge(request.query)
        )

    async def gather(self) -> Gathered:
        """Run the plan. What budget or time ends before is named, never waited for."""
        out = self._out
        self._since = time.perf_counter()
        hops = [step for step in out.plan.steps if step.kind == "bridge"]
        searches = [step for step in out.plan.steps if step.kind == "search"]
        await self._first(searches, named=bool(hops))
        if out.unsupported:
            return out
        around = [step for step in out.plan.steps if step.kind in ("navigate", "expand")]
        sections, _ = await asyncio.gather(self._around(around), self._hops(hops))
        if sections is not None:
            seeds, answer = sections
            out.bridge.around(seeds, answer.sections)
            out.sections = [s for s in answer.sections if not s.opened]
            out.navigated = True
        await self._open()
        await self._look_again()
        return out

    async def _first(self, searches: list[PlanStep], *, named: bool) -> None:
        """The searches that wait for nothing, and what the question names, at once."""
        out = self._out
        main, *sides = [self._search(step) for step in searches]
        names = self._named() if named else _nothing()
        answer, begun, beside = await asyncio.gather(main, names, asyncio.gather(*sides))
        if answer is not None:
            out.corpus_version = answer.corpus_version or self.version
            out.strategy, out.notes = answer.strategy, answer.notes
            out.relaxed_filters = answer.relaxed_filters
            out.stage, out.tried_ms = answer.stage, answer.tried_ms
            out.unsupported = why_unsupported(searches[0].query, answer, self.analysis)
            if out.unsupported:
                return
            out.bridge.start(answer.chunks)
        if named and out.relaxed_filters:
            begun = await self._named()
        if begun is not None:
            out.bridge.name(begun.named)
        for found in beside:
            for chunk in (found.chunks if found else [])[: BREADTH // 2]:
                self._chunks.setdefault(key_of(chunk), chunk)
                out.bridge.base.setdefault(key_of(chunk), 0.0)
                out.bridge.scores.setdefault(key_of(chunk), 0.0)
        self._chunks.update({key_of(c): c for c in (answer.chunks if answer else [])})

    async def _search(self, step: PlanStep) -> RetrieveAnswer | None:
        request = self.query.request
        body = RetrieveQuery(
            namespace=self.query.namespace,
            query=step.query,
            top_k=self._wanted,
            whole=request.top_k,
            filters=request.filters,
            explain=request.explain,
            milliseconds=self._time(),
            analysis=self.analysis
            if step.query == request.query
            else filters_of(self.analysis, relaxed=bool(self._out.relaxed_filters)),
        )
        return await self._ask(step.step_id, "search", QUERY_RETRIEVE, body, RetrieveAnswer)

    def _guiding(self) -> QueryAnalysis | None:
        """The analysis without the filters that the first search had to give up."""
        if self.analysis is None or not self._out.relaxed_filters:
            return self.analysis
        return self.analysis.model_copy(update={"hard_filters": HardFilters()})

    async def _named(self) -> ProbeAnswer | None:
        return await self._probe("names", [])

    async def _probe(self, step_id: str, mentions: list[Mention]) -> ProbeAnswer | None:
        body = ProbeQuery(
            namespace=self.query.namespace,
            question=self.query.request.query,
            mentions=mentions,
            limit=CANDIDATES,
            filters=self.query.request.filters,
            milliseconds=self._time(),
            analysis=self._guiding(),
        )
        return await self._ask(step_id, "bridge", QUERY_PROBE, body, ProbeAnswer)

    async def _hops(self, steps: list[PlanStep]) -> None:
        """Hop after hop, while one leads on."""
        for step in steps:
            if not await self._hop(step):
                return

    async def _around(self, steps: list[PlanStep]) -> tuple[list[Key], NavigateAnswer] | None:
        """The sections around the best that the first search found, for words that it leaves
        open, within the bounds of `NavigateQuery`."""
        bridge = self._out.bridge
        seeds = [key for key in bridge.ranked()[:SEEDS] if key in self._chunks]
        texts = (" . ".join([*self._chunks[s].path, self._chunks[s].content]) for s in seeds)
        words = bridge.open_words(texts) if steps and seeds else []
        if not words:
            return None
        body = NavigateQuery(
            namespace=self.query.namespace,
            question=self.query.request.query,
            words=words,
            starts=[ChunkRef(document_id=d, chunk_id=c) for d, c in seeds],
            filters=self.query.request.filters,
            milliseconds=self._time(),
            analysis=self._guiding(),
        )
        step = steps[0].step_id
        answer = await self._ask(step, "navigate", QUERY_NAVIGATE, body, NavigateAnswer)
        return None if answer is None else (seeds, answer)

    async def _hop(self, step: PlanStep) -> bool:
        """One hop; whether it led on."""
        bridge = self._out.bridge
        seeds = bridge.seeds()
        await self._read(step.step_id, [[seed] for seed in seeds])
        asked = [
            (seed, mention)
            for seed in seeds
            if seed in self._chunks
            for mention in bridge.mentions(self._chunks[seed])
        ]
        if not asked:
            return False
        answer = await self._probe(step.step_id, [mention for _, mention in asked])
        if answer is None or len(answer.found) != len(asked):
            return False
        bridge.hop([(seed, m, hits) for (seed, m), hits in zip(asked, answer.found, strict=True)])
        return True

    async def _open(self) -> None:
        """The best chunks as they can be cited; equal ones once, with the places of the others."""
        out = self._out
        equal: dict[str, list[Key]] = {}
        for key in out.bridge.ranked():
            if key not in self.seen:
                equal.setdefault(base_id(key[1]), []).append(key)
        places = [keys[: 1 + MAX_EQUAL] for keys in equal.values()]
        places = places[: self.query.request.top_k + BREADTH]
        await self._read("open", places)
        best = [keys[0] for keys in places]
        out.chunks = [
            self._chunks[key].model_copy(update={"score": out.bridge.scores[key]})
            for key in best
            if key in self._chunks
        ]

    async def _look_again(self) -> None:
        """One search more for what the question needs and none of the best pieces holds; what
        it brings stands behind their better half, as in classic search."""
        out, request = self._out, self.query.request
        needs = needs_of(request.query, self.analysis).all
        lacking = self._looked_at(needs, out.chunks[: request.top_k]) if out.chunks else []
        if not lacking or out.unfinished or out.skipped:
            return
        words = " ".join([*lacking, request.query])[:MAX_QUERY_CHARS]
        again = PlanStep(step_id="again", kind="search", query=words, entities=lacking[:8])
        answer = await self._search(again)
        fresh = [c for c in (answer.chunks if answer else []) if key_of(c) not in self.seen]
        best = in_order(joined(out.chunks[: request.top_k], fresh, lacking, request.top_k))
        known = {key_of(c) for c in best}
        out.chunks = [*best, *(c for c in out.chunks if key_of(c) not in known)]
        self._looked_at(needs, best)

    def _looked_at(self, needs: Sequence[str], best: Sequence[RetrievedChunk]) -> list[str]:
        """What none of the best pieces holds; the look is kept."""
        begun, since = time.perf_counter(), self._since
        lacking = missing(needs, best)
        self._since = time.perf_counter()
        self._out.looks.append(Look(lacking, 1000 * (begun - since), 1000 * (self._since - begun)))
        return lacking

    async def _read(self, step_id: str, places: list[list[Key]]) -> None:
        """Read the first chunk of each of these equal ones, unless it is here with its places."""
        refs = [
            CitedRef(
                document_id=key[0],
                chunk_id=key[1],
                equal=[ChunkRef(document_id=d, chunk_id=c) for d, c in others],
            )
            for key, *others in places
            if key not in self._chunks or (others and not self._chunks[key].also_in)
        ]
        if not refs:
            return
        body = HydrateQuery(
            namespace=self.query.namespace,
            refs=refs,
            filters=self.query.request.filters,
            milliseconds=self._time(),
        )
        answer = await self._ask(step_id, "hydrate", QUERY_HYDRATE, body, HydrateAnswer)
        self._chunks.update({key_of(c): c for c in (answer.chunks if answer else [])})

    def _time(self) -> int:
        return int(self.ledger.time_left)

    async def _ask(
        self, step_id: str, kind: str, subject: Subject, body: BaseModel, reply: type[R]
    ) -> R | None:
        """One request under the budget; None when there was no budget or no answer in time."""
        held = self.ledger.reserve(step_id, Cost(calls=1))
        if held is None:
            self._out.skipped.append(step_id)
            return None
        began = time.perf_counter()
        step: dict[str, Any] = {"step_id": step_id, "kind": kind}
        left = self.ledger.time_left / 1000
        try:
            answer = await ask_in_time(self.bus, subject, body, reply, left)
        finally:
            self.ledger.settle(held, Cost(calls=1))
        late: list[str] = [kind] if answer is None else getattr(answer, "unfinished", [])
        if late:
            step["unfinished"] = late
            self._out.unfinished += [name for name in late if name not in self._out.unfinished]
        ranked = getattr(answer, "timings_ms", {}).get(RERANK)
        step |= {} if ranked is None else {RERANK: round(ranked, 3)}
        step |= {"calls": 1, "milliseconds": round(1000 * (time.perf_counter() - began), 3)}
        self._out.steps.append(step)
        return answer


async def _nothing() -> None:
    return None
