"""Reading as agents and people do: sections, Markdown, pattern search, page pictures."""

import asyncio
import hashlib
from typing import Annotated, Literal
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from libs.contracts.api.reading import (
    GrepAnswer,
    GrepRequest,
    PageBox,
    PictureAnswer,
    PictureQuery,
    SectionView,
)
from libs.contracts.artefacts import DocNav
from libs.contracts.artefacts.chunk import Chunk
from libs.contracts.artefacts.nav import NavSection
from libs.contracts.artefacts.profile import Profile
from libs.contracts.events.base import ArtefactRef
from libs.contracts.subjects import QUERY_PICTURE
from libs.contracts.tokens import new_id
from libs.runtime.artefacts import load_json
from libs.runtime.catalog.documents import RevisionRecord
from libs.runtime.chunkfile import ChunkFile
from libs.runtime.keys import jobs_prefix
from services.gateway.deps import Deps
from services.gateway.grep import grep
from services.gateway.http.errors import invalid, not_found
from services.gateway.http.guard import GuardedRoute, needs
from services.gateway.http.params import DepsDep, Id, Namespaced, reply
from services.gateway.http.ranges import SANDBOX, names_tag
from services.gateway.http.reading import RevisionQuery, revision_of
from services.gateway.links import namespace_path
from services.gateway.sections import chunks_in, find_section, markdown, pruned

router = APIRouter(prefix="/v1/namespaces/{ns}", tags=["reading"], route_class=GuardedRoute)
DOCUMENT = "/documents/{document_id}"
READER = needs("reader")
PICTURE_SECONDS = 25.0
MAX_BOXES = 200
PLAIN = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": SANDBOX}

PathQuery = Annotated[
    list[str] | None,
    Query(max_length=32, description="heading path, outermost first: repeat it for each title"),
]


@router.get(f"{DOCUMENT}/sections", response_model=SectionView, openapi_extra=READER)
async def section(
    ns: Namespaced,
    document_id: Id,
    deps: DepsDep,
    path: PathQuery = None,
    depth: Annotated[int, Query(ge=0, le=16, description="levels of children")] = 1,
    chunks: Annotated[int, Query(ge=0, le=50, description="chunks to give with it")] = 0,
    after: Annotated[int, Query(ge=-1, le=2**31 - 1, description="`next_after`")] = -1,
    chunk_id: Annotated[
        list[str] | None, Query(max_length=50, description="only these chunks")
    ] = None,
    revision: RevisionQuery = None,
) -> Response:
    """One section: summary, counts, images, tables, its children, and its chunks if asked for."""
    record, found = await _section(deps, ns, document_id, revision, path)
    kept, cut = pruned(found, depth)
    some: list[Chunk] = []
    following = None
    if chunks:
        file = ChunkFile(await deps.stores.objects.get(_part(record, "chunks.json").key))
        wanted = frozenset(chunk_id) if chunk_id else None
        some, following = await asyncio.to_thread(chunks_in, found, file, wanted, after, chunks)
    view = SectionView(
        document_id=document_id, revision=record.revision, file_name=record.file_name,
        section=kept, truncated=cut, chunks=some, next_after=following,
    )  # fmt: skip
    return reply(view)


@router.get(f"{DOCUMENT}/markdown", response_class=Response, openapi_extra=READER)
async def as_markdown(
    ns: Namespaced,
    document_id: Id,
    deps: DepsDep,
    path: PathQuery = None,
    offset: Annotated[int, Query(ge=0, le=2**40, description="characters to skip")] = 0,
    limit: Annotated[int, Query(ge=1, le=1_000_000, description="characters at most")] = 100_000,
    revision: RevisionQuery = None,
) -> Response:
    """The document, or a section of it, as Markdown; `Link: rel="next"` leads to the rest."""
    record, found = await _section(deps, ns, document_id, revision, path)
    ref = _part(record, "chunks.json")
    base = f"{namespace_path(ns)}/documents/{document_id}"

    def href(name: str) -> str:
        return f"{base}/assets/{quote(name.removeprefix('assets/'))}?revision={record.revision}"

    chunks = ChunkFile(await deps.stores.objects.get(ref.key))
    part = await asyncio.to_thread(
        lambda: markdown(found, chunks.lookup(), href, offset=offset, limit=limit)
    )
    headers = dict(PLAIN)
    if part.next_offset is not None:
        rest = {"path": path or [], "offset": part.next_offset, "limit": limit,
                "revision": record.revision}  # fmt: skip
        headers["Link"] = f'<{base}/markdown?{urlencode(rest, doseq=True)}>; rel="next"'
    return Response(part.text, headers=headers, media_type="text/markdown; charset=utf-8")


@router.post("/grep", response_model=GrepAnswer, openapi_extra=READER)
async def grep_chunks(ns: Namespaced, body: GrepRequest, deps: DepsDep) -> Response:
    """Chunks of active revisions whose text holds a literal or an RE2 pattern."""
    stores = deps.stores
    return reply(await grep(stores.catalog.documents, stores.objects, ns, body))


@router.get(f"{DOCUMENT}/pages/{{page}}.png", response_class=Response, openapi_extra=READER)
async def picture(
    request: Request,
    ns: Namespaced,
    document_id: Id,
    page: int,
    deps: DepsDep,
    width: Annotated[int, Query(ge=64, le=2400, description="pixels")] = 1000,
    boxes: Annotated[
        str | None, Query(max_length=16_000, description="x0,y0,x1,y1;… in points, to be marked")
    ] = None,
    revision: RevisionQuery = None,
) -> Response:
    """A page of a PDF or image as a picture, with boxes marked."""
    record = await revision_of(deps, ns, document_id, revision)
    media = await _drawable(deps, record)
    if not 1 <= page <= 100_000:
        raise not_found("this page")
    assert record.source is not None
    query = PictureQuery(
        namespace=ns, source=record.source.key, sha256=record.source.sha256, media=media,
        page=page, width=width, boxes=parse_boxes(boxes),
        target=f"{jobs_prefix(ns, document_id, record.revision)}pictures/{new_id('picture')}.png",
    )  # fmt: skip
    asked = query.model_dump_json(exclude={"target", "source"})
    tag = f'"{hashlib.sha256(asked.encode()).hexdigest()[:32]}"'
    headers = {**PLAIN, "ETag": tag, "Cache-Control": "private, no-cache"}
    if names_tag(request.headers.get("if-none-match"), tag):
        return Response(status_code=304, headers=headers)
    objects = deps.stores.objects
    try:
        await deps.bus.request(QUERY_PICTURE, query, PictureAnswer, timeout=PICTURE_SECONDS)
        data = await objects.get(query.target)
    finally:
        await objects.delete([query.target])
    return Response(data, headers=headers, media_type="image/png")


def parse_boxes(text: str | None) -> list[PageBox]:
    """`x0,y0,x1,y1` in points, parted by semicolons. Raises 422 for anything else."""
    parts = [part for part in (text or "").split(";") if part.strip()]
    if len(parts) > MAX_BOXES:
        raise invalid(f"boxes: at most {MAX_BOXES}")
    try:
        return [
            PageBox(**dict(zip(("x0", "y0", "x1", "y1"), map(float, part.split(",")), strict=True)))
            for part in parts
        ]
    except ValueError:
        raise invalid("boxes: write x0,y0,x1,y1 in points, and ; between boxes") from None


async def _section(
    deps: Deps, namespace: str, document_id: str, number: int | None, path: list[str] | None
) -> tuple[RevisionRecord, NavSection]:
    record = await revision_of(deps, namespace, document_id, number)
    nav = await load_json(deps.stores.objects, _part(record, "doc_nav.json"), DocNav)
    found = find_section(nav, path or [])
    if found is None:
        raise not_found("a section with this path")
    return record, found


def _part(record: RevisionRecord, name: str) -> ArtefactRef:
    ref = record.artefacts.get(name)
    if ref is None:
        raise not_found("this part of the revision")
    return ref


async def _drawable(deps: Deps, record: RevisionRecord) -> Literal["pdf", "image"]:
    if record.source is None:
        raise not_found("the source")
    profile = await load_json(deps.stores.objects, _part(record, "profile.json"), Profile)
    if profile.format == "pdf":
        return "pdf"
    if profile.format == "image":
        return "image"
    raise invalid(f"pages of {profile.format} files have no picture; those of PDFs and images do")
