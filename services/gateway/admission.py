"""Taking a file in: from staged bytes to a job. Uploads and upload events both end here.

The order is job row, source, event (decision 6): a crash between any two of them leaves
something that the reconciler finds.
"""

import asyncio
from dataclasses import dataclass, field, replace
from datetime import timedelta

from libs.contracts.api.documents import Accepted
from libs.contracts.api.ingest import IngestOptions
from libs.contracts.entries import records_document
from libs.contracts.faults import CallerFault, Code, DocumentFault, WorldFault
from libs.runtime.artefacts import reference_to
from libs.runtime.catalog.jobs import Admission, JobRecord
from libs.runtime.keys import source_key
from libs.runtime.objects.port import ObjectInfo
from libs.runtime.telemetry import logger
from libs.runtime.tracing import current_traceparent
from services.gateway.deps import Deps
from services.gateway.links import job_links
from services.gateway.release import release_waiting

HIDDEN = frozenset({"erasing"})
UNFINISHED = timedelta(seconds=10)
POLL_SECONDS = 0.1
BUSY_RETRY_SECONDS = 5.0

log = logger("gateway.admission")


@dataclass(frozen=True)
class Arrival:
    """A file whose bytes are staged, and what its sender said of it. With `anew` a revision is
    made even of what is unchanged, unless a job is at work on just that.

    A small file is not staged: `body` are its bytes, and `staged` says what it would be.
    """

    namespace: str
    staged: ObjectInfo
    file_name: str
    media_type: str | None = None
    document_id: str | None = None
    options: IngestOptions = field(default_factory=IngestOptions)
    identity: str | None = None
    anew: bool = False
    body: bytes | None = None


async def refuse_when_full(deps: Deps, namespace: str) -> None:
    """Raise 429 once too many jobs of the namespace wait; asked before a body is read."""
    waiting = await deps.stores.catalog.jobs.count(namespace, "waiting")
    if waiting >= deps.settings.max_waiting:
        raise CallerFault(
            Code.TOO_MANY,
            f"{waiting} jobs of this namespace are waiting: send more when some are done",
            429,
            retry_after=BUSY_RETRY_SECONDS,
        )


async def accept(deps: Deps, arrival: Arrival) -> Accepted:
    """Make a job of the file, or answer with the job that it already has.

    The staged object is removed once the answer is certain; after a failure it stays for
    the caller to keep or to remove.
    """
    if arrival.staged.size == 0:
        raise DocumentFault(Code.EMPTY, "the file is empty: nothing could be ingested from it")
    arrival = _of_records(arrival)
    jobs = deps.stores.catalog.jobs
    if arrival.identity is not None:
        known = await jobs.find(arrival.namespace, arrival.identity)
        if known is not None:
            return await _replay(deps, arrival, known)
    same = await _unchanged(deps, arrival)
    if same is not None and not (arrival.anew and same.state == "published"):
        await _unstage(deps, arrival)
        return _answer(same, "unchanged")
    admitted = await jobs.admit(
        Admission(
            namespace=arrival.namespace,
            file_name=arrival.file_name,
            options=arrival.options,
            document_id=arrival.document_id,
            identity=arrival.identity,
            media_type=arrival.media_type,
            traceparent=current_traceparent(),
        )
    )
    if admitted.outcome == "replayed":
        return await _replay(deps, arrival, admitted.job)
    await _complete(deps, arrival, admitted.job)
    return _answer(admitted.job, "accepted")


def _of_records(arrival: Arrival) -> Arrival:
    """Records go to the one document that their collection searches; another id is refused."""
    rules = arrival.options.records
    if rules is None:
        return arrival
    expected = records_document(rules.kind, arrival.options.collection)
    if arrival.document_id not in (None, expected):
        raise CallerFault(
            Code.INVALID, f"document_id: records of this collection are {expected}", 422
        )
    return replace(arrival, document_id=expected)


async def _unchanged(deps: Deps, arrival: Arrival) -> JobRecord | None:
    if arrival.document_id is None:
        return None
    catalog = deps.stores.catalog
    document = await catalog.documents.get(arrival.namespace, arrival.document_id)
    if document is None:
        return None
    if document.state in HIDDEN:
        raise CallerFault(
            Code.CONFLICT, "the document is being erased: wait for its receipt, or use another id",
            409,
        )  # fmt: skip
    return await catalog.jobs.unchanged(
        arrival.namespace, arrival.document_id, arrival.staged.sha256, arrival.options
    )


async def _replay(deps: Deps, arrival: Arrival, job: JobRecord) -> Accepted:
    """The request is known: answer as before, or finish what a crash left unfinished."""
    job = await _settled(deps, job)
    if job.source is None:
        await _complete(deps, arrival, job)
    elif job.source.sha256 == arrival.staged.sha256:
        await _unstage(deps, arrival)
    else:
        raise CallerFault(
            Code.CONFLICT, "this idempotency key was used for a file with other bytes", 409
        )
    other_document = arrival.document_id not in (None, job.document_id)
    if other_document or job.options != arrival.options:
        raise CallerFault(
            Code.CONFLICT,
            "this idempotency key was used with another document id or other options",
            409,
        )
    return _answer(job, "replayed")


async def _settled(deps: Deps, job: JobRecord) -> JobRecord:
    """The job once its source is stored, or once whoever stores it has had time enough."""
    deadline = min(job.created_at, deps.clock()) + UNFINISHED  # a clock may have been ahead
    while job.source is None and deps.clock() < deadline:
        await asyncio.sleep(POLL_SECONDS)
        found = await deps.stores.catalog.jobs.get(job.namespace, job.job_id)
        if found is None:
            raise CallerFault(
                Code.CONFLICT, "the first request of this kind just failed: send it again", 409,
                retry_after=BUSY_RETRY_SECONDS,
            )  # fmt: skip
        job = found
    return job


async def _complete(deps: Deps, arrival: Arrival, job: JobRecord) -> None:
    objects = deps.stores.objects
    key = source_key(job.namespace, job.document_id, job.revision, job.file_name)
    if arrival.body is None:
        stored = await objects.copy(arrival.staged.key, key)
    else:
        media_type = arrival.staged.media_type
        stored = await objects.put(key, arrival.body, media_type=media_type, durable=True)
    await deps.stores.catalog.jobs.source_stored(job.job_id, reference_to(stored))
    results = await asyncio.gather(
        _unstage(deps, arrival), release_waiting(deps), return_exceptions=True
    )
    for error in (r for r in results if isinstance(r, BaseException)):
        if not isinstance(error, WorldFault):
            raise error
        log.warning("left to the reconciler", job_id=job.job_id, code=str(error.code))


async def _unstage(deps: Deps, arrival: Arrival) -> None:
    if arrival.body is None:
        await deps.stores.objects.delete([arrival.staged.key])


def _answer(job: JobRecord, outcome: str) -> Accepted:
    return Accepted.model_validate(
        {
            "document_id": job.document_id,
            "revision": job.revision,
            "job_id": job.job_id,
            "outcome": outcome,
            "links": job_links(job.namespace, job.document_id, job.job_id),
        }
    )
