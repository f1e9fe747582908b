"""What the gateway says."""

from pydantic import Field

from libs.contracts.api.ingest import IngestOptions
from libs.contracts.events.base import ArtefactRef, Event, JobEvent
from libs.contracts.tokens import FileName, JobId


class DocumentAccepted(JobEvent):
    """A source is stored and a job exists for it: profile it."""

    source: ArtefactRef
    file_name: FileName
    media_type: str | None = None
    options: IngestOptions = Field(default_factory=IngestOptions)


class ErasureRequested(JobEvent):
    """A document was hidden and must be erased from every store; `job_id` is the erasure's."""


class CancelJob(Event):
    """Stop working on a job: honoured between pages and batches, within 2 s."""

    job_id: JobId
