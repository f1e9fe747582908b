"""The analyzer that asks a model, and believes it no further than the query's own words."""

import time
from dataclasses import dataclass, field

from libs.contracts.query.analysis import QueryAnalysis
from libs.runtime.models.budget import Budget
from libs.runtime.models.caches import MemoryAnswers
from libs.runtime.models.failure import ModelFailed
from libs.runtime.models.port import AnswerCache, Model
from libs.runtime.telemetry import logger
from services.planner.analysis.prompt import VERSION, system_prompt, user_prompt
from services.planner.analysis.repair import Proposed, repaired
from services.planner.analysis.rules import READ, THRESHOLD, RulesAnalyzer

log = logger("planner")

MAX_TOKENS = 400


@dataclass(frozen=True)
class Analysed:
    """What a query asks for; None where nothing may act."""

    analysis: QueryAnalysis | None
    milliseconds: float
    made_by: str = "rules"
    """`rules`, or the model's name."""


@dataclass
class Analyzer:
    """Rules, and a model in their place where there is one and it answers in time."""

    rules: RulesAnalyzer
    model: Model | None = None
    seconds: float = 2.0
    """The longest that a query waits for its model."""
    cache: AnswerCache = field(default_factory=MemoryAnswers)

    def __post_init__(self) -> None:
        self._system = system_prompt(self.rules.taxonomy)

    @property
    def fingerprint(self) -> str:
        """What analyses depend on, for the keys of cached answers."""
        known = self.rules.fingerprint
        return known if self.model is None else f"{known}:{self.model.name}:{VERSION}"

    async def analyse(self, query: str, seconds: float, budget: Budget | None = None) -> Analysed:
        """The analysis, in at most `seconds` and within `budget` beyond what rules need.

        What rules cannot read at all no model is asked about; below `THRESHOLD` nothing acts.
        """
        began = time.perf_counter()
        analysis, made_by = self.rules.analyze(query), "rules"
        if self.model is not None and analysis.keywords and len(query) <= READ:
            proposed = await self._proposed(query, min(seconds, self.seconds), budget)
            if proposed is not None:
                analysis = repaired(proposed, query, analysis, self.rules.taxonomy)
                made_by = self.model.name
        taken = 1000 * (time.perf_counter() - began)
        acting = analysis if analysis.analyzer_confidence >= THRESHOLD else None
        return Analysed(acting, round(taken, 3), made_by)

    async def _proposed(self, query: str, seconds: float, budget: Budget | None) -> Proposed | None:
        assert self.model is not None
        try:
            return await self.model.json(
                self._system,
                user_prompt(query),
                Proposed,
                max_tokens=MAX_TOKENS,
                seconds=seconds,
                budget=budget,
                cache=self.cache,
            )
        except ModelFailed as failed:
            log.warning("query analysed by rules", reason=failed.reason.value)
            return None
