"""Who may do what: API keys, roles and the isolation of namespaces, before all else.

Every route says which role it needs; one that does not is refused when the application is
made. The guard runs before the body is read, so a stranger learns nothing from validation.
"""

import hashlib
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from libs.contracts.api.documents import Role
from libs.contracts.faults import CallerFault, Code
from libs.runtime.catalog.keys import KeyRecord, KeyStore
from services.gateway.http.body import MAX_BODY_BYTES, bounded
from services.gateway.http.methods import headless

RANKS: dict[Role, int] = {"reader": 0, "writer": 1, "operator": 2, "admin": 3}
CACHE_SECONDS = 3.0
CACHE_ENTRIES = 4096
MAX_SECRET_CHARS = 512
PUBLIC = "public"


@dataclass(frozen=True)
class Principal:
    """The key that asks: its id, namespace and role."""

    key_id: str
    namespace: str
    role: Role

    def may(self, role: Role) -> bool:
        """Whether the key has at least this role."""
        return RANKS[self.role] >= RANKS[role]


def needs(role: Role, **extra: Any) -> dict[str, Any]:
    """What a route declares as `openapi_extra`: the least role that may call it."""
    return {"x-role": role, "security": [{"bearer": []}], **extra}


def public(**extra: Any) -> dict[str, Any]:
    """A route that asks for no key."""
    return {"x-role": PUBLIC, **extra}


class Gate:
    """Checks keys, remembering good ones for a few seconds so that revocation is quick."""

    def __init__(self, keys: KeyStore, clock: Callable[[], datetime]) -> None:
        self._keys = keys
        self._clock = clock
        self._known: dict[str, tuple[float, KeyRecord]] = {}
        self._namespaces: dict[str, float] = {}

    def forget(self) -> None:
        """Ask the catalog again for every key: one was made or revoked here."""
        self._known.clear()
        self._namespaces.clear()

    async def enter(
        self, authorization: str | None, role: Role, namespace: str | None
    ) -> Principal:
        """The key's owner, if it may pass.

        Raises 401 without a live key, 404 for a namespace that is not the key's or does not
        exist, 403 for a role that is too low.
        """
        principal = await self._principal(authorization)
        if namespace is not None and not await self._reaches(principal, namespace):
            raise CallerFault(Code.NOT_FOUND, "there is no such namespace for this key", 404)
        if not principal.may(role):
            raise CallerFault(
                Code.FORBIDDEN, f"this needs a key of role {role}; yours is {principal.role}", 403
            )
        return principal

    async def _principal(self, authorization: str | None) -> Principal:
        secret = bearer_of(authorization)
        digest = hashlib.sha256(secret.encode()).hexdigest()
        now = self._clock().timestamp()
        cached = self._known.get(digest)
        if cached is None or cached[0] < now:
            record = await self._keys.find(digest)
            if record is None:
                self._known.pop(digest, None)
                raise _unauthenticated("the key is unknown or revoked")
            if len(self._known) >= CACHE_ENTRIES:
                self._known.clear()
            until = now + CACHE_SECONDS
            if record.revoked_at is not None:
                until = min(until, record.revoked_at.timestamp())
            cached = self._known[digest] = (until, record)
        record = cached[1]
        return Principal(record.key_id, record.namespace, record.role)

    async def _reaches(self, principal: Principal, namespace: str) -> bool:
        if principal.namespace == namespace:
            return True
        return principal.role == "admin" and await self._exists(namespace)

    async def _exists(self, namespace: str) -> bool:
        now = self._clock().timestamp()
        if self._namespaces.get(namespace, 0.0) < now:
            until = now + CACHE_SECONDS
            self._namespaces = dict.fromkeys(await self._keys.list_namespaces(), until)
        return namespace in self._namespaces


def bearer_of(authorization: str | None) -> str:
    """The key in an `Authorization` header. Raises 401 when there is none."""
    scheme, _, secret = (authorization or "").partition(" ")
    secret = secret.strip()
    if scheme.lower() != "bearer" or not secret or len(secret) > MAX_SECRET_CHARS:
        raise _unauthenticated("send a key: Authorization: Bearer <key>")
    return secret


def _unauthenticated(detail: str) -> CallerFault:
    return CallerFault(Code.UNAUTHENTICATED, detail, 401)


class GuardedRoute(APIRoute):
    """A route that lets nobody in before its role is shown, and reads no endless body."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The framework's handler behind the guard."""
        inner = super().get_route_handler()
        role = (self.openapi_extra or {}).get("x-role")
        if role is None:
            raise RuntimeError(f"route {self.path} does not say which role it needs")
        takes_body = self.body_field is not None

        async def handle(request: Request) -> Response:
            if role != PUBLIC:
                gate: Gate = request.app.state.gate
                request.state.principal = await gate.enter(
                    request.headers.get("authorization"), role, request.path_params.get("ns")
                )
            if takes_body:
                request = await bounded(request, MAX_BODY_BYTES)
            return headless(request.scope, await inner(request))

        return handle


async def _principal_of(request: Request) -> Principal:
    principal: Principal = request.state.principal
    return principal


async def _gate_of(request: Request) -> Gate:
    gate: Gate = request.app.state.gate
    return gate


Caller = Annotated[Principal, Depends(_principal_of)]
GateDep = Annotated[Gate, Depends(_gate_of)]
