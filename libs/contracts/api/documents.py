"""Documents, revisions, jobs, erasures and keys as the HTTP interface shows them."""

from datetime import datetime
from typing import Any, Generic, Literal, TypeVar

from libs.contracts.api.ingest import DocumentMetadata
from libs.contracts.api.problem import Problem
from libs.contracts.base import Contract

T = TypeVar("T")

JobState = Literal["waiting", "running", "published", "failed", "cancelled", "superseded"]
DocumentState = Literal["pending", "active", "failed", "erasing", "erased"]
Role = Literal["reader", "writer", "operator", "admin"]


class Accepted(Contract):
    """202: the document was taken. `outcome` is `unchanged` when nothing had to be done."""

    document_id: str
    revision: int
    job_id: str
    outcome: Literal["accepted", "unchanged", "replayed"] = "accepted"
    links: dict[str, str] = {}


class Progress(Contract):
    """How far the current stage has come; `total` 0 where it is not known."""

    done: int = 0
    total: int = 0
    unit: str = "stage"


class JobView(Contract):
    """One attempt to build one revision. `timings` are seconds from accepted, by event."""

    job_id: str
    document_id: str
    revision: int
    file_name: str
    state: JobState
    stage: str
    progress: Progress
    error: Problem | None = None
    timings: dict[str, float] = {}
    created_at: datetime
    updated_at: datetime


class DocumentView(Contract):
    """Identity, state, active revision, counts, and how much of it has vectors (0 to 1)."""

    document_id: str
    file_name: str
    collection: str
    state: DocumentState
    active_revision: int | None
    metadata: DocumentMetadata
    inferred: dict[str, Any] = {}
    counts: dict[str, int] = {}
    dense_coverage: float = 0.0
    created_at: datetime
    updated_at: datetime


class RevisionView(Contract):
    """One ingested version of a document."""

    revision: int
    state: str
    active: bool
    job_id: str
    sha256: str
    size: int
    counts: dict[str, int] = {}
    created_at: datetime
    published_at: datetime | None = None


class ErasureReceipt(Contract):
    """What an erasure removed from which store, and the re-query that proves it."""

    erasure_id: str
    document_id: str
    state: Literal["requested", "erased"]
    removed: dict[str, int] = {}
    requery_hits: int | None = None
    requested_at: datetime
    erased_at: datetime | None = None


class KeyView(Contract):
    """A key without its secret; `secret` is filled once, when it is made or rotated."""

    key_id: str
    namespace: str
    role: Role
    label: str = ""
    created_at: datetime
    revoked_at: datetime | None = None
    secret: str | None = None


class Self(Contract):
    """The key that asks."""

    key_id: str
    namespace: str
    role: Role


class Usage(Contract):
    """What a namespace holds: active documents, their chunks, live keys, jobs by state."""

    namespace: str
    documents: int
    chunks: int
    keys: int
    jobs: dict[str, int]


class Pauses(Contract):
    """What is paused: stages, and namespaces with the moment since when."""

    stages: list[str] = []
    namespaces: dict[str, datetime] = {}


class Page(Contract, Generic[T]):
    """One page of a listing; `next_cursor` is None on the last."""

    items: list[T]
    next_cursor: str | None = None
