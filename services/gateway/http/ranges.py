"""Stored objects over HTTP: entity tags, conditional requests, one byte range."""

import re
from dataclasses import dataclass
from urllib.parse import quote

from fastapi import Request
from starlette.responses import Response, StreamingResponse

from libs.contracts.events.base import ArtefactRef
from libs.contracts.faults import CallerFault, Code
from libs.runtime.objects.port import ObjectInfo, ObjectStore
from services.gateway.http.errors import not_found

INLINE = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "application/json"})
"""What a browser may show; anything else is a download. Markup and SVG never are shown."""

SANDBOX = "default-src 'none'; sandbox"
_RANGE = re.compile(r"^bytes=(\d{0,18})-(\d{0,18})$")


@dataclass(frozen=True)
class Served:
    """How an object is to be presented."""

    file_name: str
    media_type: str


async def serve(request: Request, objects: ObjectStore, ref: ArtefactRef, as_: Served) -> Response:
    """The object, a range of it, or 304. 404 when it is not in the store any more.

    Nothing of it runs in a browser: other types than plain images are attachments, and the
    content security policy takes scripts, styles and origin from whatever is opened.
    """
    info = await objects.stat(ref.key)
    if info is None:
        raise not_found("the stored object")
    tag = f'"{info.sha256}"'
    headers = {
        "ETag": tag,
        "Accept-Ranges": "bytes",
        "Cache-Control": "private, no-cache",
        "Content-Security-Policy": SANDBOX,
        "Content-Disposition": disposition(as_),
        "X-Content-Type-Options": "nosniff",
    }
    if names_tag(request.headers.get("if-none-match"), tag):
        return Response(status_code=304, headers=headers)
    wanted = _range_of(request, tag, info)
    start, end = wanted or (0, info.size)
    if wanted is not None:
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{info.size}"
    headers["Content-Length"] = str(end - start)
    return StreamingResponse(
        objects.stream(ref.key, start, end),
        206 if wanted is not None else 200,
        headers=headers,
        media_type=as_.media_type,
    )


def disposition(as_: Served) -> str:
    """Content-Disposition with the name in both spellings of RFC 6266."""
    kind = "inline" if as_.media_type in INLINE else "attachment"
    plain = re.sub(r"[^A-Za-z0-9._ -]", "_", as_.file_name)
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(as_.file_name, safe='')}"


def byte_range(header: str, size: int) -> tuple[int, int] | None:
    """Start and exclusive end of `bytes=…`; None for what may be ignored (several ranges,
    another unit). Raises 416 for a range that lies outside."""
    match = _RANGE.match(header.strip())
    if match is None or not (match[1] or match[2]):
        return None
    if not match[1]:
        start, end = max(size - int(match[2]), 0), size
    else:
        start = int(match[1])
        end = min(int(match[2]) + 1, size) if match[2] else size
        if match[2] and int(match[2]) < start:
            return None
    if start >= end:
        raise CallerFault(Code.INVALID, f"the range lies outside of the {size} bytes", 416)
    return start, end


def _range_of(request: Request, tag: str, info: ObjectInfo) -> tuple[int, int] | None:
    header = request.headers.get("range")
    condition = request.headers.get("if-range")
    if header is None or (condition is not None and condition != tag):
        return None
    return byte_range(header, info.size)


def names_tag(header: str | None, tag: str) -> bool:
    """Whether an `If-None-Match` header names the entity tag."""
    if header is None:
        return False
    tags = [t.strip().removeprefix("W/") for t in header.split(",")]
    return "*" in tags or tag in tags
