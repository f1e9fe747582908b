"""What collections of entries there are, and what is published of one."""

from fastapi import APIRouter
from starlette.responses import Response

from libs.contracts.api.documents import Page
from libs.contracts.entries import RECORD_FORMAT, CollectionView, records_document
from services.gateway.http.collections import Named
from services.gateway.http.errors import not_found
from services.gateway.http.guard import GuardedRoute, needs
from services.gateway.http.paging import page_of
from services.gateway.http.params import MAX_PAGE, Cursor, DepsDep, Limit, Namespaced, reply
from services.gateway.overview import overview

router = APIRouter(
    prefix="/v1/namespaces/{ns}/collections", tags=["collections"], route_class=GuardedRoute
)


@router.get("", response_model=Page[str], openapi_extra=needs("reader"))
async def list_collections(
    ns: Namespaced, deps: DepsDep, cursor: Cursor = None, limit: Limit = MAX_PAGE
) -> Response:
    """The collections that have published entries, by name."""
    active = await deps.stores.catalog.documents.active_set(ns)
    names = [
        r.collection
        for r in active.revisions
        if r.format == RECORD_FORMAT and r.document_id == records_document("entries", r.collection)
    ]
    page, more = page_of(sorted(names), str, cursor, limit)
    return reply(Page[str](items=page, next_cursor=more))


@router.get("/{collection}/overview", response_model=CollectionView, openapi_extra=needs("reader"))
async def get_overview(ns: Namespaced, collection: Named, deps: DepsDep) -> Response:
    """How many entries and questions are published, their categories, and queries to begin
    with."""
    found = await overview(deps, ns, collection)
    if found is None:
        raise not_found("the collection")
    return reply(found)
