"""Namespaces, keys and usage, for the role admin; and who asks, for everybody."""

import asyncio
import hashlib
import secrets
from datetime import timedelta
from typing import Annotated, get_args

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from libs.contracts.api.audit import Action
from libs.contracts.api.documents import JobState, KeyView, Page, Role, Self, Usage
from libs.contracts.base import Request as Command
from libs.contracts.faults import CallerFault, Code
from libs.contracts.tokens import Namespace, PlainText, new_id
from libs.runtime.catalog.keys import KeyRecord
from services.gateway.audit import note
from services.gateway.deps import Deps
from services.gateway.http.errors import no_namespace, not_found
from services.gateway.http.guard import Caller, GateDep, GuardedRoute, needs
from services.gateway.http.paging import page_of
from services.gateway.http.params import Cursor, DepsDep, Id, Limit, reply
from services.gateway.http.views import key_view

router = APIRouter(prefix="/v1", tags=["administration"], route_class=GuardedRoute)
ADMIN = needs("admin")
SECRET_BYTES = 32
MAX_OVERLAP_SECONDS = 30 * 86_400

Wanted = Annotated[Namespace | None, Query(description="only of this namespace")]

Overlap = Annotated[
    int,
    Query(ge=0, le=MAX_OVERLAP_SECONDS, description="how long the old key stays good, in seconds"),
]


class NewNamespace(Command):
    """A namespace to make."""

    namespace: Namespace


class NewKey(Command):
    """A key to make; `label` is for people."""

    namespace: Namespace
    role: Role
    label: PlainText = Field(default="", max_length=200)


@router.get("/self", response_model=Self, openapi_extra=needs("reader"))
async def who_asks(caller: Caller) -> Response:
    """Which key asks: its id, namespace and role."""
    return reply(Self(key_id=caller.key_id, namespace=caller.namespace, role=caller.role))


@router.get("/namespaces", response_model=Page[str], openapi_extra=ADMIN)
async def list_namespaces(deps: DepsDep, cursor: Cursor = None, limit: Limit = 50) -> Response:
    """All namespaces, by name."""
    known = await deps.stores.catalog.keys.list_namespaces()
    page, more = page_of(known, str, cursor, limit)
    return reply(Page[str](items=page, next_cursor=more))


@router.post("/namespaces", status_code=201, response_model=NewNamespace, openapi_extra=ADMIN)
async def create_namespace(
    body: NewNamespace, caller: Caller, deps: DepsDep, gate: GateDep
) -> Response:
    """Make a namespace; 409 when it is there."""
    name = body.namespace
    await note(deps, caller, Action.NAMESPACE_CREATE, name, namespace=name)
    if not await deps.stores.catalog.keys.create_namespace(name):
        raise CallerFault(Code.CONFLICT, f"the namespace {name} exists", 409)
    gate.forget()
    return reply(body, 201)


@router.get("/keys", response_model=Page[KeyView], openapi_extra=ADMIN)
async def list_keys(
    deps: DepsDep, namespace: Wanted = None, cursor: Cursor = None, limit: Limit = 50
) -> Response:
    """Keys, oldest first, revoked ones included; never their secrets."""
    found = await deps.stores.catalog.keys.select(namespace)
    page, more = page_of(found, lambda key: key.key_id, cursor, limit)
    return reply(Page[KeyView](items=[key_view(key) for key in page], next_cursor=more))


@router.post("/keys", status_code=201, response_model=KeyView, openapi_extra=ADMIN)
async def create_key(body: NewKey, caller: Caller, deps: DepsDep) -> Response:
    """Make a key in a namespace that exists; its secret is in this answer only."""
    if body.namespace not in await deps.stores.catalog.keys.list_namespaces():
        raise no_namespace(body.namespace)
    fresh, secret = _fresh(deps, body.namespace, body.role, body.label)
    await note(
        deps, caller, Action.KEY_CREATE, fresh.key_id, namespace=fresh.namespace, role=fresh.role
    )
    await deps.stores.catalog.keys.add(fresh)
    return reply(key_view(fresh, secret), 201)


@router.post("/keys/{key_id}/rotate", status_code=201, response_model=KeyView, openapi_extra=ADMIN)
async def rotate_key(
    key_id: Id, caller: Caller, deps: DepsDep, gate: GateDep, overlap_seconds: Overlap = 0
) -> Response:
    """A new key of the same namespace, role and label; the old one ends at once, or is good
    beside it for a while."""
    old = await _live(deps, key_id)
    fresh, secret = _fresh(deps, old.namespace, old.role, old.label)
    await note(
        deps, caller, Action.KEY_ROTATE, key_id, namespace=old.namespace,
        successor=fresh.key_id, overlap_seconds=overlap_seconds,
    )  # fmt: skip
    keys = deps.stores.catalog.keys
    await keys.add(fresh)
    await keys.revoke(key_id, deps.clock() + timedelta(seconds=overlap_seconds))
    gate.forget()
    return reply(key_view(fresh, secret), 201)


@router.delete("/keys/{key_id}", status_code=204, openapi_extra=ADMIN)
async def revoke_key(key_id: Id, caller: Caller, deps: DepsDep, gate: GateDep) -> Response:
    """End a key: here at once, in other replicas within seconds."""
    old = await _live(deps, key_id)
    await note(deps, caller, Action.KEY_REVOKE, key_id, namespace=old.namespace)
    if not await deps.stores.catalog.keys.revoke(key_id):
        raise not_found("the key")
    gate.forget()
    return Response(status_code=204)


@router.get("/usage", response_model=Page[Usage], openapi_extra=ADMIN)
async def usage(
    deps: DepsDep, namespace: Wanted = None, cursor: Cursor = None, limit: Limit = 50
) -> Response:
    """What each namespace holds and has in work, by name; 404 for one that is not there."""
    known = await deps.stores.catalog.keys.list_namespaces()
    if namespace is not None and namespace not in known:
        raise no_namespace(namespace)
    page, more = page_of([n for n in known if namespace in (None, n)], str, cursor, limit)
    return reply(Page[Usage](items=[await _usage(deps, n) for n in page], next_cursor=more))


async def _usage(deps: Deps, namespace: str) -> Usage:
    catalog = deps.stores.catalog
    states: tuple[JobState, ...] = get_args(JobState)
    counts = await asyncio.gather(*(catalog.jobs.count(namespace, s) for s in states))
    active = await catalog.documents.active_set(namespace)
    keys = await catalog.keys.select(namespace)
    return Usage(
        namespace=namespace,
        documents=len(active.revisions),
        chunks=sum(r.chunk_count for r in active.revisions),
        keys=sum(k.live(deps.clock()) for k in keys),
        jobs=dict(zip(states, counts, strict=True)),
    )


def _fresh(deps: Deps, namespace: str, role: Role, label: str) -> tuple[KeyRecord, str]:
    """A key that is not stored yet, and its secret."""
    secret = f"gw_{secrets.token_urlsafe(SECRET_BYTES)}"
    record = KeyRecord(
        key_id=new_id("key"),
        namespace=namespace,
        role=role,
        label=label,
        secret_hash=hashlib.sha256(secret.encode()).hexdigest(),
        created_at=deps.clock(),
    )
    return record, secret


async def _live(deps: Deps, key_id: str) -> KeyRecord:
    for key in await deps.stores.catalog.keys.select(None):
        if key.key_id == key_id and key.live(deps.clock()):
            return key
    raise not_found("the key")
