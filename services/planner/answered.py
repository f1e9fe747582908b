"""What both modes are given and give: a query as it is understood, and its answer."""

from dataclasses import dataclass, replace

from libs.contracts.api.search import SearchResponse
from libs.contracts.events.planner import RunStep
from libs.contracts.query.analysis import QueryAnalysis
from libs.contracts.query.plan import RetrievalPlan
from libs.contracts.trace import Trace

RERANK = "rerank"
"""Among a step's figures: how long its results were ranked anew, in milliseconds."""


@dataclass(frozen=True)
class Answered:
    """An envelope, what to record of it, and whether it may be kept for equal queries."""

    response: SearchResponse
    steps: list[RunStep]
    trace: Trace
    whole: bool


@dataclass(frozen=True)
class Understood:
    """What a query asks for, None where nothing may act; how long that took, and what models
    cost that took part in it. `made_by` is `rules` or the analysing model's name; a `plan` is
    a model's."""

    analysis: QueryAnalysis | None = None
    milliseconds: float = 0.0
    plan: RetrievalPlan | None = None
    tokens: int = 0
    made_by: str = "rules"

    @property
    def prompts(self) -> str:
        """Which prompts of ours models have answered, as a trace names them."""
        analysed = ["analyze"] if self.made_by != "rules" else []
        planned = ["plan"] if self.plan is not None and self.plan.made_by == "model" else []
        return "+".join((*analysed, *planned)) or "none"

    def told(self, done: Answered) -> Answered:
        """The answer, with the models' part in its trace and as a step of its own."""
        ranked = any(RERANK in step for step in done.response.budget.steps)
        told = {"prompt_profile": self.prompts, "rerank": ranked}
        planner = done.trace.planner.model_copy(update=told)
        if self.prompts == "none" and not self.tokens:
            return replace(done, trace=done.trace.model_copy(update={"planner": planner}))
        step = RunStep(
            kind="understand",
            outputs={"made_by": self.made_by, "prompts": self.prompts},
            latency_ms=round(self.milliseconds, 3),
            tokens=self.tokens,
        )
        trace = done.trace.model_copy(update={"planner": planner})
        return replace(done, steps=[step, *done.steps], trace=trace)
