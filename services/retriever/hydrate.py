"""From hits to chunks that can be cited."""

from collections.abc import Iterable
from urllib.parse import quote

from libs.contracts.api.search import Asset, OtherPlace, RetrievedChunk
from libs.contracts.artefacts import Chunk
from libs.runtime.catalog.chunks import ChunkStore
from libs.runtime.catalog.documents import ActiveRevision
from services.retriever.fusion import Fused


def asset_href(namespace: str, revision: ActiveRevision, file_path: str) -> str:
    """Where the gateway serves an asset of this very revision."""
    path = quote(file_path.removeprefix("assets/"))
    return (
        f"/v1/namespaces/{namespace}/documents/{revision.document_id}"
        f"/assets/{path}?revision={revision.revision}"
    )


def other_place(revision: ActiveRevision, chunk: Chunk) -> OtherPlace:
    """The same content elsewhere."""
    return OtherPlace(
        document_id=revision.document_id,
        revision=revision.revision,
        source_file_name=revision.file_name,
        section_path=chunk.path,
    )


Targets = dict[tuple[int, str], Chunk]


async def targets_of(store: ChunkStore, chunks: Iterable[tuple[ActiveRevision, Chunk]]) -> Targets:
    """What stands inside these chunks, by (revn, chunk id), in one read."""
    keys = {
        (revision.revn, link.target)
        for revision, chunk in chunks
        for link in chunk.metadata.connect_to
        if link.relation == "embeds"
    }
    return await store.named(sorted(keys)) if keys else {}


def embedded_assets(
    namespace: str, revision: ActiveRevision, chunk: Chunk, targets: Targets
) -> list[Asset]:
    """The images and tables that stand inside a text chunk, in order of position."""
    assets = []
    for link in chunk.metadata.connect_to:
        target = targets.get((revision.revn, link.target))
        if link.relation != "embeds" or target is None or target.type == "text":
            continue
        path = target.metadata.file_path
        assets.append(
            Asset(
                chunk_id=target.chunk_id,
                type=target.type,
                href=asset_href(namespace, revision, path) if path else None,
                media_type=target.metadata.media_type,
                html=target.metadata.html,
                position=link.position,
            )
        )
    return sorted(assets, key=lambda a: a.position)


def retrieved(
    namespace: str,
    revision: ActiveRevision,
    chunk: Chunk,
    fused: Fused,
    embeds: list[Asset],
    also_in: list[OtherPlace],
    similarity: float | None = None,
) -> RetrievedChunk:
    """The chunk as evidence needs it."""
    meta = chunk.metadata
    return RetrievedChunk(
        document_id=revision.document_id,
        revision=revision.revision,
        file_name=revision.file_name,
        chunk_id=chunk.chunk_id,
        type=chunk.type,
        content=chunk.content,
        path=chunk.path,
        order=chunk.order,
        page_numbers=meta.page_numbers,
        boxes=meta.boxes,
        content_hash=meta.content_hash,
        html=meta.html,
        file_path=asset_href(namespace, revision, meta.file_path) if meta.file_path else None,
        media_type=meta.media_type,
        embeds=embeds,
        also_in=also_in,
        score=fused.score,
        channels=fused.parts,
        similarity=similarity,
        summary=meta.summary,
    )
