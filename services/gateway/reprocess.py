"""Making a document again from the source that is kept, with the engines of today."""

from libs.contracts.api.documents import Accepted
from libs.contracts.api.ingest import IngestOptions
from libs.contracts.faults import CallerFault, Code
from libs.runtime.catalog.documents import DocumentRecord
from services.gateway.admission import Arrival, accept, refuse_when_full
from services.gateway.deps import Deps
from services.gateway.staging import new_upload_id, staging_key


async def reprocess(deps: Deps, document: DocumentRecord, engine: str | None) -> Accepted:
    """A job that makes a new revision of the active one's source, with the options of its job
    and the metadata of now; `engine` takes the place of the one that was asked for.

    A job that is at work on the same source with the same options is answered instead. Raises
    `CallerFault`: 404 without an active revision or its source, 429 when too many jobs wait.
    """
    namespace = document.namespace
    await refuse_when_full(deps, namespace)
    catalog = deps.stores.catalog
    active = await catalog.documents.revision(namespace, document.document_id)
    if active is None or active.source is None:
        raise CallerFault(Code.NOT_FOUND, "the document has no published revision", 404)
    job = await catalog.jobs.get(namespace, active.job_id)
    given = IngestOptions(collection=document.collection) if job is None else job.options
    changes = {"metadata": document.metadata, **({} if engine is None else {"engine": engine})}
    key = staging_key(namespace, new_upload_id())
    try:
        staged = await deps.stores.objects.copy(active.source.key, key)
    except KeyError:
        raise CallerFault(Code.NOT_FOUND, "the document's source is not kept", 404) from None
    arrival = Arrival(
        namespace,
        staged,
        active.file_name,
        None if job is None else job.media_type,
        document.document_id,
        given.model_copy(update=changes),
        anew=True,
    )
    try:
        return await accept(deps, arrival)
    except BaseException:
        await deps.stores.objects.delete([key])
        raise
