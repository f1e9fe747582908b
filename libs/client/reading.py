"""Reading published documents: sections, Markdown, patterns, page pictures."""

from collections.abc import Sequence

import httpx

from libs.client.calls import Call, as_model, given, space
from libs.contracts.api.reading import GrepAnswer, GrepRequest, SectionView


def section(
    namespace: str,
    document_id: str,
    path: Sequence[str],
    *,
    depth: int,
    chunks: int,
    after: int,
    chunk_ids: Sequence[str],
    revision: int | None,
) -> Call[SectionView]:
    """A section of a document, with some of its chunks."""
    params = given(
        path=list(path), depth=depth, chunks=chunks, after=after, chunk_id=list(chunk_ids),
        revision=revision,
    )  # fmt: skip
    place = space(namespace, "documents", document_id, "sections")
    return Call("GET", place, as_model(SectionView), params)


def markdown(
    namespace: str,
    document_id: str,
    path: Sequence[str],
    *,
    offset: int,
    limit: int,
    revision: int | None,
) -> Call[str]:
    """A document or a section of it as Markdown."""
    params = given(path=list(path), offset=offset, limit=limit, revision=revision)
    return Call("GET", space(namespace, "documents", document_id, "markdown"), _text, params)


def grep(namespace: str, request: GrepRequest) -> Call[GrepAnswer]:
    """Chunks that hold a pattern."""
    body = request.model_dump(mode="json", exclude_defaults=True)
    return Call("POST", space(namespace, "grep"), as_model(GrepAnswer), json=body)


def picture(
    namespace: str,
    document_id: str,
    page: int,
    *,
    width: int,
    boxes: Sequence[Sequence[float]],
    revision: int | None,
) -> Call[bytes]:
    """A page as PNG."""
    marks = ";".join(",".join(f"{value:g}" for value in box) for box in boxes)
    params = given(width=width, boxes=marks or None, revision=revision)
    place = f"{space(namespace, 'documents', document_id)}/pages/{page:d}.png"
    return Call("GET", place, _bytes, params)


def _text(response: httpx.Response) -> str:
    return response.text


def _bytes(response: httpx.Response) -> bytes:
    return response.content
