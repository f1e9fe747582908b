"""Pausing stages and namespaces, for the role admin."""

from typing import Literal

from fastapi import APIRouter
from starlette.responses import Response

from libs.contracts.api.audit import Action
from libs.contracts.api.documents import Pauses
from libs.contracts.subjects import Stage
from libs.runtime.pausing import pause_stage, paused_stages
from services.gateway.audit import note
from services.gateway.deps import Deps
from services.gateway.http.errors import no_namespace
from services.gateway.http.guard import Caller, GuardedRoute, Principal, needs
from services.gateway.http.params import DepsDep, Id, reply

router = APIRouter(prefix="/v1/pauses", tags=["operations"], route_class=GuardedRoute)
ADMIN = needs("admin")

Pausable = Literal["profiler", "parser", "chunker", "indexer"]


@router.get("", response_model=Pauses, openapi_extra=ADMIN)
async def list_pauses(deps: DepsDep) -> Response:
    """What is paused."""
    return await _answer(deps)


@router.put("/stages/{stage}", response_model=Pauses, openapi_extra=ADMIN)
async def pause(stage: Pausable, caller: Caller, deps: DepsDep) -> Response:
    """Give a stage no more messages; what it has in hand it finishes. Again changes nothing."""
    await note(deps, caller, Action.STAGE_PAUSE, stage, namespace=None)
    await pause_stage(deps.bus.js, deps.bus.prefix, Stage(stage), paused=True)
    return await _answer(deps)


@router.delete("/stages/{stage}", response_model=Pauses, openapi_extra=ADMIN)
async def resume(stage: Pausable, caller: Caller, deps: DepsDep) -> Response:
    """Let a stage go on."""
    await note(deps, caller, Action.STAGE_RESUME, stage, namespace=None)
    await pause_stage(deps.bus.js, deps.bus.prefix, Stage(stage), paused=False)
    return await _answer(deps)


@router.put("/namespaces/{namespace}", response_model=Pauses, openapi_extra=ADMIN)
async def pause_namespace(namespace: Id, caller: Caller, deps: DepsDep) -> Response:
    """Let no waiting job of a namespace begin; documents are still taken, and searched."""
    return await _set(deps, caller, namespace, paused=True)


@router.delete("/namespaces/{namespace}", response_model=Pauses, openapi_extra=ADMIN)
async def resume_namespace(namespace: Id, caller: Caller, deps: DepsDep) -> Response:
    """Let a namespace's waiting jobs begin again."""
    return await _set(deps, caller, namespace, paused=False)


async def _set(deps: Deps, caller: Principal, namespace: str, *, paused: bool) -> Response:
    action = Action.NAMESPACE_PAUSE if paused else Action.NAMESPACE_RESUME
    await note(deps, caller, action, namespace, namespace=namespace)
    if not await deps.stores.catalog.keys.pause(namespace, paused):
        raise no_namespace(namespace)
    return await _answer(deps)


async def _answer(deps: Deps) -> Response:
    stages = await paused_stages(deps.bus.js, deps.bus.prefix)
    namespaces = await deps.stores.catalog.keys.paused()
    return reply(Pauses(stages=[str(one) for one in stages], namespaces=namespaces))
