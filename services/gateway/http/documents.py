"""Documents: sending, listing, metadata, revisions, rollback, deletion."""

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from libs.contracts.api.audit import Action
from libs.contracts.api.documents import (
    Accepted,
    DocumentView,
    ErasureReceipt,
    Page,
    RevisionView,
)
from libs.contracts.api.ingest import DocumentMetadata, Reprocess
from libs.contracts.faults import CallerFault, Code
from libs.contracts.tokens import Collection
from libs.runtime.catalog.documents import DocumentRecord
from libs.runtime.corpus import write_document_file
from services.gateway.admission import accept, refuse_when_full
from services.gateway.audit import note
from services.gateway.deps import Deps
from services.gateway.erasure import begin_erasure
from services.gateway.http.errors import not_found
from services.gateway.http.guard import Caller, GuardedRoute, needs
from services.gateway.http.paging import page_of
from services.gateway.http.params import (
    Cursor,
    DepsDep,
    Id,
    Limit,
    Namespaced,
    RevisionNumber,
    reply,
)
from services.gateway.http.receive import arrival_of
from services.gateway.http.views import document_view, revision_view
from services.gateway.links import erasure_path
from services.gateway.reprocess import reprocess

router = APIRouter(prefix="/v1/namespaces/{ns}", tags=["documents"], route_class=GuardedRoute)
HIDDEN = frozenset({"erasing", "erased"})

UPLOAD: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {"type": "string", "contentMediaType": "application/octet-stream"},
                        "document_id": {"type": "string"},
                        "options": {"type": "string", "description": "IngestOptions as JSON"},
                    },
                }
            },
            "application/json": {
                "schema": {
                    "type": "object",
                    "oneOf": [{"required": ["upload_id"]}, {"required": ["url"]}],
                    "properties": {
                        "upload_id": {"type": "string"},
                        "url": {"type": "string", "description": "on a host that is allowed"},
                        "file_name": {"type": "string"},
                        "document_id": {"type": "string"},
                        "options": {"type": "object"},
                    },
                }
            },
        },
    },
    "parameters": [
        {"name": "Idempotency-Key", "in": "header", "schema": {"type": "string", "maxLength": 255}}
    ],
}


@router.post(
    "/documents", status_code=202, response_model=Accepted, openapi_extra=needs("writer", **UPLOAD)
)
async def send_document(request: Request, ns: Namespaced, deps: DepsDep) -> Response:
    """Send a document, or a new revision of one: it is ingested in the background."""
    await refuse_when_full(deps, ns)
    async with arrival_of(request, ns, deps) as arrival:
        accepted = await accept(deps, arrival)
    status = 200 if accepted.outcome == "unchanged" else 202
    return reply(accepted, status, {"Location": accepted.links["job"]})


@router.get("/documents", response_model=Page[DocumentView], openapi_extra=needs("reader"))
async def list_documents(
    ns: Namespaced,
    deps: DepsDep,
    cursor: Cursor = None,
    limit: Limit = 50,
    collection: Annotated[Collection | None, Query()] = None,
    state: Annotated[Literal["pending", "active", "failed"] | None, Query()] = None,
) -> Response:
    """Documents by id, one page at a time."""
    found = await deps.stores.catalog.documents.select(
        ns, after=cursor, limit=limit + 1, collection=collection, state=state
    )
    page = [d for d in found[:limit] if d.state not in HIDDEN]
    views = await asyncio.gather(*(_view(deps, document) for document in page))
    more = found[limit - 1].document_id if len(found) > limit else None
    return reply(Page[DocumentView](items=views, next_cursor=more))


@router.get("/documents/{document_id}", response_model=DocumentView, openapi_extra=needs("reader"))
async def get_document(ns: Namespaced, document_id: Id, deps: DepsDep) -> Response:
    """One document: identity, state, active revision, counts."""
    return reply(await _view(deps, await visible(deps, ns, document_id)))


@router.patch(
    "/documents/{document_id}", response_model=DocumentView, openapi_extra=needs("writer")
)
async def patch_document(
    ns: Namespaced, document_id: Id, patch: DocumentMetadata, deps: DepsDep
) -> Response:
    """Change metadata: fields that are given replace the stated ones, null clears one."""
    document = await visible(deps, ns, document_id)
    merged = document.metadata.model_copy(update=patch.model_dump(exclude_unset=True))
    changed = await deps.stores.catalog.documents.set_metadata(ns, document_id, merged)
    if changed is None:
        raise not_found("the document")
    await write_document_file(deps.stores.catalog, deps.stores.objects, ns, document_id)
    return reply(await _view(deps, changed))


@router.get(
    "/documents/{document_id}/revisions",
    response_model=Page[RevisionView],
    openapi_extra=needs("reader"),
)
async def list_revisions(
    ns: Namespaced, document_id: Id, deps: DepsDep, cursor: Cursor = None, limit: Limit = 50
) -> Response:
    """All revisions, newest first."""
    document = await visible(deps, ns, document_id)
    revisions = await deps.stores.catalog.documents.revisions(ns, document_id)
    page, more = page_of(revisions, lambda r: str(r.revision), cursor, limit)
    views = [revision_view(r, document.active_revision) for r in page]
    return reply(Page[RevisionView](items=views, next_cursor=more))


@router.post(
    "/documents/{document_id}/revisions/{number}/activate",
    response_model=DocumentView,
    openapi_extra=needs("writer"),
)
async def activate(
    ns: Namespaced, document_id: Id, number: RevisionNumber, caller: Caller, deps: DepsDep
) -> Response:
    """Roll back, or forward, to a published revision that is still kept."""
    document = await visible(deps, ns, document_id)
    await note(
        deps, caller, Action.DOCUMENT_ACTIVATE, document_id, namespace=ns,
        revision=number, before=document.active_revision or 0,
    )  # fmt: skip
    if await deps.stores.catalog.documents.activate(ns, document_id, number) is None:
        raise CallerFault(
            Code.NOT_FOUND, f"no published revision {number} of this document is kept", 404
        )
    await write_document_file(deps.stores.catalog, deps.stores.objects, ns, document_id)
    return reply(await _view(deps, await visible(deps, ns, document_id)))


@router.post(
    "/documents/{document_id}/reprocess",
    status_code=202,
    response_model=Accepted,
    openapi_extra=needs("operator"),
)
async def reprocess_document(
    ns: Namespaced,
    document_id: Id,
    caller: Caller,
    deps: DepsDep,
    wanted: Reprocess | None = None,
) -> Response:
    """Make the document again from its kept source, as a new revision."""
    document = await visible(deps, ns, document_id)
    await note(deps, caller, Action.DOCUMENT_REPROCESS, document_id, namespace=ns)
    return reply(await reprocess(deps, document, wanted.engine if wanted else None), 202)


@router.delete(
    "/documents/{document_id}",
    status_code=202,
    response_model=ErasureReceipt,
    openapi_extra=needs("writer"),
)
async def delete_document(
    ns: Namespaced, document_id: Id, caller: Caller, deps: DepsDep
) -> Response:
    """Hide a document at once and erase it everywhere; the receipt says what went."""
    if await deps.stores.catalog.documents.get(ns, document_id) is None:
        raise not_found("the document")
    await note(deps, caller, Action.DOCUMENT_DELETE, document_id, namespace=ns)
    receipt = await begin_erasure(deps, ns, document_id)
    if receipt is None:
        raise not_found("the document")
    return reply(receipt, 202, {"Location": erasure_path(ns, receipt.erasure_id)})


async def visible(deps: Deps, namespace: str, document_id: str) -> DocumentRecord:
    """The document, unless there is none or it is hidden: 404."""
    document = await deps.stores.catalog.documents.get(namespace, document_id)
    if document is None or document.state in HIDDEN:
        raise not_found("the document")
    return document


async def _view(deps: Deps, document: DocumentRecord) -> DocumentView:
    active = None
    if document.active_revision is not None:
        active = await deps.stores.catalog.documents.revision(
            document.namespace, document.document_id
        )
    return document_view(document, active)
