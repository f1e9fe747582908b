"""Reading published documents: sections, Markdown, patterns, page pictures."""

from collections.abc import Sequence
from typing import TypeVar

import httpx

from libs.client.calls import Call, as_model, given, space
from libs.client.connection import Connection
from libs.client.entries import AsyncEntries, Entries
from libs.contracts.api.reading import GrepAnswer, GrepRequest, SectionView

T = TypeVar("T")


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


class Reading(Entries):
    """Reading calls of the synchronous client."""

    connection: Connection

    def _send(self, call: Call[T]) -> T:
        raise NotImplementedError

    def section(
        self,
        document_id: str,
        path: Sequence[str] = (),
        *,
        depth: int = 1,
        chunks: int = 0,
        after: int = -1,
        chunk_ids: Sequence[str] = (),
        revision: int | None = None,
    ) -> SectionView:
        """The section with this heading path, its children to a depth, and as many of its
        chunks, of these ids where some are given, behind the order `after`."""
        return self._send(
            section(
                self.connection.namespace, document_id, path, depth=depth, chunks=chunks,
                after=after, chunk_ids=chunk_ids, revision=revision,
            )
        )  # fmt: skip

    def markdown(
        self,
        document_id: str,
        path: Sequence[str] = (),
        *,
        offset: int = 0,
        limit: int = 100_000,
        revision: int | None = None,
    ) -> str:
        """At most `limit` characters of the document, or a section of it, as Markdown."""
        space = self.connection.namespace
        return self._send(
            markdown(space, document_id, path, offset=offset, limit=limit, revision=revision)
        )

    def grep(self, request: GrepRequest) -> GrepAnswer:
        """Chunks of active revisions that hold a pattern."""
        return self._send(grep(self.connection.namespace, request))

    def picture(
        self,
        document_id: str,
        page: int,
        *,
        width: int = 1000,
        boxes: Sequence[Sequence[float]] = (),
        revision: int | None = None,
    ) -> bytes:
        """A page of a PDF or image as PNG, with boxes (x0, y0, x1, y1 in points) marked."""
        space = self.connection.namespace
        return self._send(
            picture(space, document_id, page, width=width, boxes=boxes, revision=revision)
        )


class AsyncReading(AsyncEntries):
    """Reading calls of the asynchronous client; see `Reading`."""

    connection: Connection

    async def _send(self, call: Call[T]) -> T:
        raise NotImplementedError

    async def section(
        self,
        document_id: str,
        path: Sequence[str] = (),
        *,
        depth: int = 1,
        chunks: int = 0,
        after: int = -1,
        chunk_ids: Sequence[str] = (),
        revision: int | None = None,
    ) -> SectionView:
        """The section with this heading path, its children, and some of its chunks."""
        return await self._send(
            section(
                self.connection.namespace, document_id, path, depth=depth, chunks=chunks,
                after=after, chunk_ids=chunk_ids, revision=revision,
            )
        )  # fmt: skip

    async def markdown(
        self,
        document_id: str,
        path: Sequence[str] = (),
        *,
        offset: int = 0,
        limit: int = 100_000,
        revision: int | None = None,
    ) -> str:
        """At most `limit` characters of the document, or a section of it, as Markdown."""
        space = self.connection.namespace
        return await self._send(
            markdown(space, document_id, path, offset=offset, limit=limit, revision=revision)
        )

    async def grep(self, request: GrepRequest) -> GrepAnswer:
        """Chunks of active revisions that hold a pattern."""
        return await self._send(grep(self.connection.namespace, request))

    async def picture(
        self,
        document_id: str,
        page: int,
        *,
        width: int = 1000,
        boxes: Sequence[Sequence[float]] = (),
        revision: int | None = None,
    ) -> bytes:
        """A page of a PDF or image as PNG, with boxes (x0, y0, x1, y1 in points) marked."""
        space = self.connection.namespace
        return await self._send(
            picture(space, document_id, page, width=width, boxes=boxes, revision=revision)
        )
