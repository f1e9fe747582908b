"""What the profiler says."""

from pydantic import Field

from libs.contracts.api.ingest import IngestOptions
from libs.contracts.artefacts.profile import PageRange
from libs.contracts.events.base import ArtefactRef, JobEvent
from libs.contracts.tokens import FileName


class DocumentProfiled(JobEvent):
    """The file was looked at once; `shards` tasks follow, a small window at a time."""

    profile: ArtefactRef
    format: str
    page_count: int
    shards: int


class DocumentSharded(JobEvent):
    """Parse this shard. Pages count from 1; 0–0 means the whole of an unpaged file."""

    source: ArtefactRef
    profile: ArtefactRef
    file_name: FileName
    shard: int = Field(ge=0)
    shards: int = Field(ge=1)
    pages: PageRange
    options: IngestOptions = Field(default_factory=IngestOptions)

    @property
    def shard_token(self) -> str:
        """The shard number."""
        return str(self.shard)
