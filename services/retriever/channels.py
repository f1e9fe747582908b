"""Runs the channels of one query over the index, within a scope."""

import asyncio
from dataclasses import dataclass, field

from libs.runtime.catalog.documents import ActiveRevision
from libs.runtime.index.port import Hit, LexicalChannel, LexicalQuery, Scope, SearchIndex
from libs.runtime.inference.errors import ModelUnavailable
from libs.runtime.inference.port import Embedder
from libs.runtime.telemetry import logger

Key = tuple[int, int]
log = logger("retriever")

CHANNELS: tuple[LexicalChannel, ...] = ("content", "path", "term")


@dataclass
class Found:
    """Ranked lists of (revn, order) with the channel's own scores, and each key's chunk id."""

    lists: dict[str, list[tuple[Key, float]]] = field(default_factory=dict)
    chunk_ids: dict[Key, str] = field(default_factory=dict)

    def add(self, channel: str, hits: list[Hit]) -> None:
        """Remember a channel's hits."""
        self.lists[channel] = [((h.revn, h.order), h.score) for h in hits]
        self.chunk_ids.update({(h.revn, h.order): h.chunk_id for h in hits})


async def search_channels(
    index: SearchIndex,
    embedder: Embedder | None,
    text: str,
    query: LexicalQuery,
    scope: Scope,
    revisions: list[ActiveRevision],
    depth: int,
) -> Found:
    """All channels at once; the dense one only over revisions whose vectors are complete.

    Without its model the dense channel is empty and the lexical ones answer alone.
    """
    found = Found()
    dense = frozenset(r.revn for r in revisions if embedder and r.dense_model == embedder.model)

    async def lexical(channel: LexicalChannel) -> None:
        found.add(channel, await index.search(channel, query, scope, depth))

    async def by_vector() -> None:
        if embedder is None or not dense:
            return
        try:
            vector = await embedder.embed_query(text)
        except ModelUnavailable as error:
            log.warning("dense channel off", reason=str(error))
            return
        covered = Scope(scope.namespace, dense, scope.chunk_types)
        found.add("dense", await index.search_vectors(embedder.model, vector, covered, depth))

    await asyncio.gather(*(lexical(c) for c in CHANNELS), by_vector())
    return found
