"""A retrieval plan: a bounded acyclic graph of retrieval steps, and never an answer step."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from libs.contracts.base import Contract

MAX_STEPS = 12
MAX_DEPTH = 4
StepId = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
StepKind = Literal["search", "bridge", "navigate", "expand"]
PlanShape = Literal["single", "comparison", "multi_entity", "bridge", "time_range", "list"]


class PlanStep(Contract):
    """One retrieval step.

    `search` asks the corpus; `bridge` asks it again with what the evidence of `after`
    names; `navigate` opens sections below what `after` found; `expand` follows graph edges.
    `side` names what a comparison's step stands for; `share` is the part of the plan's
    budget that the step may reserve at most.
    """

    step_id: StepId
    kind: StepKind
    query: str = Field(min_length=1, max_length=4096)
    after: list[StepId] = Field(default_factory=list, max_length=MAX_STEPS)
    entities: list[str] = Field(default_factory=list, max_length=8)
    side: str | None = Field(default=None, max_length=256)
    share: float = Field(default=1.0, gt=0.0, le=1.0)


class RetrievalPlan(Contract):
    """The steps in an order in which they can run; every `after` names an earlier step."""

    shape: PlanShape
    steps: list[PlanStep] = Field(min_length=1, max_length=MAX_STEPS)
    made_by: Literal["rules", "model"] = "rules"
    reason: str = ""

    @model_validator(mode="after")
    def _acyclic(self) -> Self:
        depth: dict[str, int] = {}
        for step in self.steps:
            if step.step_id in depth:
                raise ValueError(f"step {step.step_id} appears twice")
            missing = [before for before in step.after if before not in depth]
            if missing:
                raise ValueError(f"step {step.step_id} waits for {missing[0]}, not before it")
            depth[step.step_id] = 1 + max((depth[before] for before in step.after), default=0)
        if max(depth.values()) > MAX_DEPTH:
            raise ValueError(f"the plan is deeper than {MAX_DEPTH} steps")
        return self
