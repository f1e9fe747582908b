"""What the steps of a plan found. Pure."""

from dataclasses import dataclass, field
from typing import Any, Literal

from libs.contracts.api.search import RetrievedChunk
from libs.contracts.query.navigate import SectionFound
from libs.contracts.query.plan import RetrievalPlan
from libs.contracts.query.stages import Stage
from services.planner.agentic.bridge import Bridge


@dataclass(frozen=True)
class Look:
    """What the best pieces lack of what the question needs, and what it took to find and to
    look at them, in milliseconds."""

    lacking: list[str] = field(default_factory=list)
    retrieve_ms: float = 0.0
    verify_ms: float = 0.0


@dataclass
class Gathered:
    """What a plan's steps found, best first, and what is to be told of it: `looks` are the first
    and, where something lacked, the second; `stage` is that of the first search, `tried_ms` the
    stages that left nothing before it; `sections` were reached and stayed closed."""

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
    stage: Stage = "strict"
    tried_ms: dict[Stage, float] = field(default_factory=dict)
    looks: list[Look] = field(default_factory=list)
    sections: list[SectionFound] = field(default_factory=list)
    navigated: bool = False
    unsupported: str = ""

    @property
    def lacking(self) -> list[str]:
        """What the best pieces lack after all."""
        return self.looks[-1].lacking if self.looks else []


def in_order(chunks: list[RetrievedChunk]) -> list[RetrievedChunk]:
    """The chunks with scores that never rise, so that their order is that of their scores."""
    result: list[RetrievedChunk] = []
    for chunk in chunks:
        most = result[-1].score if result else chunk.score
        score = min(chunk.score, most)
        result.append(chunk.model_copy(update={"score": score}))
    return result
