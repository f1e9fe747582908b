"""Evidence and its text from retrieved chunks: pure."""

import re

from libs.contracts.api.search import Asset, Evidence, RetrievedChunk
from libs.contracts.artefacts.chunk import REFERENCE

BLANK_LINES = re.compile(r"\n{3,}")


def evidence_of(chunk: RetrievedChunk, *, explain: bool) -> Evidence:
    """A retrieved chunk as a citation; its own file, if any, becomes its first asset."""
    return Evidence(
        document_id=chunk.document_id,
        revision=chunk.revision,
        chunk_id=chunk.chunk_id,
        type=chunk.type,
        content=chunk.content,
        source_file_name=chunk.file_name,
        section_path=chunk.path,
        page_numbers=chunk.page_numbers,
        boxes=chunk.boxes,
        content_hash=chunk.content_hash,
        also_in=chunk.also_in,
        assets=chunk.embeds or _own_asset(chunk),
        score=round(chunk.score, 9),
        explain={"channels": chunk.channels} if explain else None,
    )


def _own_asset(chunk: RetrievedChunk) -> list[Asset]:
    if chunk.type == "text":
        return []
    return [
        Asset(
            chunk_id=chunk.chunk_id,
            type=chunk.type,
            href=chunk.file_path,
            media_type=chunk.media_type,
            html=chunk.html,
        )
    ]


def evidence_text(evidence: list[Evidence]) -> str:
    """All pieces as one text, numbered, each under the line that says where it stands."""
    return "\n\n".join(
        f"[{number}] {_place(piece)}\n{without_marks(piece.content)}"
        for number, piece in enumerate(evidence, 1)
    )


def without_marks(content: str) -> str:
    """Text as it reads: the marks of embedded assets are for their offsets alone."""
    lines = (line.rstrip() for line in REFERENCE.sub("", content).splitlines())
    return BLANK_LINES.sub("\n\n", "\n".join(lines)).strip()


def _place(piece: Evidence) -> str:
    parts = [piece.source_file_name, *piece.section_path]
    pages = ", ".join(str(p) for p in piece.page_numbers)
    return " › ".join(parts) + (f" (p. {pages})" if pages else "")
