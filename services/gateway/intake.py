"""Taking upload events: from an event to a job, or to a refusal that its sender hears."""

from collections.abc import AsyncIterator
from typing import Any

import orjson
from pydantic import ValidationError

from libs.contracts.api.ingest import IngestOptions
from libs.contracts.api.problem import problem_of
from libs.contracts.events import BucketNotification, IngestRefused, IngestRequested
from libs.contracts.faults import CallerFault, Code, DocumentFault, Fault
from libs.contracts.subjects import (
    HELD_BUCKET,
    HELD_REQUESTED,
    INGEST_BUCKET,
    INGEST_REFUSED,
    Subject,
)
from libs.contracts.tokens import safe_file_name
from libs.runtime.objects.port import ObjectInfo
from libs.runtime.telemetry import logger, trace_id
from libs.runtime.work import Work
from services.gateway.admission import Arrival, accept, refuse_when_full
from services.gateway.deps import Deps
from services.gateway.held import hold
from services.gateway.inbox import Place, corpus_bucket_of, notified_place, requested_place
from services.gateway.ledger import outcome_of
from services.gateway.outcomes import announce_outcome
from services.gateway.staging import new_upload_id, staging_key

MAX_ECHO_BYTES = 65_536

log = logger("gateway.intake")


async def take(
    deps: Deps, subject: Subject, tokens: dict[str, str], body: bytes, mark: str, work: Work
) -> None:
    """Take one event; what cannot be taken is refused, each record on its own.

    What only has to wait for room in its namespace's queue is held apart. Raises
    `WorldFault` when it must come again: a store is away, or no more can be held. `mark`
    tells this event from others.
    """
    if subject is INGEST_BUCKET:
        await _take_notification(deps, body, mark, work)
        return
    namespace = tokens["namespace"]
    try:
        await _take_request(deps, namespace, body, mark, work)
    except (CallerFault, DocumentFault, ValidationError) as error:
        if _patient(error):
            await hold(deps, HELD_REQUESTED, namespace, body, mark)
        else:
            await _refuse(deps, f"ingest.requested.{namespace}", body, error, mark)


def _patient(error: Exception) -> bool:
    """Whether a caller would be told to try again later: nobody is at fault."""
    return isinstance(error, CallerFault) and error.retry_after is not None


async def _take_request(deps: Deps, namespace: str, body: bytes, mark: str, work: Work) -> None:
    request = IngestRequested.model_validate_json(body)
    place = requested_place(namespace, request.source, deps.settings.ingest_roots)
    key = request.idempotency_key
    await _take_object(
        deps,
        place,
        work,
        mark=mark,
        file_name=request.file_name,
        document_id=request.document_id,
        options=request.options,
        identity=None if key is None else f"bus:{key}",
    )


async def _take_notification(deps: Deps, body: bytes, mark: str, work: Work) -> None:
    try:
        records = BucketNotification.model_validate_json(body).Records
    except ValidationError as error:
        await _refuse(deps, INGEST_BUCKET.pattern, body, error, mark)
        return
    corpus = corpus_bucket_of(deps.settings.resolved_objects_url())
    for number, record in enumerate(records):
        place, own = None, f"{mark}:{number}"
        try:
            place = notified_place(record, corpus)
            if place is not None:
                await _take_object(deps, place, work, mark=own, file_name=place.file_name)
        except (CallerFault, DocumentFault) as error:
            if place is not None and _patient(error):
                alone = orjson.dumps({"Records": [record]})
                await hold(deps, HELD_BUCKET, place.namespace, alone, own)
            else:
                await _refuse(deps, INGEST_BUCKET.pattern, orjson.dumps(record), error, own)


async def _take_object(
    deps: Deps,
    place: Place,
    work: Work,
    *,
    mark: str,
    file_name: str,
    document_id: str | None = None,
    options: IngestOptions | None = None,
    identity: str | None = None,
) -> None:
    if place.namespace not in await deps.stores.catalog.keys.list_namespaces():
        raise CallerFault(Code.NOT_FOUND, f"there is no namespace {place.namespace}", 404)
    await refuse_when_full(deps, place.namespace)
    options = options or IngestOptions()
    document_id = document_id or place.document_id
    staged = await _stage(deps, place, work)
    version = place.etag or staged.sha256
    arrival = Arrival(
        place.namespace,
        staged,
        safe_file_name(file_name),
        document_id=document_id,
        options=options,
        identity=identity or place.identity(version, document_id, options.model_dump(mode="json")),
    )
    try:
        accepted = await accept(deps, arrival)
    except BaseException:
        await deps.stores.objects.delete([staged.key])
        raise
    log.info("took an upload event", job_id=accepted.job_id, outcome=accepted.outcome)
    if accepted.outcome != "accepted":
        job = await deps.stores.catalog.jobs.get(place.namespace, accepted.job_id)
        outcome = None if job is None else outcome_of(job)
        if outcome is not None:
            await announce_outcome(deps, outcome, asked=f":{mark}")


async def _stage(deps: Deps, place: Place, work: Work) -> ObjectInfo:
    try:
        return await deps.stores.objects.put(
            staging_key(place.namespace, new_upload_id()),
            _moving(deps.inbox.stream(place.path), work),
            max_bytes=deps.settings.max_upload_bytes,
            durable=True,
        )
    except (KeyError, ValueError):
        raise DocumentFault(
            Code.SOURCE_MISSING,
            "the object that the event names is not in the inbox: put it below "
            f"inbox/{place.namespace}/ before the event is sent",
        ) from None


async def _moving(pieces: AsyncIterator[bytes], work: Work) -> AsyncIterator[bytes]:
    async for piece in pieces:
        work.progress()
        yield piece


async def _refuse(deps: Deps, subject: str, body: bytes, error: Exception, mark: str) -> None:
    fault = error if isinstance(error, Fault) else _invalid(error)
    status = fault.status if isinstance(fault, CallerFault) else 422
    refused = IngestRefused(
        problem=problem_of(fault, status, trace_id()), subject=subject, request=_echo(body)
    )
    await deps.bus.publish(INGEST_REFUSED, refused, message_id=f"refused:{mark}")
    log.warning("refused an upload event", subject=subject, code=str(fault.code))


def _invalid(error: Exception) -> CallerFault:
    fields = ["the event"]
    if isinstance(error, ValidationError):
        entries = error.errors(include_input=False, include_context=False)[:5]
        fields = [
            f"{'.'.join(str(p)[:80] for p in e['loc']) or 'body'}: {e['msg'][:200]}"
            for e in entries
        ]
    return CallerFault(Code.INVALID, "; ".join(fields), 422)


def _echo(body: bytes) -> dict[str, Any] | None:
    """The request as its sender wrote it, where that is a JSON object of modest size."""
    if len(body) > MAX_ECHO_BYTES:
        return None
    try:
        parsed = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    return parsed if isinstance(parsed, dict) else None
