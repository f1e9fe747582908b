"""Collections of entries: uploads of records, their search, and what they share."""

import hashlib
from dataclasses import replace
from typing import Annotated

import orjson
from fastapi import APIRouter, Path, Request
from pydantic import AfterValidator
from starlette.responses import Response

from libs.contracts.api.audit import Action
from libs.contracts.api.documents import Accepted
from libs.contracts.api.ingest import IngestOptions
from libs.contracts.entries import (
    MAX_ID,
    CollectionSettings,
    RecordKind,
    RecordRules,
    records_document,
)
from libs.contracts.query.entries import EntrySearch, FindQuery, FoundEntries
from libs.contracts.subjects import QUERY_FIND
from libs.contracts.tokens import NAMESPACE_PATTERN
from libs.runtime.artefacts import load_chunks
from libs.runtime.collections import load_settings, save_settings
from services.gateway.admission import Arrival, accept, refuse_when_full
from services.gateway.audit import note
from services.gateway.deps import Deps
from services.gateway.http.asking import search_in_time
from services.gateway.http.documents import UPLOAD
from services.gateway.http.errors import invalid, not_found
from services.gateway.http.guard import Caller, GuardedRoute, needs
from services.gateway.http.params import DepsDep, Namespaced, reply, shaped
from services.gateway.http.receive import arrival_of
from services.gateway.staging import new_upload_id, staging_key

router = APIRouter(
    prefix="/v1/namespaces/{ns}/collections/{collection}",
    tags=["collections"],
    route_class=GuardedRoute,
)
Named = Annotated[str, Path(), AfterValidator(shaped(NAMESPACE_PATTERN, "the collection"))]
JSON_LINES = "application/x-ndjson"
WAITS = "wait_for_dense"
"""Unless an upload says otherwise: else a new revision would be searched by words alone until its
vectors are there."""


@router.post(
    "/entries", status_code=202, response_model=Accepted, openapi_extra=needs("writer", **UPLOAD)
)
async def send_entries(
    request: Request, ns: Namespaced, collection: Named, deps: DepsDep
) -> Response:
    """Send a file of entries (JSON lines, CSV, a workbook): merged with what is published, or
    in its place, as `options.records` says."""
    return await _send(request, ns, collection, deps, "entries")


@router.post(
    "/queries", status_code=202, response_model=Accepted, openapi_extra=needs("writer", **UPLOAD)
)
async def send_questions(
    request: Request, ns: Namespaced, collection: Named, deps: DepsDep
) -> Response:
    """Send a file of sample questions (`id` of the entry, `question`): the query index."""
    return await _send(request, ns, collection, deps, "questions")


@router.delete(
    "/entries/{entry_id:path}",
    status_code=202,
    response_model=Accepted,
    openapi_extra=needs("writer"),
)
async def delete_entry(
    ns: Namespaced, collection: Named, entry_id: str, caller: Caller, deps: DepsDep
) -> Response:
    """Take one entry out: the collection's next revision is without it."""
    document_id = records_document("entries", collection)
    if len(entry_id) > MAX_ID or not await _holds(deps, ns, document_id, entry_id):
        raise not_found("the entry")
    await refuse_when_full(deps, ns)
    digest = hashlib.sha256(entry_id.encode()).hexdigest()
    await note(deps, caller, Action.ENTRY_DELETE, document_id, namespace=ns, entry_sha256=digest)
    line = orjson.dumps({"id": entry_id, "deleted": True}) + b"\n"
    objects = deps.stores.objects
    staged = await objects.put(
        staging_key(ns, new_upload_id()), line, media_type=JSON_LINES, durable=True
    )
    options = IngestOptions(collection=collection, records=RecordRules(), wait_for_dense=True)
    try:
        arrival = Arrival(ns, staged, "deleted.jsonl", JSON_LINES, document_id, options, anew=True)
        return reply(await accept(deps, arrival), 202)
    except BaseException:
        await objects.delete([staged.key])
        raise


@router.post("/search", response_model=FoundEntries, openapi_extra=needs("reader"))
async def search_entries(
    ns: Namespaced, collection: Named, body: EntrySearch, deps: DepsDep
) -> Response:
    """The entries that everyday words mean, best first, and the attempts it took."""
    query = FindQuery(namespace=ns, collection=collection, request=body)
    milliseconds = body.milliseconds
    return reply(await search_in_time(deps.bus, QUERY_FIND, query, FoundEntries, milliseconds))


@router.get("", response_model=CollectionSettings, openapi_extra=needs("reader"))
async def get_settings(ns: Namespaced, collection: Named, deps: DepsDep) -> Response:
    """What the entries of the collection share; the defaults where nothing was set."""
    return reply(await load_settings(deps.stores.objects, ns, collection))


@router.put("", response_model=CollectionSettings, openapi_extra=needs("writer"))
async def put_settings(
    ns: Namespaced, collection: Named, body: CollectionSettings, deps: DepsDep
) -> Response:
    """Set weights, switches, synonyms and category rules; searches follow at once."""
    before = await load_settings(deps.stores.objects, ns, collection)
    await save_settings(deps.stores.objects, ns, collection, body)
    if body.most_dense != before.most_dense:
        await deps.stores.catalog.corpus.raise_version(ns, 0)
    return reply(body)


async def _send(
    request: Request, ns: str, collection: str, deps: Deps, kind: RecordKind
) -> Response:
    await refuse_when_full(deps, ns)
    async with arrival_of(request, ns, deps) as arrival:
        if arrival.document_id is not None:
            raise invalid("document_id: the collection names the document")
        if arrival.options.collection not in ("default", collection):
            raise invalid("options.collection: the path names the collection")
        stated = arrival.options.model_fields_set
        rules = arrival.options.records or RecordRules()
        options = arrival.options.model_copy(
            update={
                "collection": collection,
                "records": rules.model_copy(update={"kind": kind}),
                "wait_for_dense": arrival.options.wait_for_dense or WAITS not in stated,
            }
        )
        accepted = await accept(deps, replace(arrival, options=options))
    status = 200 if accepted.outcome == "unchanged" else 202
    return reply(accepted, status, {"Location": accepted.links["job"]})


async def _holds(deps: Deps, namespace: str, document_id: str, entry_id: str) -> bool:
    """Whether the active revision of the entries has this id."""
    active = await deps.stores.catalog.documents.revision(namespace, document_id)
    if active is None or "chunks.json" not in active.artefacts:
        return False
    chunks = await load_chunks(deps.stores.objects, active.artefacts["chunks.json"])
    return any(c.metadata.entry is not None and c.metadata.entry.id == entry_id for c in chunks)
