"""Every error of the HTTP interface as a problem document (RFC 9457)."""

import math
from collections.abc import Awaitable, Callable
from typing import Any, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from libs.contracts.api.problem import problem_of
from libs.contracts.faults import CallerFault, Code, DocumentFault, Fault, WorldFault
from libs.runtime.telemetry import logger, trace_id
from services.gateway.http.methods import Methods

MEDIA_TYPE = "application/problem+json"
MAX_FIELDS = 5
MAX_FIELD_CHARS = 80
MAX_MESSAGE_CHARS = 200

log = logger("gateway.http")

_CODES = {
    401: Code.UNAUTHENTICATED,
    403: Code.FORBIDDEN,
    404: Code.NOT_FOUND,
    409: Code.CONFLICT,
    413: Code.TOO_LARGE,
    429: Code.TOO_MANY,
}
_DETAILS = {
    404: "nothing is served at this path",
    405: "this path does not take this method",
    413: "the body is too large",
}


def not_found(thing: str) -> CallerFault:
    """The answer to an unknown id and to another namespace's alike."""
    return CallerFault(Code.NOT_FOUND, f"{thing} was not found in this namespace", 404)


def no_namespace(name: str) -> CallerFault:
    """The answer to a namespace that is unknown, or another's."""
    return CallerFault(Code.NOT_FOUND, f"there is no namespace {name}", 404)


def invalid(detail: str, status: int = 422) -> CallerFault:
    """The request cannot be served as it stands."""
    return CallerFault(Code.INVALID, detail, status)


def status_of(fault: Fault) -> int:
    """Caller → its own; the document → 422, or 413 when it is too large; the world → 503."""
    if isinstance(fault, CallerFault):
        return fault.status
    if isinstance(fault, DocumentFault):
        return 413 if fault.code is Code.TOO_LARGE else 422
    if isinstance(fault, WorldFault):
        return 504 if fault.code is Code.TIMEOUT else 503
    return 500


def problem_response(fault: Fault, headers: dict[str, str] | None = None) -> Response:
    """The fault as an answer, with Retry-After where waiting helps."""
    status = status_of(fault)
    out = dict(headers or {})
    retry_after = getattr(fault, "retry_after", None)
    if retry_after is None and status == 503:
        retry_after = 1.0
    if retry_after is not None:
        out["Retry-After"] = str(max(1, math.ceil(retry_after)))
    if status == 401:
        out["WWW-Authenticate"] = "Bearer"
    body = problem_of(fault, status, trace_id()).model_dump_json()
    return Response(body, status, headers=out, media_type=MEDIA_TYPE)


def internal_error(error: Exception) -> Response:
    """Our bug: logged in full, answered without internals."""
    log.error("request failed", error=type(error).__name__, exc_info=error)
    return problem_response(
        Fault(Code.INTERNAL, "an unexpected error; the trace id leads to it in the logs")
    )


def describe(error: RequestValidationError) -> str:
    """One sentence that names the fields that are wrong, never what was sent in them."""
    parts = []
    for entry in error.errors()[:MAX_FIELDS]:
        field = ".".join(str(p)[:MAX_FIELD_CHARS] for p in entry["loc"] if p != "body") or "body"
        parts.append(f"{field}: {str(entry['msg'])[:MAX_MESSAGE_CHARS]}")
    more = len(error.errors()) - MAX_FIELDS
    return "; ".join(parts) + (f"; and {more} more" if more > 0 else "")


async def _on_fault(_request: Request, error: Exception) -> Response:
    fault = cast(Fault, error)
    if status_of(fault) == 500:
        log.error("request failed", code=str(fault.code), exc_info=fault)
    return problem_response(fault)


async def _on_invalid(_request: Request, error: Exception) -> Response:
    return problem_response(invalid(describe(cast(RequestValidationError, error))))


async def _on_http(request: Request, error: Exception) -> Response:
    http = cast(HTTPException, error)
    code = _CODES.get(http.status_code, Code.INVALID)
    detail = _DETAILS.get(http.status_code, str(http.detail))
    headers = dict(http.headers or {})
    if http.status_code == 405:
        methods: Methods = request.app.state.methods
        headers["Allow"] = methods.allow(request.url.path) or headers.get("Allow", "")
    return problem_response(CallerFault(code, detail, http.status_code), headers)


def install(app: FastAPI) -> None:
    """Answer faults, validation errors and the framework's own errors as problems."""
    handlers: dict[Any, Callable[[Request, Exception], Awaitable[Response]]] = {
        Fault: _on_fault,
        RequestValidationError: _on_invalid,
        HTTPException: _on_http,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)
