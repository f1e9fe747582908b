"""Probes and metrics."""

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.responses import JSONResponse, PlainTextResponse, Response

from libs.runtime.probes import not_ready
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
async def metrics() -> Response:
    """Prometheus metrics of this process."""
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)
