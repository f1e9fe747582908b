"""Pattern search over the chunks of active revisions, in bounded steps.

Documents are read one after the other in the order of their ids, so that a cursor (a document
id and the order of the last chunk) is all that is needed to go on.
"""

import asyncio
import base64
import binascii
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field

import re2  # type: ignore[import-untyped]

from libs.contracts.api.reading import GrepAnswer, GrepHit, GrepMatch, GrepRequest
from libs.contracts.artefacts.chunk import Chunk
from libs.contracts.tokens import TOKEN_PATTERN
from libs.runtime.catalog.documents import DocumentRecord, DocumentStore
from libs.runtime.chunkfile import ChunkFile
from libs.runtime.objects.port import ObjectStore
from services.gateway.http.errors import invalid

MAX_BYTES = 32 * 1024 * 1024
"""Bytes of `chunks.json` that one request reads before it answers with a cursor."""
MAX_DOCUMENTS = 2_000
"""Documents that one request reads before it answers with a cursor."""
MAX_PLACES = 100_000
"""Places, empty ones too, that one request finds before it answers with a cursor."""
MAX_MATCHES = 20
"""Matches shown of one chunk; all are counted."""
AROUND = 80
PATTERN_BYTES = 8 * 1024 * 1024
PAGE = 50


@dataclass
class _Scan:
    request: GrepRequest
    find: Callable[[str], Iterator[tuple[int, int]]]
    hits: list[GrepHit] = field(default_factory=list)
    chunks: int = 0
    documents: int = 0
    bytes: int = 0
    places: int = 0


@dataclass(frozen=True)
class Cursor:
    """Where an answer stopped: behind the chunk of this order in this document."""

    document_id: str
    order: int

    def token(self) -> str:
        """As it is given to the caller."""
        packed = json.dumps([self.document_id, self.order]).encode()
        return base64.urlsafe_b64encode(packed).decode().rstrip("=")

    @staticmethod
    def parse(token: str) -> "Cursor":
        """Raises 422 for what `token` did not make."""
        try:
            packed = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
            document_id, order = json.loads(packed)
            known = isinstance(document_id, str) and re.fullmatch(TOKEN_PATTERN, document_id)
            if known and type(order) is int:
                return Cursor(document_id, order)
        except (ValueError, binascii.Error, TypeError, RecursionError):
            pass
        raise invalid("cursor: give the `next_cursor` of an earlier answer")


def matcher(request: GrepRequest) -> Callable[[str], Iterator[tuple[int, int]]]:
    """A function from text to the character ranges that match, empty ones too.

    Raises 422 for a pattern that RE2 does not take.
    """
    options = re2.Options()
    options.never_nl = False
    options.literal = request.syntax == "literal"
    options.case_sensitive = not request.ignore_case
    options.max_mem = PATTERN_BYTES
    options.log_errors = False
    try:
        pattern = re2.compile(request.pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else "not a pattern"
        if isinstance(reason, bytes):
            reason = reason.decode("utf-8", "replace")
        raise invalid(f"pattern: RE2 refuses it: {str(reason)[:200]}") from None

    def find(text: str) -> Iterator[tuple[int, int]]:
        for found in pattern.finditer(text):
            yield found.start(), found.end()

    return find


async def grep(
    documents: DocumentStore, objects: ObjectStore, namespace: str, request: GrepRequest
) -> GrepAnswer:
    """The chunks that match, at most `request.limit`, and how to go on.

    Raises 422 for a bad pattern or cursor.
    """
    scan = _Scan(request, matcher(request))
    start = Cursor.parse(request.cursor) if request.cursor else None
    async for document in _chosen(documents, namespace, request.document_ids, start):
        record = await documents.revision(namespace, document.document_id)
        ref = record.artefacts.get("chunks.json") if record else None
        if record is None or ref is None:
            continue
        full = scan.bytes + ref.size > MAX_BYTES or scan.documents == MAX_DOCUMENTS
        if scan.documents and full:
            return _answer(scan, "budget", Cursor(document.document_id, -1))
        try:
            data = await objects.get(ref.key)
        except KeyError:
            continue
        after = start.order if start and start.document_id == document.document_id else -1
        stopped = await asyncio.to_thread(
            _scan_document, scan, ChunkFile(data), document.document_id, record.revision,
            record.file_name, after,
        )  # fmt: skip
        scan.documents += 1
        scan.bytes += len(data)
        if stopped is not None:
            reason = "limit" if len(scan.hits) == request.limit else "budget"
            return _answer(scan, reason, Cursor(document.document_id, stopped))
    return _answer(scan, "complete", None)


async def _chosen(
    documents: DocumentStore, namespace: str, chosen: list[str], start: Cursor | None
) -> AsyncIterator[DocumentRecord]:
    """Active documents in the order of their ids, from the cursor's on."""
    first = start.document_id if start else ""
    if chosen:
        for document_id in sorted(set(chosen)):
            found = await documents.get(namespace, document_id) if document_id >= first else None
            if found is not None and found.state == "active":
                yield found
        return
    after: str | None = None
    if start is not None:
        opened = await documents.get(namespace, first)
        if opened is not None and opened.state == "active":
            yield opened
        after = first
    while page := await documents.select(namespace, after=after, limit=PAGE, state="active"):
        for document in page:
            yield document
        after = page[-1].document_id


def _scan_document(
    scan: _Scan, chunks: ChunkFile, document_id: str, revision: int, file_name: str, after: int
) -> int | None:
    """Add the hits of a document; the order of the last chunk where a limit was reached."""
    request = scan.request
    below = request.section_path
    for chunk in chunks:
        if chunk.order <= after:
            continue
        scan.chunks += 1
        if request.chunk_types and chunk.type not in request.chunk_types:
            continue
        if below and chunk.path[: len(below)] != below:
            continue
        places = list(scan.find(chunk.content))
        scan.places += len(places)
        ranges = [(start, end) for start, end in places if end > start]
        if ranges:
            scan.hits.append(_hit(chunk, ranges, document_id, revision, file_name))
        if len(scan.hits) == request.limit or scan.places >= MAX_PLACES:
            return chunk.order
    return None


def _hit(
    chunk: Chunk, ranges: list[tuple[int, int]], document_id: str, revision: int, file_name: str
) -> GrepHit:
    return GrepHit(
        document_id=document_id,
        revision=revision,
        chunk_id=chunk.chunk_id,
        type=chunk.type,
        source_file_name=file_name,
        section_path=chunk.path,
        page_numbers=chunk.metadata.page_numbers,
        content_hash=chunk.metadata.content_hash,
        matches=[
            GrepMatch(start=start, end=end, excerpt=_excerpt(chunk.content, start, end))
            for start, end in ranges[:MAX_MATCHES]
        ],
        match_count=len(ranges),
    )


def _excerpt(text: str, start: int, end: int) -> str:
    """The match, at most 4 × `AROUND` characters of it, with what stands beside it."""
    end = min(end, start + 4 * AROUND)
    return " ".join(text[max(0, start - AROUND) : end + AROUND].split())


def _answer(scan: _Scan, reason: str, cursor: Cursor | None) -> GrepAnswer:
    return GrepAnswer.model_validate(
        {
            "hits": scan.hits,
            "next_cursor": cursor.token() if cursor else None,
            "stop_reason": reason,
            "scanned_chunks": scan.chunks,
            "scanned_documents": scan.documents,
        }
    )
