"""Having published entries described by models: costed first, then a job of its own."""

import orjson

from libs.contracts.api.documents import Accepted
from libs.contracts.api.ingest import IngestOptions
from libs.contracts.entries import EnrichStep, RecordRules, records_document
from libs.runtime.artefacts import load_chunks
from libs.runtime.catalog.documents import RevisionRecord
from services.gateway.admission import Arrival, accept
from services.gateway.deps import Deps
from services.gateway.staging import new_upload_id, staging_key

JSON_LINES = "application/x-ndjson"


async def ids_of(deps: Deps, revision: RevisionRecord) -> list[str]:
    """The ids of the entries of a revision, in order."""
    chunks = await load_chunks(deps.stores.objects, revision.artefacts["chunks.json"])
    return [c.metadata.entry.id for c in chunks if c.metadata.entry is not None]


async def enrich(
    deps: Deps, namespace: str, collection: str, ids: list[str], steps: list[EnrichStep]
) -> Accepted:
    """A job that makes the collection's next revision with these entries enriched."""
    lines = b"".join(orjson.dumps({"id": one}) + b"\n" for one in ids)
    objects = deps.stores.objects
    staged = await objects.put(
        staging_key(namespace, new_upload_id()), lines, media_type=JSON_LINES, durable=True
    )
    options = IngestOptions(
        collection=collection, records=RecordRules(enrich=steps), wait_for_dense=True
    )
    document_id = records_document("entries", collection)
    arrival = Arrival(
        namespace, staged, "enriched.jsonl", JSON_LINES, document_id, options, anew=True
    )
    try:
        return await accept(deps, arrival)
    except BaseException:
        await objects.delete([staged.key])
        raise
