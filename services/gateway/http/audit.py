"""The audit log, for operators."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from libs.contracts.api.audit import Action, AuditEntry
from libs.contracts.api.documents import Page
from libs.contracts.tokens import TOKEN_PATTERN, Namespace
from services.gateway.http.errors import no_namespace
from services.gateway.http.guard import Caller, GuardedRoute, needs
from services.gateway.http.params import Cursor, DepsDep, Limit, reply

router = APIRouter(prefix="/v1/audit", tags=["operations"], route_class=GuardedRoute)


@router.get("", response_model=Page[AuditEntry], openapi_extra=needs("operator"))
async def list_audit(
    caller: Caller,
    deps: DepsDep,
    cursor: Cursor = None,
    limit: Limit = 50,
    namespace: Annotated[Namespace | None, Query(description="only of this namespace")] = None,
    action: Annotated[Action | None, Query(description="only what was done so")] = None,
    target: Annotated[
        str | None, Query(max_length=128, pattern=TOKEN_PATTERN, description="only about this id")
    ] = None,
) -> Response:
    """Who deleted, rolled back, replayed, discarded, paused or changed keys; newest first. Of
    the key's namespace, or of all for admin."""
    within = namespace
    if caller.role != "admin":
        if namespace not in (None, caller.namespace):
            raise no_namespace(namespace)
        within = caller.namespace
    found = await deps.stores.catalog.audit.select(
        within, action=action, target=target, before=cursor, limit=limit + 1
    )
    more = found[limit - 1].audit_id if len(found) > limit else None
    return reply(Page[AuditEntry](items=found[:limit], next_cursor=more))
