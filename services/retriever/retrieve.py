"""Classic retrieval: scope, channels, fusion, hydration, over one corpus version."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from libs.contracts.api.search import OtherPlace, RetrieveAnswer, RetrievedChunk, RetrieveQuery
from libs.contracts.artefacts import Chunk
from libs.contracts.artefacts.chunk import canonical_text
from libs.runtime.catalog.documents import ActiveRevision, ActiveSet
from libs.runtime.catalog.port import Catalog
from libs.runtime.index.port import LexicalQuery, Scope, SearchIndex
from libs.runtime.inference.errors import ModelUnavailable
from libs.runtime.inference.port import Embedder
from libs.runtime.telemetry import logger
from services.retriever.channels import Found, Key, search_channels
from services.retriever.fusion import Fused, convex, reciprocal_rank
from services.retriever.hydrate import embedded_assets, other_place, retrieved
from services.retriever.scope import base_id, in_scope, is_excluded
from services.retriever.settings import Settings

log = logger("retriever")

CONSISTENT_TRIES = 4
DEEPEST = 12_800


@dataclass
class Retriever:
    """Answers retrieval steps; keeps the active set of a namespace while its version holds."""

    catalog: Catalog
    index: SearchIndex
    embedder: Embedder | None
    settings: Settings
    analyse: Callable[[str], LexicalQuery]

    def __post_init__(self) -> None:
        self._active: dict[str, ActiveSet] = {}

    async def warm_up(self) -> None:
        """Load the model and the vectors, so that the first query does not wait for them."""
        if self.embedder is None:
            return
        try:
            vector = await self.embedder.embed_query("")
        except ModelUnavailable as error:
            log.warning("dense channel off", reason=str(error))
            return
        for namespace in await self.catalog.keys.list_namespaces():
            active = await self._active_set(namespace)
            scope = Scope(namespace, frozenset(r.revn for r in active.revisions))
            if scope.revns:
                await self.index.search_vectors(self.embedder.model, vector, scope, 1)

    async def retrieve(self, query: RetrieveQuery) -> RetrieveAnswer:
        """The best chunks for the query, all of one corpus version.

        A publish during the query may collect what it was reading, so the query is
        repeated when the version moved.
        """
        for _ in range(CONSISTENT_TRIES):
            active = await self._active_set(query.namespace)
            answer = await self._retrieve(query, active)
            if (
                await self.catalog.documents.corpus_version(query.namespace)
                == active.corpus_version
            ):
                break
        return answer

    async def _active_set(self, namespace: str) -> ActiveSet:
        version = await self.catalog.documents.corpus_version(namespace)
        known = self._active.get(namespace)
        if known is None or known.corpus_version != version:
            known = await self.catalog.documents.active_set(namespace)
            self._active[namespace] = known
        return known

    async def _retrieve(self, query: RetrieveQuery, active: ActiveSet) -> RetrieveAnswer:
        started = time.perf_counter()
        revisions = in_scope(active.revisions, query.filters)
        if not revisions:
            strategy = "empty" if active.revisions else "nothing_published"
            return RetrieveAnswer(
                corpus_version=active.corpus_version, strategy=strategy, chunks=[]
            )
        depth = self.settings.retriever_depth
        small = sum(r.chunk_count for r in revisions) <= query.top_k
        while True:
            found = await self._search(query, revisions, depth)
            searched = time.perf_counter()
            fused = self._fuse(found, revisions)
            if small:
                await self._add_all(found, fused, revisions, query.top_k)
            chunks = await self._assemble(query, revisions, found, fused)
            full = any(len(hits) >= depth for hits in found.lists.values())
            if len(chunks) >= query.top_k or not full or depth >= DEEPEST:
                break
            depth *= 4
        ended = time.perf_counter()
        return RetrieveAnswer(
            corpus_version=active.corpus_version,
            strategy="small_corpus" if small else "fusion",
            chunks=chunks,
            timings_ms={
                "search": 1000 * (searched - started),
                "assemble": 1000 * (ended - searched),
            },
        )

    async def _search(
        self, query: RetrieveQuery, revisions: list[ActiveRevision], depth: int
    ) -> Found:
        types = frozenset(query.filters.chunk_types) or None
        scope = Scope(query.namespace, frozenset(r.revn for r in revisions), types)
        lexical = self.analyse(query.query)
        return await search_channels(
            self.index, self.embedder, query.query, lexical, scope, revisions, depth
        )

    def _fuse(self, found: Found, revisions: list[ActiveRevision]) -> dict[Key, Fused]:
        s = self.settings
        dense = found.lists.get("dense", [])
        if not dense or s.retriever_mix_dense == 0:
            weights = {
                "path": s.retriever_weight_path,
                "content": s.retriever_weight_content,
                "term": s.retriever_weight_term,
            }
            lists = {name: found.lists.get(name, []) for name in weights}
            return reciprocal_rank(lists, weights, s.retriever_rrf_k)
        model = self.embedder.model if self.embedder else None
        covered = {r.revn: r.dense_model == model for r in revisions}
        return convex(
            found.lists["content"],
            dense,
            share=s.retriever_mix_dense,
            covered={key: covered[key[0]] for key in found.chunk_ids},
            extra={
                "path": (found.lists["path"], s.retriever_mix_path),
                "term": (found.lists["term"], s.retriever_mix_term),
            },
        )

    async def _add_all(
        self, found: Found, fused: dict[Key, Fused], revisions: list[ActiveRevision], limit: int
    ) -> None:
        """The small-corpus path: what no channel found comes after what some did."""
        for revn, chunk in await self.catalog.chunks.whole([r.revn for r in revisions], limit):
            key = (revn, chunk.order)
            if key not in fused:
                fused[key] = Fused(0.0, {})
                found.chunk_ids[key] = chunk.chunk_id

    async def _assemble(
        self,
        query: RetrieveQuery,
        revisions: list[ActiveRevision],
        found: Found,
        fused: dict[Key, Fused],
    ) -> list[RetrievedChunk]:
        by_revn = {r.revn: r for r in revisions}
        ranked = sorted(fused, key=lambda key: (-fused[key].score, key))
        places: dict[str, list[Key]] = {}
        for key in ranked:
            places.setdefault(base_id(found.chunk_ids[key]), []).append(key)
        types, sections = set(query.filters.chunk_types), query.filters.exclude_sections
        result: list[RetrievedChunk] = []
        groups = list(places.values())
        step = query.top_k * 2
        for start in range(0, len(groups), step):
            batch = groups[start : start + step]
            chunks = await self.catalog.chunks.fetch([key for keys in batch for key in keys[:8]])
            for keys in batch:
                kept = [
                    (by_revn[key[0]], chunk, fused[key])
                    for key in keys[:8]
                    if (chunk := chunks.get(key)) is not None
                    and (not types or chunk.type in types)
                    and (chunk.type != "text" or canonical_text(chunk.content))
                    and not is_excluded(by_revn[key[0]].document_id, chunk, sections)
                ]
                if kept:
                    result.append(await self._cite(query, kept))
                if len(result) == query.top_k:
                    return result
        return result

    async def _cite(
        self, query: RetrieveQuery, places: list[tuple[ActiveRevision, Chunk, Fused]]
    ) -> RetrievedChunk:
        revision, chunk, fused = places[0]
        embeds = await embedded_assets(self.catalog.chunks, query.namespace, revision, chunk)
        others: list[OtherPlace] = [other_place(r, c) for r, c, _ in places[1:]]
        return retrieved(query.namespace, revision, chunk, fused, embeds, others)
