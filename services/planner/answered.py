"""What both modes are given and give: a query as it is understood, and its answer."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from libs.contracts.api.search import SearchResponse
from libs.contracts.events.planner import RunStep
from libs.contracts.query.analysis import QueryAnalysis
from libs.contracts.query.plan import RetrievalPlan
from libs.contracts.trace import Trace

RERANK = "rerank"
"""Among a step's figures: how long its results were ranked anew, in milliseconds."""
UNDERSTAND = "understand"
"""The step in which models read the query."""
EVIDENCE = "evidence"
"""Among a step's outputs: documents and chunks that were given as evidence up to it."""

Key = tuple[str, str]
"""Document and chunk."""


def given(response: SearchResponse, seen: Iterable[Key] = ()) -> list[list[str]]:
    """What an envelope gives as evidence, behind it what was `seen` in the runs it continues."""
    return [
        *([piece.document_id, piece.chunk_id] for piece in response.evidence),
        *(list(key) for key in sorted(seen)),
    ]


@dataclass(frozen=True)
class Answered:
    """An envelope, what to record of it, and whether it may be kept for equal queries."""

    response: SearchResponse
    steps: list[RunStep]
    trace: Trace
    whole: bool

    def behind(self, first: "Answered") -> "Answered":
        """The answer with the steps of a look before it, which gave no evidence: what they did
        counts, in receipt and record, and what was rendered for nobody cost no tokens."""
        before = [_first(step) for step in first.response.budget.steps]
        recorded = [step.model_copy(update=_gave_nothing(step)) for step in first.steps]
        return replace(
            self, response=_stepped(self.response, before), steps=[*recorded, *self.steps]
        )


def _first(step: dict[str, Any]) -> dict[str, Any]:
    """A step of the look before, under a name of its own."""
    named = {"step_id": f"first_{step['step_id']}"} if "step_id" in step else {}
    waits = {"after": [f"first_{one}" for one in step["after"]]} if "after" in step else {}
    return {**step, **named, **waits, "tokens": 0}


def _gave_nothing(step: RunStep) -> dict[str, Any]:
    outputs = {name: value for name, value in step.outputs.items() if name != EVIDENCE}
    return {"tokens": 0, "outputs": outputs}


def _stepped(response: SearchResponse, before: list[dict[str, Any]]) -> SearchResponse:
    """The envelope with steps in front of its receipt's."""
    receipt = response.budget
    steps = [*before, *receipt.steps]
    return response.model_copy(update={"budget": receipt.model_copy(update={"steps": steps})})


@dataclass(frozen=True)
class Understood:
    """What a query asks for, None where nothing may act; how long that took, and what models
    cost that took part in it. `made_by` is `rules` or the analysing model's name; a `plan` is
    a model's. `calls` were made for it already, by a look that did not find enough."""

    analysis: QueryAnalysis | None = None
    milliseconds: float = 0.0
    plan: RetrievalPlan | None = None
    tokens: int = 0
    made_by: str = "rules"
    calls: int = 0

    @property
    def prompts(self) -> str:
        """Which prompts of ours models have answered, as a trace names them."""
        analysed = ["analyze"] if self.made_by != "rules" else []
        planned = ["plan"] if self.plan is not None and self.plan.made_by == "model" else []
        return "+".join((*analysed, *planned)) or "none"

    def told(self, done: Answered) -> Answered:
        """The answer, with the models' part in its trace and as a step of receipt and record."""
        ranked = any(RERANK in step for step in done.response.budget.steps)
        told = {"prompt_profile": self.prompts, "rerank": ranked}
        planner = done.trace.planner.model_copy(update=told)
        if self.prompts == "none" and not self.tokens:
            return replace(done, trace=done.trace.model_copy(update={"planner": planner}))
        step = RunStep(
            kind=UNDERSTAND,
            outputs={"made_by": self.made_by, "prompts": self.prompts},
            latency_ms=round(self.milliseconds, 3),
            tokens=self.tokens,
        )
        told_step = {
            "step_id": UNDERSTAND,
            "kind": UNDERSTAND,
            "milliseconds": step.latency_ms,
            "tokens": self.tokens,
        }
        return replace(
            done,
            response=_stepped(done.response, [told_step]),
            steps=[step, *done.steps],
            trace=done.trace.model_copy(update={"planner": planner}),
        )
