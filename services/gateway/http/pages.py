"""The pages of the interface itself: the web page for people, and the documentation.

Nothing is fetched from elsewhere, and only the page's own scripts run: its policy lets no
inline script, no frame, no form and no other origin in.
"""

from html import escape
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from services.gateway.http.errors import not_found
from services.gateway.http.guard import PUBLIC, GuardedRoute, public

router = APIRouter(tags=["docs"], route_class=GuardedRoute, include_in_schema=False)

STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}"
    "code{background:#8881;padding:.1em .3em}table{border-collapse:collapse;width:100%}"
    "td{border-top:1px solid #8884;padding:.4rem;vertical-align:top}"
    "table{table-layout:fixed}td:first-child{width:5rem}td:nth-child(2){width:45%}"
    "td:nth-child(3){width:5rem}td code{overflow-wrap:anywhere}:root{color-scheme:light dark}"
)
WEB = Path(__file__).parent.parent / "web"
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
PARTS = frozenset(path.name for path in WEB.iterdir() if path.suffix in {".css", ".js"})
WEB_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"


@router.get("/openapi.json", openapi_extra=public())
async def openapi(request: Request) -> Response:
    """The OpenAPI document."""
    return JSONResponse(request.app.openapi())


@router.get("/docs", openapi_extra=public())
async def docs(request: Request) -> Response:
    """Every operation, from the OpenAPI document."""
    return _page("Groundwire API", operations_html(request.app.openapi()))


@router.get("/", openapi_extra=public())
async def root() -> Response:
    """The web page."""
    return _file("index.html")


@router.get("/web/{name}", openapi_extra=public())
async def part(name: str) -> Response:
    """A script or style of the web page."""
    if name not in PARTS:
        raise not_found("this part of the page")
    return _file(name)


def operations_html(schema: dict[str, Any]) -> str:
    """One table a tag: method, path, role, and what the operation does."""
    groups: dict[str, list[str]] = {}
    for path, item in schema["paths"].items():
        for method, operation in item.items():
            role = operation.get("x-role", PUBLIC)
            cells = (
                f"<code>{escape(method.upper())}</code>",
                f"<code>{escape(path)}</code>",
                escape("" if role == PUBLIC else role),
                escape(operation.get("description") or operation.get("summary", "")),
            )
            row = "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
            groups.setdefault((operation.get("tags") or ["other"])[0], []).append(row)
    return (
        "<p>Send <code>Authorization: Bearer &lt;key&gt;</code>. "
        'The whole schema: <a href="/openapi.json">openapi.json</a>.</p>'
    ) + "".join(f"<h2>{escape(t)}</h2><table>{''.join(r)}</table>" for t, r in groups.items())


def _file(name: str) -> Response:
    headers = {
        "Content-Security-Policy": WEB_POLICY,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-cache",
    }
    path = WEB / name
    return Response(path.read_bytes(), headers=headers, media_type=TYPES[path.suffix])


def _page(title: str, body: str) -> HTMLResponse:
    html = (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title>"
        f"<style>{STYLE}</style><h1>{escape(title)}</h1>{body}</html>"
    )
    return HTMLResponse(html, headers={"Content-Security-Policy": POLICY})
