"""What the indexer does with what it hears."""

from libs.contracts.events import DocumentChunked, DocumentPublished, ErasureRequested
from libs.runtime.corpus import write_document_file
from libs.runtime.work import Work
from services.indexer.collect import collect
from services.indexer.deps import Deps
from services.indexer.embed import embed_published
from services.indexer.erase import erase
from services.indexer.promote import sweep_attempts
from services.indexer.publish import publish


async def on_chunked(deps: Deps, event: DocumentChunked, work: Work) -> None:
    """Publish a revision: staged everywhere, proved, flipped to once, said to be there; the
    document's file follows."""
    async with deps.room.taken(event.artefacts["chunks.json"].size, work):
        published = await publish(deps, event, work)
    await deps.bus.announce(published)
    await write_document_file(
        deps.stores.catalog, deps.stores.objects, event.namespace, event.document_id
    )


async def on_published(deps: Deps, event: DocumentPublished, work: Work) -> None:
    """Clear away what the flip left behind, then give the revision its dense channel."""
    namespace, document_id = event.namespace, event.document_id
    await sweep_attempts(deps.stores.objects, namespace, document_id, event.revision)
    if event.revision > 1:
        await collect(deps, namespace, document_id)
        await write_document_file(deps.stores.catalog, deps.stores.objects, namespace, document_id)
    embedded = await embed_published(deps, event, work)
    if embedded is not None:
        await deps.bus.announce(embedded)


async def on_erasure_requested(deps: Deps, event: ErasureRequested, work: Work) -> None:
    """Erase a hidden document everywhere."""
    await deps.bus.announce(await erase(deps, event, work))
