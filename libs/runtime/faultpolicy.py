"""The one decision about a failed delivery: who must act, so what happens to it."""

from dataclasses import dataclass
from typing import Literal

from libs.contracts.faults import (
    Code,
    DocumentFault,
    Fault,
    StaleFault,
    TakenOverFault,
    WorldFault,
)

Action = Literal["fail", "retry", "drop", "leave", "park"]


@dataclass(frozen=True)
class RetryPolicy:
    """Bounds: retries by kind of fault, delays in seconds."""

    world_retries: int = 8
    bug_retries: int = 2
    first_delay: float = 2.0
    longest_delay: float = 300.0


@dataclass(frozen=True)
class Decision:
    """`delay` in seconds belongs to `retry`; `kind` names the counter of this failure."""

    action: Action
    kind: Literal["document", "world", "stale", "bug"]
    code: Code
    detail: str
    delay: float = 0.0


def kind_of(error: BaseException) -> Literal["document", "world", "stale", "bug"]:
    """Which branch of the fault tree an exception belongs to."""
    if isinstance(error, DocumentFault):
        return "document"
    if isinstance(error, WorldFault):
        return "world"
    if isinstance(error, StaleFault):
        return "stale"
    return "bug"


def decide(error: BaseException, failures: int, policy: RetryPolicy) -> Decision:
    """What to do about `error`, the `failures`-th of its kind for this task (from 1).

    The document's fault ends its job; a stale task is dropped, and one that another worker
    has taken over is left to that worker; the world is retried with
    a delay that doubles up to a bound, or when it says; anything else is our bug: few
    retries, then the message is parked as a dead letter.
    """
    kind = kind_of(error)
    if isinstance(error, Fault):
        code, detail = error.code, error.detail
    else:
        code, detail = Code.INTERNAL, f"unexpected {type(error).__name__}"
    if kind == "document":
        return Decision("fail", kind, code, detail)
    if kind == "stale":
        taken = isinstance(error, TakenOverFault)
        return Decision("leave" if taken else "drop", kind, code, detail)
    allowed = policy.world_retries if kind == "world" else policy.bug_retries
    if failures > allowed:
        return Decision("park", kind, code, detail)
    delay = min(policy.first_delay * 2.0 ** (failures - 1), policy.longest_delay)
    if isinstance(error, WorldFault) and error.retry_after is not None:
        delay = min(max(delay, error.retry_after), policy.longest_delay)
    return Decision("retry", kind, code, detail, delay)
