"""The HTTP application: routes, guard, errors, observation."""

from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.telemetry import TelemetryConfig
from starlette.routing import Route

from services.gateway.deps import Deps
from services.gateway.http import (
    admin,
    audit,
    collections,
    dead_letters,
    documents,
    enrich,
    erasures,
    errors,
    health,
    jobs,
    overview,
    pages,
    pauses,
    reading,
    review,
    runs,
    search,
    sections,
    uploads,
)
from services.gateway.http.guard import Gate, GuardedRoute
from services.gateway.http.linger import Linger
from services.gateway.http.mcp import Mcp
from services.gateway.http.methods import HeadAsGet, Methods
from services.gateway.http.observe import Observe

UNOBSERVED: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
}
"""The framework's own telemetry puts paths and messages into spans, which hold names and
upload tokens; `Observe` puts templates there."""

ROUTERS = (
    search.router,
    documents.router,
    overview.router,
    enrich.router,
    review.router,
    collections.router,
    uploads.router,
    jobs.router,
    reading.router,
    sections.router,
    erasures.router,
    runs.router,
    admin.router,
    dead_letters.router,
    audit.router,
    pauses.router,
    health.router,
    pages.router,
)


class Gateway(FastAPI):
    """FastAPI whose schema names the bearer keys that its routes ask for."""

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document, made once."""
        if self.openapi_schema is None:
            schema = get_openapi(
                title=self.title, version=self.version, summary=self.summary, routes=self.routes
            )
            schema.setdefault("components", {})["securitySchemes"] = {
                "bearer": {"type": "http", "scheme": "bearer"}
            }
            self.openapi_schema = schema
        return self.openapi_schema


def create_app(deps: Deps) -> FastAPI:
    """The application over these dependencies; opens nothing."""
    app = Gateway(
        title="Groundwire",
        version=version("groundwire"),
        summary="Documents in, cited evidence out.",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        telemetry=UNOBSERVED,
    )
    app.router.route_class = GuardedRoute
    app.state.deps = deps
    app.state.gate = Gate(deps.stores.catalog.keys, deps.clock)
    app.state.methods = Methods.of(ROUTERS)
    errors.install(app)
    for layer in (Observe, HeadAsGet, Linger):
        app.add_middleware(layer)
    for router in ROUTERS:
        app.include_router(router)
    app.state.mcp = Mcp(app)
    # without sessions the server has nothing to say by itself, so GET opens no stream
    app.router.routes.append(Route("/mcp", app.state.mcp, methods=["POST"]))
    return app
