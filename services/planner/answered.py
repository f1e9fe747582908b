"""What both modes are given and give: a query as it is understood, and its answer."""

from dataclasses import dataclass

from libs.contracts.api.search import SearchResponse
from libs.contracts.events.planner import RunStep
from libs.contracts.query.analysis import QueryAnalysis
from libs.contracts.trace import Trace


@dataclass(frozen=True)
class Answered:
    """An envelope, what to record of it, and whether it may be kept for equal queries."""

    response: SearchResponse
    steps: list[RunStep]
    trace: Trace
    whole: bool


@dataclass(frozen=True)
class Understood:
    """What a query asks for, None where nothing may act; and how long that took."""

    analysis: QueryAnalysis | None = None
    milliseconds: float = 0.0
