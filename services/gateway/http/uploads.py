"""Upload links: for large files, and for senders that hold no key."""

import contextlib
from datetime import UTC, datetime

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import Response

from libs.contracts.base import Contract
from libs.contracts.base import Request as Command
from libs.contracts.faults import CallerFault, Code, DocumentFault
from libs.contracts.tokens import FileName
from services.gateway.deps import Deps
from services.gateway.http.errors import invalid, not_found
from services.gateway.http.guard import GuardedRoute, needs, public
from services.gateway.http.params import DepsDep, Namespaced, reply
from services.gateway.http.receive import media_type_of, too_large
from services.gateway.staging import new_upload_id, staging_key
from services.gateway.upload_links import Link, open_link, sign_link

router = APIRouter(tags=["documents"], route_class=GuardedRoute)

BINARY = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string"}}},
    }
}


class UploadRequested(Command):
    """What will be sent; `size` in bytes must be exact."""

    file_name: FileName
    size: int = Field(ge=1)
    media_type: str | None = Field(default=None, max_length=255)


class UploadLink(Contract):
    """Send the bytes to `url` with `method`, then name the document by `upload_id`."""

    upload_id: str
    url: str
    method: str = "PUT"
    expires_at: datetime


@router.post(
    "/v1/namespaces/{ns}/uploads",
    status_code=201,
    response_model=UploadLink,
    openapi_extra=needs("writer"),
)
async def make_upload(
    request: Request, ns: Namespaced, body: UploadRequested, deps: DepsDep
) -> Response:
    """A link that takes one file of this size for a while, without a key."""
    if body.size > deps.settings.max_upload_bytes:
        raise too_large(deps.settings.max_upload_bytes)
    link = Link(
        namespace=ns,
        upload_id=new_upload_id(),
        file_name=body.file_name,
        media_type=media_type_of(body.media_type),
        size=body.size,
        expires_at=deps.clock().timestamp() + deps.settings.upload_link_seconds,
    )
    token = sign_link(deps.upload_secret(), link)
    return reply(
        UploadLink(
            upload_id=token,
            url=f"{str(request.base_url).rstrip('/')}/v1/uploads/{token}",
            expires_at=datetime.fromtimestamp(link.expires_at, UTC),
        ),
        201,
    )


@router.put("/v1/uploads/{token}", status_code=204, openapi_extra=public(**BINARY))
async def put_upload(request: Request, token: str, deps: DepsDep) -> Response:
    """Send the bytes that were announced; the link is the authority."""
    link = open_link(deps.upload_secret(), token)
    if link is None or link.expires_at < deps.clock().timestamp():
        raise not_found("the upload link (unknown or expired)")
    await _receive(request, deps, link)
    return Response(status_code=204)


async def _receive(request: Request, deps: Deps, link: Link) -> None:
    objects = deps.stores.objects
    key = staging_key(link.namespace, link.upload_id)
    try:
        info = await objects.put(
            key, request.stream(), media_type=link.media_type, max_bytes=link.size, durable=True
        )
    except DocumentFault as fault:
        if fault.code is not Code.TOO_LARGE:
            raise
        raise CallerFault(
            Code.TOO_LARGE, f"more than the {link.size} bytes that were announced", 413
        ) from None
    if info.size != link.size:
        with contextlib.suppress(KeyError):
            await objects.delete([key])
        raise invalid(f"{info.size} bytes came where {link.size} were announced")
