"""From an upload request to an arrival: the file staged, the fields checked."""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeVar

import orjson
from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field, ValidationError

from libs.contracts.api.ingest import IngestOptions
from libs.contracts.base import Request as Command
from libs.contracts.faults import CallerFault, Code, DocumentFault, Fault
from libs.contracts.tokens import DocumentId, FileName, safe_file_name
from libs.runtime.objects.port import ObjectInfo
from services.gateway.admission import Arrival
from services.gateway.deps import Deps
from services.gateway.fetch import MAX_URL_CHARS, Fetcher
from services.gateway.http import multipart
from services.gateway.http.body import check_json, has_key, read_limited
from services.gateway.http.errors import invalid, not_found
from services.gateway.staging import new_upload_id, staging_key
from services.gateway.upload_links import Link, open_link

M = TypeVar("M", bound=BaseModel)

FORM_ROOM_BYTES = 1 << 20
SMALL_BYTES = 1 << 18
"""A file in a form up to this size goes straight to its place, once its revision is known."""

MAX_JSON_BYTES = 65_536
MAX_KEY_CHARS = 255
FETCH_SECONDS = 120.0
FIELDS = ("file", "document_id", "options")

_MEDIA_TYPE = re.compile(r"^[a-z0-9!#$&^_.+-]{1,127}/[a-z0-9!#$&^_.+-]{1,127}$")


class FormFields(Command):
    """The fields beside the file."""

    document_id: DocumentId | None = None
    options: IngestOptions = Field(default_factory=IngestOptions)


class DocumentFromUpload(FormFields):
    """The JSON body of `POST /documents`: a file that was sent to an upload link."""

    upload_id: str = Field(min_length=1, max_length=4096)
    file_name: FileName | None = None


class DocumentFromUrl(FormFields):
    """The JSON body of `POST /documents`: a file to be fetched from an allowed host."""

    url: str = Field(min_length=1, max_length=MAX_URL_CHARS)
    file_name: FileName | None = None


@dataclass
class _Form:
    staged: ObjectInfo | None = None
    body: bytes | None = None
    file_name: str = ""
    media_type: str | None = None
    texts: dict[str, str] = field(default_factory=dict)


@asynccontextmanager
async def arrival_of(request: Request, namespace: str, deps: Deps) -> AsyncIterator[Arrival]:
    """The file of this request, staged while it is being taken. Raises 413, 415 or 422.

    After a failure nothing is left of a form; what was sent to an upload link stays, so
    that the call may be repeated.
    """
    key = request.headers.get("idempotency-key")
    if key is not None and not (0 < len(key) <= MAX_KEY_CHARS and key.isprintable()):
        raise invalid(f"Idempotency-Key: give 1 to {MAX_KEY_CHARS} printable characters")
    identity = None if key is None else f"http:{key}"
    content_type = request.headers.get("content-type", "")
    boundary = multipart.boundary_of(content_type)
    if boundary is None:
        if content_type.partition(";")[0].strip().lower() != "application/json":
            raise invalid(
                'send the file as multipart/form-data, or {"upload_id": …} or {"url": …} as '
                "application/json",
                415,
            )
        data = await read_limited(request, MAX_JSON_BYTES)
        check_json(request, data)
        if has_key(data, "url"):
            async with _from_url(data, namespace, deps, identity) as arrival:
                yield arrival
        else:
            yield await _from_upload(data, namespace, deps, identity)
        return
    form = _Form()
    try:
        await _read_form(request, namespace, deps, boundary, form)
        yield _from_form(namespace, form, identity)
    except BaseException:
        if form.staged is not None and form.body is None:
            await deps.stores.objects.delete([form.staged.key])
        raise


def _from_form(namespace: str, form: _Form, identity: str | None) -> Arrival:
    if form.staged is None:
        raise invalid("file: the form has no part of this name")
    fields = parse(FormFields, _fields_json(form.texts))
    return Arrival(
        namespace, form.staged, form.file_name, form.media_type,
        fields.document_id, fields.options, identity, body=form.body,
    )  # fmt: skip


async def _read_form(
    request: Request, namespace: str, deps: Deps, boundary: bytes, form: _Form
) -> None:
    limit = deps.settings.max_upload_bytes
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > limit + FORM_ROOM_BYTES:
        raise too_large(limit)
    pieces = multipart.parts(request.stream(), boundary)
    async for piece in pieces:
        if not isinstance(piece, multipart.PartBegin):
            continue
        if piece.name not in FIELDS:
            raise invalid(f"{piece.name[:80]}: unknown field; known are {', '.join(FIELDS)}")
        if piece.name in form.texts or (piece.name == "file" and form.staged is not None):
            raise invalid(f"{piece.name}: may be given once")
        if piece.name != "file":
            form.texts[piece.name] = await multipart.field_text(pieces, piece.name)
            continue
        form.file_name = safe_file_name(piece.file_name or "")
        form.media_type = media_type_of(piece.media_type)
        await _stage(deps, staging_key(namespace, new_upload_id()), pieces, form)


async def _stage(deps: Deps, key: str, pieces: AsyncIterator[multipart.Piece], form: _Form) -> None:
    """Take the bytes of the form's file: into memory where they are few, else to the store."""
    limit, media_type = deps.settings.max_upload_bytes, form.media_type
    rest = multipart.part_bytes(pieces)
    head = bytearray()
    async for piece in rest:
        head += piece
        if len(head) > SMALL_BYTES:
            form.staged = await deps.stores.objects.put(
                key, _joined(head, rest), media_type=media_type, max_bytes=limit, durable=True
            )
            return
    if len(head) > limit:
        raise too_large(limit)
    form.body = bytes(head)
    digest = hashlib.sha256(form.body).hexdigest()
    form.staged = ObjectInfo(key, len(head), digest, media_type)


async def _joined(head: bytearray, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield bytes(head)
    async for piece in rest:
        yield piece


async def _from_upload(data: bytes, namespace: str, deps: Deps, identity: str | None) -> Arrival:
    body = parse(DocumentFromUpload, data)
    link = open_link(deps.upload_secret(), body.upload_id)
    if link is None or link.namespace != namespace:
        raise not_found("the upload")
    staged = await _staged(deps, link, identity)
    return Arrival(
        namespace, staged, body.file_name or link.file_name, link.media_type,
        body.document_id, body.options, identity or f"upload:{link.upload_id}",
    )  # fmt: skip


async def _staged(deps: Deps, link: Link, identity: str | None) -> ObjectInfo:
    """What was sent to the link; of a request that was taken before, its stored source."""
    staged = await deps.stores.objects.stat(staging_key(link.namespace, link.upload_id))
    if staged is not None:
        return staged
    known = await deps.stores.catalog.jobs.find(
        link.namespace, identity or f"upload:{link.upload_id}"
    )
    if known is None or known.source is None:
        raise not_found("the uploaded file (send it to its link first; a link serves once)")
    return ObjectInfo(
        staging_key(link.namespace, link.upload_id), known.source.size, known.source.sha256
    )


@asynccontextmanager
async def _from_url(
    data: bytes, namespace: str, deps: Deps, identity: str | None
) -> AsyncIterator[Arrival]:
    body = parse(DocumentFromUrl, data)
    limit = deps.settings.max_upload_bytes
    key = staging_key(namespace, new_upload_id())
    objects = deps.stores.objects
    try:
        try:
            async with (
                asyncio.timeout(FETCH_SECONDS),
                Fetcher(deps.settings.url_hosts).open(body.url) as fetched,
            ):
                if (fetched.size or 0) > limit:
                    raise too_large(limit)
                media_type = media_type_of(fetched.media_type)
                staged = await objects.put(
                    key, fetched.pieces, media_type=media_type, max_bytes=limit, durable=True
                )
        except TimeoutError:
            raise invalid(f"url: its server took more than {FETCH_SECONDS:g} s") from None
        yield Arrival(
            namespace, staged, body.file_name or fetched.file_name, media_type,
            body.document_id, body.options, identity,
        )  # fmt: skip
    except BaseException:
        await objects.delete([key])
        raise


def media_type_of(value: str | None) -> str | None:
    """The bare media type in lower case, or None for what is none."""
    bare = (value or "").partition(";")[0].strip().lower()
    return bare if _MEDIA_TYPE.match(bare) else None


def parse(model: type[M], data: bytes | str) -> M:
    """The model, or a validation error that is answered like the framework's own."""
    try:
        return model.model_validate_json(data)
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_input=False)) from None


def too_large(limit: int) -> Fault:
    """The document is over the limit."""
    return DocumentFault(Code.TOO_LARGE, f"the file is larger than the {limit} bytes allowed")


def _fields_json(texts: dict[str, str]) -> bytes:
    fields: dict[str, object] = {}
    for name, text in texts.items():
        if not text.strip():
            continue
        if name != "options":
            fields[name] = text
            continue
        try:
            fields[name] = orjson.loads(text)
        except orjson.JSONDecodeError:
            raise CallerFault(Code.INVALID, "options: is not valid JSON", 422) from None
    return orjson.dumps(fields)
