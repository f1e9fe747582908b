"""`/mcp`: the agents' tools over streamable HTTP, without sessions, so that any replica answers.

The tools call this very application with the caller's key, so whatever holds for the HTTP
interface holds for them. The protocol's library is imported with the first request.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import httpx
from fastapi import FastAPI
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from libs.client.asynchronous import AsyncClient
from libs.client.retry import Retry
from libs.contracts.faults import CallerFault
from services.gateway.http.errors import problem_response
from services.gateway.http.guard import Gate, bearer_of

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

MAX_BODY_BYTES = 8 * 1024 * 1024
CALL_SECONDS = 60.0


class Mcp:
    """The ASGI application behind `/mcp`."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._manager: StreamableHTTPSessionManager | None = None
        self._starting = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; without a live key it is 401, as everywhere."""
        headers = Request(scope).headers
        try:
            await self._gate.enter(headers.get("authorization"), "reader", None)
        except CallerFault as fault:
            await problem_response(fault)(scope, receive, send)
            return
        manager = await self._started()
        await manager.handle_request(scope, receive, send)

    async def close(self) -> None:
        """End what runs; the end of the event loop does it as well."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    @property
    def _gate(self) -> Gate:
        gate: Gate = self._app.state.gate
        return gate

    async def _started(self) -> "StreamableHTTPSessionManager":
        async with self._starting:
            if self._manager is None:
                manager = await asyncio.to_thread(self._make)
                ready = asyncio.Event()
                self._task = asyncio.create_task(_run(manager, ready))
                await ready.wait()
                self._manager = manager
        return self._manager

    def _make(self) -> "StreamableHTTPSessionManager":
        from mcp.server.transport_security import TransportSecuritySettings

        from libs.client.mcp.server import make_server

        server = make_server(self._client)
        server.streamable_http_app(
            json_response=True,
            stateless_http=True,
            max_request_body_size=MAX_BODY_BYTES,
            # a page of another origin has no key to show: there are no cookies
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        return server.session_manager

    @asynccontextmanager
    async def _client(self, headers: Mapping[str, str] | None) -> AsyncIterator[AsyncClient]:
        given = headers or {}
        principal = await self._gate.enter(given.get("authorization"), "reader", None)
        transport = httpx.ASGITransport(self._app)
        async with AsyncClient(
            "http://gateway",
            bearer_of(given.get("authorization")),
            principal.namespace,
            timeout=CALL_SECONDS,
            retry=Retry(tries=1),
            transport=transport,
        ) as client:
            yield client


async def _run(manager: "StreamableHTTPSessionManager", ready: asyncio.Event) -> None:
    async with manager.run():
        ready.set()
        await asyncio.Event().wait()
