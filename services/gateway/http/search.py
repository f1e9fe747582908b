"""Search and the verification of citations."""

from fastapi import APIRouter
from starlette.responses import Response

from libs.contracts.api.search import (
    PlanQuery,
    SearchRequest,
    SearchResponse,
    VerifyAnswer,
    VerifyRequest,
)
from libs.contracts.subjects import QUERY_PLAN
from services.gateway.http.asking import search_in_time
from services.gateway.http.errors import not_found
from services.gateway.http.guard import Caller, GuardedRoute, needs
from services.gateway.http.params import DepsDep, Namespaced, reply
from services.gateway.links import namespace_path
from services.gateway.verify import verdict

router = APIRouter(prefix="/v1/namespaces/{ns}", tags=["search"], route_class=GuardedRoute)


@router.post("/search", response_model=SearchResponse, openapi_extra=needs("reader"))
async def search(ns: Namespaced, body: SearchRequest, caller: Caller, deps: DepsDep) -> Response:
    """Evidence for a query, each piece with what is needed to find and verify it."""
    query = PlanQuery(
        namespace=ns, key_id=caller.key_id, request=body, links_base=namespace_path(ns)
    )
    milliseconds = body.budget.milliseconds
    return reply(await search_in_time(deps.bus, QUERY_PLAN, query, SearchResponse, milliseconds))


@router.post("/verify", response_model=VerifyAnswer, openapi_extra=needs("reader"))
async def verify(ns: Namespaced, body: VerifyRequest, deps: DepsDep) -> Response:
    """Whether a citation still says this: verified, superseded, erased or mismatch."""
    catalog = deps.stores.catalog
    document = await catalog.documents.get(ns, body.document_id)
    if document is None:
        raise not_found("the document")
    revision = await catalog.documents.revision(ns, body.document_id, body.revision)
    if revision is None or revision.state != "published":
        return reply(verdict(body, document, kept=False, cited=None))
    cited = await catalog.chunks.find(revision.revn, body.chunk_id)
    return reply(verdict(body, document, kept=True, cited=cited))
