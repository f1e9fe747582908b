"""What the chunker says."""

from pydantic import Field

from libs.contracts.api.ingest import IngestOptions
from libs.contracts.events.base import ArtefactRef, JobEvent
from libs.contracts.events.parser import DocumentParsed
from libs.contracts.tokens import FileName


class EntriesMerged(DocumentParsed):
    """The records of an upload are merged with what is published: they may be described.

    `entries` is what they are now, `diagnostics` holds what merging noticed.
    """

    entries: ArtefactRef


class EntriesDescribed(EntriesMerged):
    """A model has described the entries: they may be told from their siblings."""


class DocumentChunked(JobEvent):
    """Chunks, navigation, manifest and hierarchy are stored.

    `artefacts` names everything the revision consists of by its name inside the revision
    (`profile.json`, `rows.jsonl.zst`, `chunks.json`, `assets/…`): the flip promotes these.
    """

    file_name: FileName
    artefacts: dict[str, ArtefactRef]
    chunk_count: int
    chunk_digest: str
    options: IngestOptions = Field(default_factory=IngestOptions)
