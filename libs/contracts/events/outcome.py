"""Failures, dead letters, and the public outcomes that upstream systems hear."""

from typing import Any, Literal

from libs.contracts.api.problem import Problem
from libs.contracts.base import Contract
from libs.contracts.events.base import Event, JobEvent
from libs.contracts.faults import Code, Who
from libs.contracts.tokens import DocumentId, JobId, Namespace, Revision


class StageFailed(JobEvent):
    """A stage gave up on a job for good: the document's fault, or a dead letter."""

    stage: str
    code: Code
    who: Who
    detail: str
    dead_letter_id: str | None = None


class DocumentOutcome(Event):
    """Public: how the ingest of a document ended."""

    outcome: Literal["published", "failed", "superseded", "erased"]
    namespace: Namespace
    document_id: DocumentId
    revision: Revision
    job_id: JobId
    problem: Problem | None = None


class IngestRefused(Event):
    """Public: an upload event that could not be taken, with the problem and the event itself."""

    problem: Problem
    subject: str
    request: dict[str, Any] | None = None


class DeadLetter(Contract):
    """A message that ran out of deliveries, whole. `body` is base64 of the original bytes."""

    schema_version: Literal[1] = 1
    dead_letter_id: str
    namespace: Namespace | None
    document_id: str | None
    job_id: str | None
    stage: str
    consumer: str
    code: Code
    detail: str
    attempt: int
    deliveries: int
    trace_id: str | None
    subject: str
    headers: dict[str, str]
    body: str
    parked_at: str
