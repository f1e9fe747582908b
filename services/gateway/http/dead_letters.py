"""Dead letters for operators: list, show, replay, discard."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from libs.contracts.api.documents import Page
from libs.contracts.events import DeadLetter
from libs.runtime import deadletters
from services.gateway.dead_letters import replay
from services.gateway.deps import Deps
from services.gateway.http.errors import not_found
from services.gateway.http.guard import Caller, GuardedRoute, Principal, needs
from services.gateway.http.params import DepsDep, Id, Limit, reply

router = APIRouter(prefix="/v1/dead-letters", tags=["operations"], route_class=GuardedRoute)
Place = Annotated[int | None, Query(ge=0, le=2**53, description="`next_cursor` of a page")]


@router.get("", response_model=Page[DeadLetter], openapi_extra=needs("operator"))
async def list_dead_letters(
    caller: Caller, deps: DepsDep, cursor: Place = None, limit: Limit = 50
) -> Response:
    """What ran out of deliveries, oldest first: of the key's namespace, or of all for admin."""
    namespace = None if caller.role == "admin" else caller.namespace
    page = await deadletters.list_letters(
        deps.bus, deps.stores.objects, namespace=namespace, after=cursor or 0, limit=limit
    )
    after = None if page.next_after is None else str(page.next_after)
    return reply(Page[DeadLetter](items=page.letters, next_cursor=after))


@router.get("/{letter}", response_model=DeadLetter, openapi_extra=needs("operator"))
async def get_dead_letter(letter: Id, caller: Caller, deps: DepsDep) -> Response:
    """One letter, the original message whole."""
    return reply(await _own(deps, letter, caller))


@router.post("/{letter}/replay", status_code=204, openapi_extra=needs("operator"))
async def replay_dead_letter(letter: Id, caller: Caller, deps: DepsDep) -> Response:
    """Send it again as a new message; its failed job runs again."""
    await replay(deps, await _own(deps, letter, caller))
    return Response(status_code=204)


@router.delete("/{letter}", status_code=204, openapi_extra=needs("operator"))
async def discard_dead_letter(letter: Id, caller: Caller, deps: DepsDep) -> Response:
    """Drop it for good."""
    await _own(deps, letter, caller)
    await deadletters.discard(deps.bus, letter)
    return Response(status_code=204)


async def _own(deps: Deps, letter: str, caller: Principal) -> DeadLetter:
    found = await deadletters.get_letter(deps.bus, deps.stores.objects, letter)
    if found is None or (caller.role != "admin" and found.namespace != caller.namespace):
        raise not_found("the dead letter")
    return found
