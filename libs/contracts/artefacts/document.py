"""`document.json`: identity and winners of a document, beside its revisions."""

from datetime import datetime
from typing import Literal

from libs.contracts.api.ingest import DocumentMetadata
from libs.contracts.base import Contract
from libs.contracts.events.base import ArtefactRef


class RevisionFile(Contract):
    """A published revision that is kept; `artefacts` by their name inside the revision.

    `revn` is the number by which search and graph know it; files of the first versions have
    neither that nor the collection.
    """

    revision: int
    job_id: str
    file_name: str
    source: ArtefactRef | None = None
    artefacts: dict[str, ArtefactRef]
    counts: dict[str, int] = {}
    created_at: datetime
    published_at: datetime | None = None
    revn: int | None = None
    collection: str | None = None


class DocumentFile(Contract):
    """The file itself: what a rebuild needs to know beside the artefacts.

    `last_revision` is the highest number that was ever given, `metadata_at` when the stated
    metadata were last changed by themselves.
    """

    schema_version: Literal[1] = 1
    namespace: str
    document_id: str
    file_name: str
    collection: str
    active_revision: int | None
    highest_published: int
    metadata: DocumentMetadata
    created_at: datetime
    revisions: list[RevisionFile] = []
    last_revision: int = 0
    metadata_at: datetime | None = None
    updated_at: datetime | None = None
