"""What the steps of a plan found. Pure."""

from dataclasses import dataclass, field
from typing import Any, Literal

from libs.contracts.api.search import RetrievedChunk
from libs.contracts.query.navigate import SectionFound
from libs.contracts.query.plan import RetrievalPlan
from services.planner.agentic.bridge import Bridge


@dataclass
class Gathered:
    """What a plan's steps found, best first, and what is to be told of it: `looks` holds what
    the best pieces lacked at the first look and, where there was one, at the second; `sections`
    are those that were reached and stayed closed."""

    plan: RetrievalPlan
    corpus_version: int
    strategy: Literal["small_corpus", "fusion", "empty", "nothing_published"] = "fusion"
    chunks: list[RetrievedChunk] = field(default_factory=list)
    bridge: Bridge = field(default_factory=lambda: Bridge(""))
    steps: list[dict[str, Any]] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    relaxed_filters: list[str] = field(default_factory=list)
    looks: list[list[str]] = field(default_factory=list)
    sections: list[SectionFound] = field(default_factory=list)
    navigated: bool = False
    unsupported: str = ""


def in_order(chunks: list[RetrievedChunk]) -> list[RetrievedChunk]:
    """The chunks with scores that never rise, so that their order is that of their scores."""
    result: list[RetrievedChunk] = []
    for chunk in chunks:
        most = result[-1].score if result else chunk.score
        score = min(chunk.score, most)
        result.append(chunk.model_copy(update={"score": score}))
    return result
