"""What of the evidence is rendered within the tokens that a query may spend."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from libs.contracts.api.search import Evidence, OutlineItem, RetrievedChunk
from libs.runtime.inference.errors import ModelUnavailable
from services.planner.rendering import evidence_of, evidence_text

JOINT = 2
"""Tokens that may stand between two pieces of the rendered text."""
SUMMARY_CHARS = 240

Count = Callable[[Sequence[str]], list[int]]


@dataclass(frozen=True)
class Opened:
    """The pieces that fit, the others as title and summary, and the tokens of the rendered text."""

    evidence: list[Evidence]
    outline: list[OutlineItem]
    tokens: int


def roughly(texts: Sequence[str]) -> list[int]:
    """One token for every two bytes, which is more than a model counts."""
    return [len(text.encode()) // 2 + 1 for text in texts]


def counted(count: Count, texts: Sequence[str]) -> list[int]:
    """Model tokens; without the model's package, roughly."""
    try:
        return count(texts)
    except ModelUnavailable:
        return roughly(texts)


def opened(chunks: Sequence[RetrievedChunk], room: int, count: Count, *, explain: bool) -> Opened:
    """Pieces in rank order, each whole, as far as `room` tokens go."""
    pieces = [evidence_of(chunk, explain=explain) for chunk in chunks]
    costs = counted(count, [evidence_text([piece]) for piece in pieces])
    evidence: list[Evidence] = []
    outline: list[OutlineItem] = []
    tokens = 0
    for chunk, piece, cost in zip(chunks, pieces, costs, strict=True):
        if tokens + cost + JOINT > room:
            outline.append(unopened(chunk))
            continue
        evidence.append(piece)
        tokens += cost + JOINT
    return Opened(evidence, outline, tokens)


def unopened(chunk: RetrievedChunk) -> OutlineItem:
    """A piece that is not rendered."""
    return OutlineItem(
        document_id=chunk.document_id,
        section_path=chunk.path,
        title=chunk.path[-1] if chunk.path else chunk.file_name,
        summary=(chunk.summary or " ".join(chunk.content.split()))[:SUMMARY_CHARS],
    )
