"""The outermost layer: one server span, one log line's worth of metrics, no bare errors."""

import time

from opentelemetry.trace import Span, SpanKind, StatusCode
from prometheus_client import Counter, Histogram
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from libs.runtime.telemetry import exemplar_of
from libs.runtime.tracing import current_traceparent, extract, record_error, tracer
from services.gateway.http.errors import internal_error

REQUESTS = Counter(
    "groundwire_http_requests_total", "HTTP requests, by route and status", ["route", "status"]
)
SECONDS = Histogram(
    "groundwire_http_seconds",
    "Time to the end of an answer, in seconds",
    ["route"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60),
)
UNMATCHED = "unmatched"
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "QUERY"}
OTHER = "_OTHER"
"""A method that nobody knows is the client's own text."""
CLIENT_GONE = 499


class Observe:
    """Accepts `traceparent`, returns it, and answers an unexpected error as a problem.

    Spans and metrics carry the route's template, never a path: paths hold names.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        method = scope["method"] if scope["method"] in METHODS else "HTTP"
        with tracer().start_as_current_span(
            method,
            context=extract(Headers(scope=scope)),
            kind=SpanKind.SERVER,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            status = await self._serve(scope, receive, send, span)
            route = route_of(scope)
            span.update_name(f"{method} {route}")
            span.set_attribute("http.request.method", OTHER if method == "HTTP" else method)
            span.set_attribute("url.scheme", scope["scheme"])
            span.set_attribute("http.route", route)
            span.set_attribute("http.response.status_code", status)
            if status >= 500:
                span.set_status(StatusCode.ERROR)
        REQUESTS.labels(route, str(status)).inc()
        SECONDS.labels(route).observe(time.perf_counter() - started, exemplar_of(span))

    async def _serve(self, scope: Scope, receive: Receive, send: Send, span: Span) -> int:
        status = 0
        traceparent = current_traceparent()

        async def observed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers.setdefault("X-Content-Type-Options", "nosniff")
                headers.setdefault("Cache-Control", "no-store")
                if traceparent is not None:
                    headers["traceparent"] = traceparent
            await send(message)

        try:
            await self._app(scope, receive, observed)
        except ClientDisconnect:
            return status or CLIENT_GONE
        except Exception as error:
            record_error(span, error)
            if status:
                raise
            await internal_error(error)(scope, receive, observed)
        return status


def route_of(scope: Scope) -> str:
    """The template of the route that served the request."""
    route = scope.get("route")
    path = getattr(route, "path_format", None) or getattr(route, "path", None)
    return str(path) if path else UNMATCHED
