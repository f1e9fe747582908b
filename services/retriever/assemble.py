"""From fused ranks to the first chunks that may be cited, a few reads at a time."""

from collections.abc import Callable, Iterator

from libs.contracts.api.search import RetrievedChunk, RetrieveQuery
from libs.contracts.artefacts import Chunk
from libs.contracts.artefacts.chunk import base_id, canonical_text
from libs.runtime.catalog.chunks import ChunkStore
from libs.runtime.catalog.documents import ActiveRevision
from services.retriever.channels import Key
from services.retriever.fusion import Fused
from services.retriever.hydrate import Targets, embedded_assets, other_place, retrieved, targets_of
from services.retriever.scope import Corpus, is_allowed

PLACES = 8
"""Equal chunks are cited once, with at most so many places in all."""

MAX_BYTES = 300_000
"""Content and tables of one answer, which travels in one message of the bus and repeats its
content as text: NATS carries 1 MiB."""

_LEAST_READ = 8

Place = tuple[ActiveRevision, Chunk, Fused]


def grouped(fused: dict[Key, Fused], chunk_ids: dict[Key, str]) -> list[list[Key]]:
    """Keys best first, those of equal content together at the place of the best of them."""
    places: dict[str, list[Key]] = {}
    for _, key in sorted((-one.score, key) for key, one in fused.items()):
        places.setdefault(base_id(chunk_ids[key]), []).append(key)
    return [keys[:PLACES] for keys in places.values()]


async def assemble(
    store: ChunkStore,
    query: RetrieveQuery,
    corpus: Corpus,
    groups: list[list[Key]],
    fused: dict[Key, Fused],
    similar: Callable[[Key], float | None],
    result: list[RetrievedChunk],
) -> bool:
    """Fill `result` up to `top_k`, best first; False when `MAX_BYTES` ended it before.

    `similar` gives a chunk's similarity to the query. What is in `result` stays when this is
    cancelled.
    """
    start = size = 0
    while len(result) < query.top_k and start < len(groups):
        batch = groups[start : start + max(_LEAST_READ, query.top_k - len(result))]
        start += len(batch)
        chunks = await store.fetch([key for keys in batch for key in keys])
        kept = list(_kept(query, corpus, batch, chunks, fused))[: query.top_k - len(result)]
        targets = await targets_of(store, (places[0][:2] for places in kept))
        for places in kept:
            cited = _cited(query.namespace, places, targets, similar)
            size += size_of(cited)
            if result and size > MAX_BYTES:
                return False
            result.append(cited)
    return True


def _kept(
    query: RetrieveQuery,
    corpus: Corpus,
    batch: list[list[Key]],
    chunks: dict[Key, Chunk],
    fused: dict[Key, Fused],
) -> Iterator[list[Place]]:
    """The places of each group that the filters leave, where there are any."""
    for keys in batch:
        kept = [
            (corpus.by_revn[key[0]], chunk, fused[key])
            for key in keys
            if (chunk := chunks.get(key)) is not None
            and (chunk.type != "text" or canonical_text(chunk.content))
            and is_allowed(corpus.by_revn[key[0]].document_id, chunk, query.filters)
        ]
        if kept:
            yield kept


def size_of(cited: RetrievedChunk) -> int:
    """Bytes of its content and of the tables it brings, as `MAX_BYTES` counts them."""
    tables = [cited.html, *(asset.html for asset in cited.embeds)]
    return len(cited.content.encode()) + sum(len(html.encode()) for html in tables if html)


def _cited(
    namespace: str,
    places: list[Place],
    targets: Targets,
    similar: Callable[[Key], float | None],
) -> RetrievedChunk:
    revision, chunk, fused = places[0]
    embeds = embedded_assets(namespace, revision, chunk, targets)
    others = [other_place(r, c) for r, c, _ in places[1:]]
    similarity = similar((revision.revn, chunk.order))
    return retrieved(namespace, revision, chunk, fused, embeds, others, similarity)
