"""Enriching the entries of a collection by models: what it would cost, and the job."""

from fastapi import APIRouter
from starlette.responses import Response

from libs.contracts.entries import records_document
from libs.contracts.query.entries import CostAnswer, CostQuery, Enriched, EnrichRequest
from libs.contracts.subjects import QUERY_COST
from services.gateway.admission import refuse_when_full
from services.gateway.enrich import enrich, ids_of
from services.gateway.http.collections import Named
from services.gateway.http.errors import invalid, not_found
from services.gateway.http.guard import GuardedRoute, needs
from services.gateway.http.params import DepsDep, Namespaced, reply

COST_SECONDS = 60.0

router = APIRouter(
    prefix="/v1/namespaces/{ns}/collections/{collection}",
    tags=["collections"],
    route_class=GuardedRoute,
)


@router.post("/enrich", status_code=202, response_model=Enriched, openapi_extra=needs("writer"))
async def enrich_entries(
    ns: Namespaced, collection: Named, body: EnrichRequest, deps: DepsDep
) -> Response:
    """What describing the entries by models would cost (`dry_run`, the default); else a job that
    does it."""
    active = await deps.stores.catalog.documents.revision(
        ns, records_document("entries", collection)
    )
    if active is None:
        raise not_found("the collection")
    known = await ids_of(deps, active)
    if unknown := sorted(set(body.ids) - set(known)):
        raise invalid(f"ids: no published entry is called {unknown[0][:40]}")
    ids = body.ids or known
    query = CostQuery(namespace=ns, collection=collection, ids=ids, steps=body.steps)
    cost = await deps.bus.request(QUERY_COST, query, CostAnswer, timeout=COST_SECONDS)
    if body.dry_run:
        return reply(Enriched(entries=cost.entries, steps=cost.steps))
    if not any(step.model for step in cost.steps):
        raise invalid(
            "steps: no model is configured (GROUNDWIRE_MODEL_DESCRIBE_URL, …_CONTEXT_URL)"
        )
    await refuse_when_full(deps, ns)
    accepted = await enrich(deps, ns, collection, ids, body.steps)
    return reply(Enriched(entries=cost.entries, steps=cost.steps, job=accepted), 202)
