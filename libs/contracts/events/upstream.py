"""What upstream systems publish: commands to ingest, and S3-style bucket notifications."""

from typing import Any

from pydantic import Field

from libs.contracts.api.ingest import IngestOptions
from libs.contracts.base import Contract, Request
from libs.contracts.tokens import DocumentId, FileName


class SourceLocation(Request):
    """Where the file lies: `bucket` and `key` must be within what the namespace may read."""

    bucket: str = Field(min_length=1, max_length=255)
    key: str = Field(min_length=1, max_length=1024)
    etag: str | None = None


class IngestRequested(Request):
    """Ingest this object. The namespace is the last token of the subject."""

    document_id: DocumentId | None = None
    file_name: FileName
    source: SourceLocation
    idempotency_key: str | None = Field(default=None, max_length=255)
    options: IngestOptions = Field(default_factory=IngestOptions)


class BucketNotification(Contract):
    """The envelope of an S3 event notification as MinIO sends it to NATS (`Records`)."""

    EventName: str = ""
    Key: str = ""
    Records: list[dict[str, Any]] = []
