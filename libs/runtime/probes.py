"""A service's own HTTP port: `/healthz`, `/readyz`, `/metrics`."""

import asyncio
import contextlib
import json
import socket
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import uvicorn

from libs.contracts.faults import Fault
from libs.runtime.heads import BoundedHttp
from libs.runtime.telemetry import metrics_page

Check = Callable[[], Awaitable[None]]
READY_TIMEOUT_SECONDS = 3.0


class HttpServer(uvicorn.Server):
    """Uvicorn that leaves signals to us: its own handling ends the process too early."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do not touch signal handlers."""
        yield


async def not_ready(checks: dict[str, Check]) -> dict[str, str]:
    """The checks that fail, by name, with the reason; empty when ready."""
    failed: dict[str, str] = {}
    for name, check in checks.items():
        try:
            await asyncio.wait_for(check(), READY_TIMEOUT_SECONDS)
        except Fault as fault:
            failed[name] = fault.detail
        except Exception as error:
            failed[name] = type(error).__name__
    return failed


def probe_app(stage: str, checks: dict[str, Check]) -> Any:
    """The ASGI application of the probes."""

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        status, body, kind = 404, b"not found\n", b"text/plain"
        if scope["path"] == "/healthz":
            status, body = 200, b"ok\n"
        elif scope["path"] == "/readyz":
            failed = await not_ready(checks)
            status, kind = (503 if failed else 200), b"application/json"
            body = json.dumps({"service": stage, "ready": not failed, "failed": failed}).encode()
        elif scope["path"] == "/metrics":
            accept = dict(scope["headers"]).get(b"accept", b"").decode("latin-1")
            body, media_type = metrics_page(accept)
            status, kind = 200, media_type.encode()
        headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return app


def http_server(app: Any, host: str, port: int) -> tuple[HttpServer, socket.socket]:
    """A server for `app` and its bound socket; port 0 picks a free one."""
    bound = socket.create_server((host, port), reuse_port=False)
    bound.setblocking(False)
    config = uvicorn.Config(
        app,
        http=BoundedHttp,
        ws="none",
        log_config=None,
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=1,
        server_header=False,
        timeout_keep_alive=30,
    )
    return HttpServer(config), bound
