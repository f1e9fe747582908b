"""The closed fault tree: every failure says who must act.

    Fault
    ├── DocumentFault   the document is at fault: terminate, the job fails with code and sentence
    ├── WorldFault      something outside is away or busy: retry later, with growing delay
    ├── StaleFault      nobody wants this any more: acknowledge and drop
    │   └── TakenOverFault   another worker has this very task: leave the message to that one
    └── CallerFault     the request is at fault: a 4xx problem, never on the bus

Anything else that is raised is our bug: few retries, then parked as a dead letter.
"""

from enum import StrEnum


class Who(StrEnum):
    """Who must act on a fault; the `who` of a problem document."""

    DOCUMENT = "document"
    WORLD = "world"
    CALLER = "caller"
    US = "us"


class Code(StrEnum):
    """Stable machine codes of faults, as clients and operators see them."""

    # the document
    EMPTY = "empty"
    UNREADABLE = "unreadable"
    UNSUPPORTED = "unsupported_format"
    ENCRYPTED = "encrypted"
    TOO_LARGE = "too_large"
    TOO_SLOW = "too_slow"
    HOSTILE = "hostile"
    NO_CONTENT = "no_content"
    ENGINE_MISSING = "engine_missing"
    PARSER_CRASHED = "parser_crashed"
    SOURCE_MISSING = "source_missing"
    # the world
    STORE_AWAY = "store_away"
    BUS_AWAY = "bus_away"
    RATE_LIMITED = "rate_limited"
    MODEL_FAILED = "model_failed"
    WORKER_LOST = "worker_lost"
    OVERLOADED = "overloaded"
    # stale
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"
    ERASED = "erased"
    # the caller
    INVALID = "invalid_request"
    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    TOO_MANY = "too_many_requests"
    # us
    INTERNAL = "internal"
    TIMEOUT = "timeout"


class Fault(Exception):
    """Base of the tree. `detail` is one sentence for people and never holds document text."""

    who: Who = Who.US

    def __init__(self, code: Code, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail


class DocumentFault(Fault):
    """Unreadable, unsupported, encrypted, too large, hostile: only another file can help."""

    who = Who.DOCUMENT


class WorldFault(Fault):
    """A store is away, a model is rate limited. `retry_after` is seconds, where known."""

    who = Who.WORLD

    def __init__(self, code: Code, detail: str, retry_after: float | None = None) -> None:
        super().__init__(code, detail)
        self.retry_after = retry_after


class StaleFault(Fault):
    """A newer revision is published, the job is cancelled, the document is erased."""

    who = Who.US


class TakenOverFault(StaleFault):
    """Another worker has this very task in hand, so nothing is settled here: neither
    acknowledged, which would leave the task to nobody if that worker died, nor counted."""

    def __init__(self, detail: str) -> None:
        super().__init__(Code.WORKER_LOST, detail)


class CallerFault(Fault):
    """A request that cannot be served as it stands. `status` is its HTTP status."""

    who = Who.CALLER

    def __init__(
        self, code: Code, detail: str, status: int, retry_after: float | None = None
    ) -> None:
        super().__init__(code, detail)
        self.status = status
        self.retry_after = retry_after
