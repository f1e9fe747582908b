"""Receipts of erasures."""

from fastapi import APIRouter
from starlette.responses import Response

from libs.contracts.api.documents import ErasureReceipt
from services.gateway.http.errors import not_found
from services.gateway.http.guard import GuardedRoute, needs
from services.gateway.http.params import DepsDep, Id, Namespaced, reply

router = APIRouter(prefix="/v1/namespaces/{ns}", tags=["documents"], route_class=GuardedRoute)


@router.get("/erasures/{erasure_id}", response_model=ErasureReceipt, openapi_extra=needs("reader"))
async def get_erasure(ns: Namespaced, erasure_id: Id, deps: DepsDep) -> Response:
    """What went from which store, and what a re-query found."""
    receipt = await deps.stores.catalog.documents.erasure(ns, erasure_id)
    if receipt is None:
        raise not_found("the erasure")
    return reply(receipt)
