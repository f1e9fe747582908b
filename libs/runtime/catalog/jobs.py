"""Jobs: the ledger of what is being built, and who waits."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from libs.contracts.api.documents import JobState
from libs.contracts.api.ingest import IngestOptions
from libs.contracts.api.problem import Problem
from libs.contracts.events.base import ArtefactRef

Standing = Literal["current", "cancelled", "superseded", "erased", "finished", "unknown"]


@dataclass(frozen=True)
class Admission:
    """A request to build a revision.

    `identity` makes the request idempotent: the same one again returns the same job.
    Without `document_id` a fresh one is given.
    """

    namespace: str
    file_name: str
    options: IngestOptions
    document_id: str | None = None
    identity: str | None = None
    media_type: str | None = None
    traceparent: str | None = None


@dataclass(frozen=True)
class JobRecord:
    """A job. `announced` is the last event of the job as (subject, body), for the reconciler.

    `released` tells a `running` job that was admitted from one whose event went out.
    """

    job_id: str
    namespace: str
    document_id: str
    revision: int
    revn: int
    file_name: str
    media_type: str | None
    options: IngestOptions
    state: JobState
    stage: str
    source: ArtefactRef | None
    done: int
    total: int
    unit: str
    attempt: int
    cancel_requested: bool
    error: Problem | None
    timings: dict[str, float]
    announced: tuple[str, str] | None
    traceparent: str | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True)
class Admitted:
    """`new` when a job was made, `replayed` when the identity was known."""

    job: JobRecord
    outcome: Literal["new", "replayed"]


@dataclass(frozen=True)
class LedgerEntry:
    """What one event changes. `event_id` is its message id: an entry is applied once.

    A terminal state never changes again; a late event of an earlier stage does not move
    the stage back. `total` 0 leaves the progress as it is.
    """

    event_id: str
    job_id: str
    event: str
    stage: str
    occurred_at: datetime
    state: JobState | None = None
    done: int = 0
    total: int = 0
    unit: str = "stage"
    attempt: int = 1
    error: Problem | None = None
    announced: tuple[str, str] | None = None


@dataclass(frozen=True)
class JobEventRecord:
    """One line of a job's history; `sequence` rises within the job and serves SSE."""

    sequence: int
    event: str
    occurred_at: datetime
    data: dict[str, Any] = field(default_factory=dict)


class JobStore(Protocol):
    """See the module. States: waiting → running → published, failed, cancelled, superseded."""

    async def admit(self, admission: Admission) -> Admitted:
        """Make document (if new), the next revision and a `waiting` job without a source.
        A document that is being erased raises `CallerFault(CONFLICT, 409)`."""
        ...

    async def source_stored(self, job_id: str, source: ArtefactRef) -> JobRecord:
        """The source is there: the job may be released."""
        ...

    async def unchanged(
        self, namespace: str, document_id: str, sha256: str, options: IngestOptions
    ) -> JobRecord | None:
        """The job of the document's newest revision if that has equal bytes and options and is
        published, waiting or running."""
        ...

    async def discard(self, job_id: str) -> None:
        """Forget a job whose source never came, with its revision."""
        ...

    async def release(
        self,
        per_namespace: int,
        limit: int,
        *,
        shards: int | None = None,
        shard_window: int = 1,
    ) -> list[JobRecord]:
        """Move waiting jobs (with a source) to running while their namespace has fewer than
        `per_namespace` running and fewer than `shards` shards of theirs not parsed yet, round-robin
        over namespaces, oldest first; at most `limit`. A running job has as many shards as are
        left of it, at most `shard_window`; one that is not profiled yet counts as one."""
        ...

    async def count(self, namespace: str | None, state: JobState) -> int:
        """How many jobs are in a state."""
        ...

    async def get(self, namespace: str | None, job_id: str) -> JobRecord | None:
        """The job; None for another namespace's (namespace None: any)."""
        ...

    async def find(self, namespace: str, identity: str) -> JobRecord | None:
        """The job that was admitted under this identity."""
        ...

    async def select(
        self,
        namespace: str,
        *,
        state: JobState | None = None,
        before: str | None = None,
        limit: int = 100,
    ) -> list[JobRecord]:
        """Newest first, before the job id `before`."""
        ...

    async def record(self, entry: LedgerEntry) -> JobRecord | None:
        """Apply an event once; the job afterwards, or None when nothing changed."""
        ...

    async def history(self, job_id: str, after: int = 0) -> list[JobEventRecord]:
        """Lines after `after`, in order."""
        ...

    async def followed(
        self, namespace: str, job_id: str, after: int
    ) -> tuple[JobRecord, list[JobEventRecord]] | None:
        """What `get` and `history` say, in one view; None where `get` says so."""
        ...

    async def request_cancel(self, namespace: str, job_id: str) -> JobRecord | None:
        """Remember the wish; a waiting job becomes cancelled at once. None when unknown.
        Too late once its revision is published: then nothing changes, here as in `record`."""
        ...

    async def standing(self, job_id: str) -> Standing:
        """Is this job still wanted: asked by every stage before it works, and by the flip."""
        ...

    async def quiet(self, seconds: float, limit: int) -> list[JobRecord]:
        """Running jobs that neither an event nor `alive` has touched for so long, longest first."""
        ...

    async def alive(self, job_id: str) -> None:
        """Somebody works on the job: a running one counts as touched now, for `quiet`."""
        ...

    async def unsourced(self, seconds: float, limit: int) -> list[JobRecord]:
        """Waiting jobs that were admitted so long ago and still have no source, oldest first."""
        ...

    async def reopen(self, job_id: str) -> JobRecord | None:
        """A failed job, and its revision, runs again with its attempt raised by one: its dead
        letter is replayed. None unless it had failed and its document is not hidden."""
        ...

    async def shard_done(
        self, job_id: str, shard: int, shards: int, rows: ArtefactRef, details: dict[str, Any]
    ) -> list[tuple[ArtefactRef, dict[str, Any]]]:
        """Remember a shard's rows (the latest wins); returns those stored so far in shard
        order: the set is complete when as many as `shards`."""
        ...

    async def failure(self, task: str, kind: str) -> int:
        """Count one more failure of a kind for a task (`<stage>:<job>:<shard>`); the total."""
        ...
