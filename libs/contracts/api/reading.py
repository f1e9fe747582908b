"""Reading as agents and people do: sections, pattern search, page pictures."""

from typing import Literal

from pydantic import Field

from libs.contracts.artefacts.chunk import Chunk, ChunkType
from libs.contracts.artefacts.nav import NavSection
from libs.contracts.base import Contract, Request
from libs.contracts.tokens import DocumentId, Namespace

MAX_PATTERN_CHARS = 1000


class SectionView(Contract):
    """A section with its children down to the depth asked for.

    `truncated` says that sections below that depth were left out. `chunks` are as many of the
    chunks in it and below, in document order, as were asked for; `next_after` is what `after`
    must be for the following ones, None at the end.
    """

    document_id: str
    revision: int
    file_name: str
    section: NavSection
    truncated: bool = False
    chunks: list[Chunk] = []
    next_after: int | None = None


class GrepRequest(Request):
    """Find a pattern in the text of chunks, in document order.

    `literal` takes the pattern as it stands; `re2` as a regular expression of RE2, which has
    neither back references nor look-around and runs in linear time. `section_path` keeps the
    chunks below a section. `cursor` goes on where an earlier answer stopped.
    """

    pattern: str = Field(min_length=1, max_length=MAX_PATTERN_CHARS)
    syntax: Literal["literal", "re2"] = "literal"
    ignore_case: bool = False
    document_ids: list[DocumentId] = Field(default_factory=list, max_length=100)
    section_path: list[str] = Field(default_factory=list, max_length=32)
    chunk_types: list[ChunkType] = Field(default_factory=list, max_length=3)
    limit: int = Field(default=50, ge=1, le=200)
    cursor: str | None = Field(default=None, max_length=300)


class GrepMatch(Contract):
    """Where it matched, in characters of the chunk's content, and the text around it."""

    start: int
    end: int
    excerpt: str


class GrepHit(Contract):
    """A chunk that matches, with what is needed to cite it."""

    document_id: str
    revision: int
    chunk_id: str
    type: ChunkType
    source_file_name: str
    section_path: list[str]
    page_numbers: list[int]
    content_hash: str
    matches: list[GrepMatch]
    match_count: int


class GrepAnswer(Contract):
    """Hits in order of document id and position.

    `next_cursor` is there when more may follow; `stop_reason` says why this answer ended:
    everything was read (`complete`), as many hits as asked for (`limit`), or as much text as
    one request may read (`budget`).
    """

    hits: list[GrepHit]
    next_cursor: str | None = None
    stop_reason: Literal["complete", "limit", "budget"]
    scanned_chunks: int
    scanned_documents: int


class PageBox(Contract):
    """A rectangle to mark, in PDF points from the top left of the page."""

    x0: float = Field(ge=0, le=20_000, allow_inf_nan=False)
    y0: float = Field(ge=0, le=20_000, allow_inf_nan=False)
    x1: float = Field(ge=0, le=20_000, allow_inf_nan=False)
    y1: float = Field(ge=0, le=20_000, allow_inf_nan=False)


class PictureQuery(Contract):
    """`query.picture`: draw a page of a stored source. `target` is where the PNG is stored."""

    namespace: Namespace
    source: str = Field(max_length=2000)
    sha256: str = Field(max_length=64)
    media: Literal["pdf", "image"]
    page: int = Field(ge=1, le=100_000)
    width: int = Field(ge=64, le=2400)
    boxes: list[PageBox] = Field(default_factory=list, max_length=200)
    target: str = Field(max_length=2000)


class PictureAnswer(Contract):
    """The picture's key in the object store; `width` and `height` in pixels."""

    key: str
    width: int
    height: int
