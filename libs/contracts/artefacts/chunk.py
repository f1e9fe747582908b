"""`chunks.json`: the retrievable pieces of a revision.

The identity of a chunk (decision 19): a letter for its type, then sha256 over its text,
NFC, white space collapsed, image and table references left out. Equal content has equal
ids in every upload; the k-th repeat inside one document (k ≥ 2) appends `-k`.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from typing import Literal

from libs.contracts.artefacts.rows import Box, TableCell
from libs.contracts.base import Contract
from libs.contracts.entries import Entry

ChunkType = Literal["text", "image", "table"]

REFERENCE = re.compile(r"\[\[(?:image|table):[^\[\]]*\]\]")


def reference(kind: Literal["image", "table"], target: str) -> str:
    """The inline mark of an embedded asset inside a text chunk: `[[image:<chunk id>]]`."""
    return f"[[{kind}:{target}]]"


def canonical_text(text: str) -> str:
    """`text` without references, NFC, every run of white space one space, stripped."""
    without = REFERENCE.sub(" ", text)
    return " ".join(unicodedata.normalize("NFC", without).split())


def canonical_table(cells: Iterable[TableCell]) -> str:
    """A table's identity text: each cell with its place and spans, in row order."""
    ordered = sorted(cells, key=lambda c: (c.row, c.column))
    return "\n".join(
        f"{c.row},{c.column},{c.row_span},{c.column_span}\t{canonical_text(c.text)}"
        for c in ordered
    )


def chunk_id(kind: ChunkType, content: str | bytes, repeat: int = 1) -> str:
    """The stable id: of canonical text (text, table) or stored bytes (image)."""
    data = content.encode() if isinstance(content, str) else content
    digest = hashlib.sha256(data).hexdigest()
    return f"{kind[0]}{digest}" + (f"-{repeat}" if repeat > 1 else "")


class Connection(Contract):
    """A link to another chunk: `embeds` (inline asset) or `related`.

    `ref` is the mark as it stands in the content; `position` its character offset there.
    """

    target: str
    relation: Literal["embeds", "related"]
    ref: str = ""
    position: int = 0


class ChunkMetadata(Contract):
    """Everything about a chunk but its text. `length` in characters, `tokens` in model tokens.
    `entry` is the record that the chunk stands for, in a document of records."""

    length: int
    summary: str = ""
    page_numbers: list[int] = []
    boxes: list[Box] = []
    tokens: int
    keywords: list[str] = []
    language: str = "und"
    file_path: str | None = None
    media_type: str | None = None
    content_hash: str
    connect_to: list[Connection] = []
    html: str | None = None
    entry: Entry | None = None


class Chunk(Contract):
    """A retrievable piece; `path` is its heading path, outermost first; `order` from 0."""

    chunk_id: str
    type: ChunkType
    content: str
    path: list[str]
    order: int
    metadata: ChunkMetadata


class Chunks(Contract):
    """The file itself."""

    schema_version: Literal[1] = 1
    chunks: list[Chunk]


def digest_ids(ids: Iterable[str]) -> str:
    """The parity digest over chunk ids: sha256 of the sorted ids, one a line."""
    return hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest()


def base_id(chunk_id: str) -> str:
    """A chunk id without the ordinal of a repeat: equal content has equal base ids."""
    return chunk_id.split("-", 1)[0]
