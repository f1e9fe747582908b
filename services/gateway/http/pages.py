"""The pages of the interface itself: its documentation and where to begin.

Nothing on them is fetched from elsewhere and nothing on them runs.
"""

from html import escape
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from services.gateway.http.guard import PUBLIC, GuardedRoute, public

router = APIRouter(tags=["docs"], route_class=GuardedRoute, include_in_schema=False)

STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}"
    "code{background:#8881;padding:.1em .3em}table{border-collapse:collapse;width:100%}"
    "td{border-top:1px solid #8884;padding:.4rem;vertical-align:top}"
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
    """Where to begin."""
    return _page(
        "Groundwire",
        "<p>Documents in, cited evidence out.</p>"
        '<ul><li><a href="/docs">The API</a>, also as <a href="/openapi.json">OpenAPI</a></li>'
        '<li><a href="/readyz">Is it ready?</a></li></ul>',
    )


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


def _page(title: str, body: str) -> HTMLResponse:
    html = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{STYLE}</style><h1>{escape(title)}</h1>{body}</html>"
    )
    return HTMLResponse(html, headers={"Content-Security-Policy": POLICY})
