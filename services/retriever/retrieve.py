"""Classic retrieval: scope, channels, fusion, hydration, over one corpus version."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass

from libs.contracts.api.search import (
    RetrieveAnswer,
    RetrievedChunk,
    RetrieveQuery,
    SearchFilters,
)
from libs.contracts.faults import WorldFault
from libs.contracts.query.stages import Stage
from libs.runtime.catalog.documents import ActiveSet
from libs.runtime.catalog.port import Catalog
from libs.runtime.gate import Gate
from libs.runtime.index.port import (
    MAX_QUERY_TERMS,
    MAX_QUERY_TOKENS,
    LexicalQuery,
    Scope,
    SearchIndex,
)
from libs.runtime.inference.errors import ModelUnavailable
from libs.runtime.inference.port import Embedder
from libs.runtime.telemetry import logger
from services.retriever.assemble import assemble, grouped
from services.retriever.basis import Bases, Basis
from services.retriever.channels import Ask, Key
from services.retriever.deadline import Deadline, deadline
from services.retriever.fusion import Fused
from services.retriever.guidance import (
    NAMED_LIMIT,
    Guidance,
    attempts,
    documents_first,
    narrowed,
    raised,
    required_only,
)
from services.retriever.scope import Corpus, corpus_of
from services.retriever.settings import Settings
from services.retriever.similarity import calibration_of, is_calibrated

log = logger("retriever")

Limits = Callable[[str, Iterable[str], str], Awaitable[Mapping[str, float]]]
"""The most that the dense channel of a model may count, by collection of a namespace."""


async def unlimited(_namespace: str, _collections: Iterable[str], _model: str) -> dict[str, float]:
    """No limits: nothing was calibrated."""
    return {}


CONSISTENT_TRIES = 4
DEEPEST = 12_800
LIMITS_SECONDS = 1.0
IN_HAND = 1024
"""More than the retriever's own gate lets wait, so that it is the gate that refuses."""


@dataclass
class Retriever:
    """Answers retrieval steps; keeps the active set of a namespace while its version holds.

    So many searches run at once as the settings say, so many more wait in a short queue,
    and one beyond them is refused with `WorldFault(OVERLOADED)`.
    """

    catalog: Catalog
    index: SearchIndex
    embedder: Embedder | None
    settings: Settings
    analyse: Callable[[str], LexicalQuery]
    limits: Limits = unlimited

    def __post_init__(self) -> None:
        self._corpora: dict[str, Corpus] = {}
        s = self.settings
        self.bases = Bases(self.index, self.embedder, s)
        self.gate = Gate("the retriever", s.retriever_searches, s.retriever_queue)

    def use(self, embedder: Embedder | None) -> None:
        """Answer by this embedder from the next query on; those under way keep theirs."""
        self.embedder = embedder
        self.bases = Bases(self.index, embedder, self.settings)
        self._corpora = {}

    async def warm_up(self) -> None:
        """Load stemmer, model and vectors, so that the first query does not wait for them."""
        await asyncio.to_thread(self.analyse, "words")
        if self.embedder is None:
            return
        try:
            vector = await self.embedder.embed_query("")
        except ModelUnavailable as error:
            log.warning("dense channel off", reason=str(error))
            return
        for namespace in await self.catalog.keys.list_namespaces():
            scope = Scope(namespace, (await self.corpus(namespace)).revns)
            if scope.revns:
                await self.index.search_vectors(self.embedder.model, vector, scope, 1)

    async def retrieve(self, query: RetrieveQuery) -> RetrieveAnswer:
        """The best chunks for the query, all of one corpus version.

        When its time ends before it has a place, or before the corpus is known, the answer
        is empty, with the corpus version 0, and names `scope` as unfinished.
        """
        limit = deadline(query.milliseconds)
        try:
            async with self.gate.enter(limit.end):
                return await self._consistent(query, limit)
        except TimeoutError:
            return RetrieveAnswer(
                corpus_version=0, strategy="fusion", chunks=[], unfinished=["scope"]
            )

    async def _consistent(self, query: RetrieveQuery, limit: Deadline) -> RetrieveAnswer:
        """A publish during the query may collect what it was reading, so the query is
        repeated, while there is time, when the version moved."""
        for _ in range(CONSISTENT_TRIES):
            async with asyncio.timeout_at(limit.end):
                corpus = await self.corpus(query.namespace)
            answer = await self._attempted(query, corpus, limit)
            if limit.over:
                break
            version = await self.catalog.documents.corpus_version(query.namespace)
            if version == corpus.version:
                break
        return answer

    async def corpus(self, namespace: str) -> Corpus:
        """What is active, as of the current corpus version."""
        version = await self.catalog.documents.corpus_version(namespace)
        known = self._corpora.get(namespace)
        model = self.embedder.model if self.embedder else None
        if known is None or known.version != version or known.model != model:
            active = await self.catalog.documents.active_set(namespace)
            known = corpus_of(active, model, await self._most_dense(namespace, active, model))
            self._corpora[namespace] = known
        return known

    async def _most_dense(
        self, namespace: str, active: ActiveSet, model: str | None
    ) -> Mapping[str, float]:
        """What limits the dense channel; as it was known before when that cannot be read now."""
        collections = {one.collection for one in active.revisions if one.dense_model == model}
        if model is None or not collections:
            return {}
        try:
            async with asyncio.timeout(LIMITS_SECONDS):
                return await self.limits(namespace, collections, model)
        except (WorldFault, TimeoutError):
            log.warning("calibrations cannot be read", namespace=namespace)
            known = self._corpora.get(namespace)
            return known.most_dense if known is not None and known.model == model else {}

    def ask(self, namespace: str, text: str, filters: SearchFilters, guidance: Guidance) -> Ask:
        """What the channels are asked for a text, by what guides it."""
        words = self.analyse(text)
        return Ask(
            namespace,
            text,
            LexicalQuery(list(guidance.words) or words.tokens, words.terms),
            frozenset(filters.chunk_types) or None,
            guidance.looked_for(named=self.settings.retriever_boost_named > 0),
            NAMED_LIMIT,
            guidance.wider,
        )

    def scores(self, basis: Basis, corpus: Corpus, guidance: Guidance) -> dict[Key, Fused]:
        """The scores of classic search, boosts included."""
        s = self.settings
        return raised(
            basis.fused,
            basis.found,
            corpus,
            guidance,
            named_weight=s.retriever_boost_named,
            soft_weight=s.retriever_boost_soft,
        )

    def _similar(self, basis: Basis) -> Callable[[Key], float | None]:
        """A chunk's similarity to the query, as far as the dense channel found it: of an
        embedder that nobody calibrated it would say nothing."""
        model = self.embedder.model if self.embedder else ""
        scale = calibration_of(model).passages
        cosines = basis.cosines if is_calibrated(model) else {}

        def similar(key: Key) -> float | None:
            return scale.similarity(cosines[key]) if key in cosines else None

        return similar

    async def _attempted(
        self, query: RetrieveQuery, corpus: Corpus, limit: Deadline
    ) -> RetrieveAnswer:
        """The first attempt that leaves something, or ends the time; else the last."""
        own = self.analyse(query.query).tokens
        tried: dict[Stage, float] = {}
        for guidance in attempts(query.analysis, strict=query.strict, own=own):
            began = time.perf_counter()
            answer = await self._retrieve(query, corpus, limit, guidance)
            if answer.chunks or answer.unfinished or not corpus.revisions:
                break
            tried[guidance.stage] = round(1000 * (time.perf_counter() - began), 3)
        tried.pop(guidance.stage, None)
        return answer.model_copy(update={"stage": guidance.stage, "tried_ms": tried})

    async def _retrieve(
        self, query: RetrieveQuery, whole: Corpus, limit: Deadline, guidance: Guidance
    ) -> RetrieveAnswer:
        started = time.perf_counter()
        settings = self.settings
        corpus = narrowed(whole.within(query.filters), guidance.filters)
        if not corpus.revisions:
            strategy = "empty" if whole.revisions else "nothing_published"
            return RetrieveAnswer(corpus_version=whole.version, strategy=strategy, chunks=[])
        ask = self.ask(query.namespace, query.query, query.filters, guidance)
        depth = settings.retriever_depth
        small = corpus.chunk_count <= (query.top_k if query.whole is None else query.whole)
        while True:
            basis = await self.bases.find(ask, corpus, depth, limit)
            searched = time.perf_counter()
            found, chunk_ids = basis.found, basis.found.chunk_ids
            fused = self.scores(basis, corpus, guidance)
            chunks: list[RetrievedChunk] = []
            unfinished = list(found.unfinished)
            try:
                async with asyncio.timeout_at(limit.end):
                    if small:
                        rest = await self._rest(fused, corpus, query.top_k)
                        chunk_ids = {**rest, **chunk_ids}
                        fused = {**fused, **dict.fromkeys(rest, Fused(0.0, {}))}
                    kept = required_only(fused, found, guidance)
                    kept = documents_first(kept) if guidance.browse else kept
                    groups = grouped(kept, chunk_ids)
                    similar = self._similar(basis)
                    if not await assemble(
                        self.catalog.chunks, query, corpus, groups, kept, similar, chunks
                    ):
                        unfinished.append("size")
            except TimeoutError:
                unfinished.append("assembly")
            full = any(len(hits) >= depth for hits in found.lists.values())
            if len(chunks) >= query.top_k or unfinished or not full or depth >= DEEPEST:
                break
            if guidance.required:
                break
            depth *= 4
        ended = time.perf_counter()
        return RetrieveAnswer(
            corpus_version=corpus.version,
            strategy="small_corpus" if small else "fusion",
            chunks=chunks,
            timings_ms={
                "search": 1000 * (searched - started),
                "assemble": 1000 * (ended - searched),
            },
            unfinished=unfinished,
            notes=_notes(ask.words),
            relaxed_filters=list(guidance.relaxed),
            searched=corpus.chunk_count,
        )

    async def _rest(self, fused: dict[Key, Fused], corpus: Corpus, limit: int) -> dict[Key, str]:
        """The small-corpus path: chunk ids that no channel found, to come after those."""
        whole = await self.catalog.chunks.whole(list(corpus.by_revn), limit)
        ids = {(revn, chunk.order): chunk.chunk_id for revn, chunk in whole}
        return {key: chunk_id for key, chunk_id in ids.items() if key not in fused}


def _notes(words: LexicalQuery) -> list[str]:
    """What of a very long query the lexical channels leave out."""
    notes = []
    for name, given, most in (
        ("words", len(set(words.tokens)), MAX_QUERY_TOKENS),
        ("terms", len(set(words.terms)), MAX_QUERY_TERMS),
    ):
        if given > most:
            notes.append(f"the query has {given} different {name}: the {most} rarest were searched")
    return notes
