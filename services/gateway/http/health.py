"""Probes and metrics."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from libs.runtime.probes import not_ready
from libs.runtime.telemetry import metrics_page
from services.gateway.http.guard import GuardedRoute, public
from services.gateway.http.params import DepsDep

router = APIRouter(tags=["health"], route_class=GuardedRoute)


@router.get("/healthz", response_class=PlainTextResponse, openapi_extra=public())
async def healthz() -> Response:
    """The process answers."""
    return PlainTextResponse("ok\n")


@router.get("/readyz", openapi_extra=public())
async def readyz(deps: DepsDep) -> Response:
    """Everything that an answer needs is there; 503 names what is not."""
    failed = await not_ready(dict(deps.checks))
    body = {"service": "gateway", "ready": not failed, "failed": failed}
    return JSONResponse(body, 503 if failed else 200)


@router.get("/metrics", response_class=PlainTextResponse, openapi_extra=public())
async def metrics(request: Request) -> Response:
    """Prometheus metrics of this process."""
    body, media_type = metrics_page(request.headers.get("accept", ""))
    return Response(body, media_type=media_type)
