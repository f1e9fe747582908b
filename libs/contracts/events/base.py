"""What every event carries."""

from datetime import UTC, datetime
from typing import Literal

from pydantic import Field

from libs.contracts.base import Contract
from libs.contracts.tokens import DocumentId, JobId, Namespace, Revision, Sha256


def now() -> datetime:
    """The present moment, in UTC."""
    return datetime.now(UTC)


class ArtefactRef(Contract):
    """One stored artefact: its object key, size in bytes, and the sha256 of its bytes."""

    key: str
    sha256: Sha256
    size: int


class Event(Contract):
    """Base of all messages."""

    schema_version: Literal[1] = 1
    occurred_at: datetime = Field(default_factory=now)


class JobEvent(Event):
    """An event of one job, which builds one revision of one document.

    `attempt` counts announcements of the same step: replay, retry and reconciler raise
    it, a redelivery does not. Artefacts written under an attempt belong to it until the
    flip names the winners.
    """

    namespace: Namespace
    document_id: DocumentId
    revision: Revision
    job_id: JobId
    attempt: int = Field(default=1, ge=1)

    @property
    def shard_token(self) -> str:
        """The part of the message id that tells shards apart; empty for whole documents."""
        return ""
