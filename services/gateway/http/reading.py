"""Reading what is stored of a revision, as it is stored.

Objects are found by the names that the flip wrote down, never by a path made from the
request, so no request can leave its revision.
"""

import mimetypes
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from libs.contracts.artefacts import Diagnostics, DocNav, Manifest
from libs.contracts.artefacts.chunk import Chunks
from libs.runtime.catalog.documents import RevisionRecord
from services.gateway.deps import Deps
from services.gateway.http.errors import not_found
from services.gateway.http.guard import GuardedRoute, needs
from services.gateway.http.params import DepsDep, Id, Namespaced
from services.gateway.http.ranges import Served, serve

router = APIRouter(
    prefix="/v1/namespaces/{ns}/documents/{document_id}",
    tags=["reading"],
    route_class=GuardedRoute,
)
READER = needs("reader")
UNKNOWN_TYPE = "application/octet-stream"

RevisionQuery = Annotated[
    int | None, Query(ge=1, le=2**31 - 1, description="the active one when absent")
]


@router.get("/outline", response_model=DocNav, openapi_extra=READER)
async def outline(
    request: Request, ns: Namespaced, document_id: Id, deps: DepsDep, revision: RevisionQuery = None
) -> Response:
    """The section tree: titles, summaries, counts, images and tables."""
    return await _artefact(request, deps, ns, document_id, revision, "doc_nav.json")


@router.get("/manifest", response_model=Manifest, openapi_extra=READER)
async def manifest(
    request: Request, ns: Namespaced, document_id: Id, deps: DepsDep, revision: RevisionQuery = None
) -> Response:
    """What the revision is made of: source, statistics, engine, hierarchy."""
    return await _artefact(request, deps, ns, document_id, revision, "manifest.json")


@router.get("/chunks", response_model=Chunks, openapi_extra=READER)
async def chunks(
    request: Request, ns: Namespaced, document_id: Id, deps: DepsDep, revision: RevisionQuery = None
) -> Response:
    """Every retrievable piece, in order."""
    return await _artefact(request, deps, ns, document_id, revision, "chunks.json")


@router.get("/diagnostics", response_model=Diagnostics, openapi_extra=READER)
async def diagnostics(
    request: Request, ns: Namespaced, document_id: Id, deps: DepsDep, revision: RevisionQuery = None
) -> Response:
    """What was noticed while the document was parsed."""
    return await _artefact(request, deps, ns, document_id, revision, "diagnostics.json")


@router.get("/source", openapi_extra=READER, response_class=Response)
async def source(
    request: Request, ns: Namespaced, document_id: Id, deps: DepsDep, revision: RevisionQuery = None
) -> Response:
    """The file as it was sent."""
    record = await revision_of(deps, ns, document_id, revision)
    if record.source is None:
        raise not_found("the source")
    served = Served(record.file_name, media_type_of(record.file_name))
    return await serve(request, deps.stores.objects, record.source, served)


@router.get("/assets/{path:path}", openapi_extra=READER, response_class=Response)
async def asset(
    request: Request, ns: Namespaced, document_id: Id, path: str, deps: DepsDep,
    revision: RevisionQuery = None,
) -> Response:  # fmt: skip
    """An image or table of the revision, by its name inside it."""
    return await _artefact(request, deps, ns, document_id, revision, f"assets/{path}")


def media_type_of(file_name: str) -> str:
    """By the suffix; what has none known is a stream of octets."""
    return mimetypes.guess_type(file_name, strict=False)[0] or UNKNOWN_TYPE


async def _artefact(
    request: Request, deps: Deps, namespace: str, document_id: str, number: int | None, name: str
) -> Response:
    record = await revision_of(deps, namespace, document_id, number)
    ref = record.artefacts.get(name)
    if ref is None:
        raise not_found("this part of the revision")
    served = Served(name.rpartition("/")[2], media_type_of(name))
    return await serve(request, deps.stores.objects, ref, served)


async def revision_of(
    deps: Deps, namespace: str, document_id: str, number: int | None
) -> RevisionRecord:
    """The revision, the active one for None. Raises 404 when it is not there or not kept."""
    record = await deps.stores.catalog.documents.revision(namespace, document_id, number)
    if record is None or record.state == "collected":
        raise not_found("the document, or this revision of it,")
    return record
