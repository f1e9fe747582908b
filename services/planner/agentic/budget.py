"""One budget over all steps of a plan: reserved before a step, settled after it. Pure but for
the clock that it is given."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

State = Literal["healthy", "tight", "critical", "exhausted"]
EVIDENCE_SHARE = 0.5
"""Of the tokens, kept for rendered evidence: models may not reserve beyond the rest."""
TIGHT, CRITICAL = 0.5, 0.2
"""A budget is tight, then critical, when less than these shares of it are left."""


@dataclass(frozen=True)
class Cost:
    """Tokens (of models, and of evidence as rendered) and requests to other services."""

    tokens: int = 0
    calls: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.tokens + other.tokens, self.calls + other.calls)

    def __sub__(self, other: "Cost") -> "Cost":
        return Cost(self.tokens - other.tokens, self.calls - other.calls)

    def fits(self, limit: "Cost") -> bool:
        """Whether no part of it is beyond the limit's."""
        return self.tokens <= limit.tokens and self.calls <= limit.calls


@dataclass(eq=False)
class Reservation:
    """What a step holds until it is settled."""

    step_id: str
    cost: Cost
    open: bool = True


@dataclass
class Ledger:
    """Never lets spent and reserved together pass `limit`, in whatever order steps run.

    `clock` gives milliseconds since the query arrived; no step may begin at or after
    `milliseconds`.
    """

    limit: Cost
    milliseconds: float
    clock: Callable[[], float]
    spent: Cost = field(default_factory=Cost)
    by_step: dict[str, Cost] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._held: set[Reservation] = set()
        self._evidence = 0

    @property
    def held(self) -> Cost:
        """What running steps have reserved."""
        return sum((r.cost for r in self._held), Cost())

    @property
    def left(self) -> Cost:
        """What can still be reserved."""
        return self.limit - self.spent - self.held

    @property
    def time_left(self) -> float:
        """Milliseconds, never negative."""
        return max(0.0, self.milliseconds - self.clock())

    @property
    def state(self) -> State:
        """By whichever of tokens, calls and time has the smallest share left."""
        left = self.left
        share = min(
            left.tokens / self.limit.tokens if self.limit.tokens else 0.0,
            left.calls / self.limit.calls if self.limit.calls else 0.0,
            self.time_left / self.milliseconds if self.milliseconds else 0.0,
        )
        if share <= 0:
            return "exhausted"
        return "critical" if share < CRITICAL else "tight" if share < TIGHT else "healthy"

    def reserve(self, step_id: str, cost: Cost, *, evidence: bool = False) -> Reservation | None:
        """Hold `cost` for a step, or None when it does not fit or time has ended.

        Only `evidence` may use the tokens that are kept for it; it may be rendered when time has
        ended too, so that what was found by then is given.
        """
        if (self.time_left <= 0 and not evidence) or not cost.fits(self.left):
            return None
        kept = 0 if evidence else int(self.limit.tokens * EVIDENCE_SHARE) - self._evidence
        if cost.tokens and cost.tokens > self.left.tokens - max(0, kept):
            return None
        held = Reservation(step_id, cost)
        self._held.add(held)
        return held

    def settle(self, held: Reservation, cost: Cost, *, evidence: bool = False) -> None:
        """Give back what a step did not use. A step cannot have spent more than it held, nor
        be settled twice: both are `ValueError`."""
        if not held.open:
            raise ValueError(f"step {held.step_id} is settled already")
        if not cost.fits(held.cost):
            raise ValueError(f"step {held.step_id} spent more than it had reserved")
        held.open = False
        self._held.discard(held)
        self.spent += cost
        self.by_step[held.step_id] = self.by_step.get(held.step_id, Cost()) + cost
        if evidence:
            self._evidence += cost.tokens
