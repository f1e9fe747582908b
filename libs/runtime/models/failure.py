"""How a language model fails."""

from enum import StrEnum

from libs.contracts.faults import Code, WorldFault


class Reason(StrEnum):
    """Why there is no answer."""

    RATE_LIMITED = "rate_limited"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    BROKEN = "broken"
    EMPTY = "empty"
    TRUNCATED = "truncated"
    INVALID = "invalid"
    FILTERED = "filtered"
    TOO_LONG = "too_long"
    REFUSED = "refused"
    BUDGET = "budget"


TRANSIENT = frozenset(
    {Reason.RATE_LIMITED, Reason.TIMEOUT, Reason.UNREACHABLE, Reason.BROKEN, Reason.EMPTY}
)


class ModelFailed(WorldFault):
    """No usable answer, after what retries there were. `detail` never holds a key, a prompt
    or an answer. Who can do without the model catches it: it is never a document's fault.

    `transient` says whether the same call may succeed later.
    """

    def __init__(self, reason: Reason, detail: str, retry_after: float | None = None) -> None:
        code = Code.RATE_LIMITED if reason is Reason.RATE_LIMITED else Code.MODEL_FAILED
        super().__init__(code, detail, retry_after)
        self.reason = reason

    @property
    def transient(self) -> bool:
        """Whether it may pass by itself."""
        return self.reason in TRANSIENT
