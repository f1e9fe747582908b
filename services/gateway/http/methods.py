"""HEAD on everything that answers GET, and which methods a path takes."""

from collections.abc import Iterable
from dataclasses import dataclass
from re import Pattern

from fastapi import APIRouter
from fastapi.routing import APIRoute
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

HEADLESS = "groundwire.headless"


@dataclass(frozen=True)
class Methods:
    """The methods of every path, as its routes declare them."""

    routes: tuple[tuple[Pattern[str], frozenset[str]], ...]

    @classmethod
    def of(cls, routers: Iterable[APIRouter]) -> "Methods":
        """Of all routes of routers that are included without a prefix."""
        return cls(
            tuple(
                (route.path_regex, frozenset(route.methods or ()))
                for router in routers
                for route in router.routes
                if isinstance(route, APIRoute)
            )
        )

    def allow(self, path: str) -> str:
        """What stands in `Allow`: sorted, HEAD wherever GET is; empty for an unknown path."""
        found = {m for regex, methods in self.routes if regex.match(path) for m in methods}
        return ", ".join(sorted(found | {"HEAD"} if "GET" in found else found))


class HeadAsGet:
    """Serves HEAD by the route of GET; `headless` then takes the body away."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http" and scope["method"] == "HEAD":
            scope = {**scope, "method": "GET", HEADLESS: True}
        await self._app(scope, receive, send)


def headless(scope: Scope, response: Response) -> Response:
    """The answer to HEAD: status and headers of this one; a stream is never begun."""
    if not scope.get(HEADLESS):
        return response
    bare = Response(status_code=response.status_code)
    bare.raw_headers = response.raw_headers
    return bare
