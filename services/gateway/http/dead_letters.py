"""Dead letters for operators: list, show, replay, discard."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import AfterValidator
from starlette.responses import Response

from libs.contracts.api.audit import Action
from libs.contracts.api.documents import Page
from libs.contracts.api.letters import LetterView
from libs.contracts.events import DeadLetter
from libs.contracts.faults import Code
from libs.contracts.subjects import Stage
from libs.contracts.tokens import TOKEN_PATTERN, plain_text
from libs.runtime import deadletters
from services.gateway.audit import note
from services.gateway.dead_letters import replay
from services.gateway.deps import Deps
from services.gateway.http.errors import not_found
from services.gateway.http.guard import Caller, GuardedRoute, Principal, needs
from services.gateway.http.params import DepsDep, Id, Limit, reply

router = APIRouter(prefix="/v1/dead-letters", tags=["operations"], route_class=GuardedRoute)
Place = Annotated[int | None, Query(ge=0, le=2**53, description="`next_cursor` of a page")]
Document = Annotated[
    str | None, Query(max_length=128, pattern=TOKEN_PATTERN, description="only of this document")
]
Reason = Annotated[
    str | None,
    Query(max_length=500, description="why, for the audit log"),
    AfterValidator(lambda text: text if text is None else plain_text(text)),
]


@router.get("", response_model=Page[LetterView], openapi_extra=needs("operator"))
async def list_dead_letters(
    caller: Caller,
    deps: DepsDep,
    cursor: Place = None,
    limit: Limit = 50,
    stage: Annotated[Stage | None, Query(description="only of this stage")] = None,
    code: Annotated[Code | None, Query(description="only with this code")] = None,
    document_id: Document = None,
) -> Response:
    """What ran out of deliveries, oldest first: of the key's namespace, or of all for admin."""
    page = await deadletters.list_letters(
        deps.bus,
        deps.stores.objects,
        namespace=None if caller.role == "admin" else caller.namespace,
        stage=stage,
        code=code,
        document_id=document_id,
        after=cursor or 0,
        limit=limit,
    )
    after = None if page.next_after is None else str(page.next_after)
    views = [_view(deps, letter) for letter in page.letters]
    return reply(Page[LetterView](items=views, next_cursor=after))


@router.get("/{letter}", response_model=LetterView, openapi_extra=needs("operator"))
async def get_dead_letter(letter: Id, caller: Caller, deps: DepsDep) -> Response:
    """One letter, the original message whole."""
    found = await _own(deps, letter, caller)
    message = await deadletters.message_of(deps.stores.objects, found)
    return reply(_view(deps, found, message))


@router.post("/{letter}/replay", status_code=204, openapi_extra=needs("operator"))
async def replay_dead_letter(letter: Id, caller: Caller, deps: DepsDep) -> Response:
    """Send it again as a new message; its failed job runs again."""
    found = await _own(deps, letter, caller)
    await _note(deps, caller, Action.LETTER_REPLAY, found)
    await replay(deps, found)
    return Response(status_code=204)


@router.delete("/{letter}", status_code=204, openapi_extra=needs("operator"))
async def discard_dead_letter(
    letter: Id, caller: Caller, deps: DepsDep, reason: Reason = None
) -> Response:
    """Drop it for good."""
    found = await _own(deps, letter, caller)
    await _note(deps, caller, Action.LETTER_DISCARD, found, reason)
    await deadletters.discard(deps.bus, letter)
    return Response(status_code=204)


async def _own(deps: Deps, letter: str, caller: Principal) -> DeadLetter:
    found = await deadletters.get_letter(deps.bus, deps.stores.objects, letter)
    if found is None or (caller.role != "admin" and found.namespace != caller.namespace):
        raise not_found("the dead letter")
    return found


async def _note(
    deps: Deps, caller: Principal, action: Action, letter: DeadLetter, reason: str | None = None
) -> None:
    ids = {"document_id": letter.document_id, "job_id": letter.job_id}
    known = {name: value for name, value in ids.items() if value is not None}
    await note(
        deps, caller, action, letter.dead_letter_id, namespace=letter.namespace, reason=reason,
        stage=letter.stage, code=letter.code, **known,
    )  # fmt: skip


def _view(deps: Deps, letter: DeadLetter, message: Any = None) -> LetterView:
    age = deps.clock() - datetime.fromisoformat(letter.parked_at)
    pattern = deps.settings.trace_url
    trace = None
    if pattern is not None and letter.trace_id is not None:
        trace = pattern.replace("{trace_id}", letter.trace_id)
    return LetterView(
        **letter.model_dump(),
        age_seconds=max(0.0, age.total_seconds()),
        trace_url=trace,
        message=message,
    )
