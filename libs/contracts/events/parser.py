"""What the parser says."""

from pydantic import Field

from libs.contracts.api.ingest import IngestOptions
from libs.contracts.events.base import ArtefactRef, JobEvent
from libs.contracts.tokens import FileName


class ShardParsed(JobEvent):
    """One shard's rows are stored; the profiler releases the next one."""

    source: ArtefactRef
    profile: ArtefactRef
    file_name: FileName
    shard: int = Field(ge=0)
    shards: int = Field(ge=1)
    done: int = Field(ge=1)
    options: IngestOptions = Field(default_factory=IngestOptions)

    @property
    def shard_token(self) -> str:
        """The shard number."""
        return str(self.shard)


class ShardsDone(JobEvent):
    """The last shard of the set is stored: join them.

    `rows` and `reports` (engine, findings and assets of each shard) lie in shard order.
    """

    source: ArtefactRef
    profile: ArtefactRef
    file_name: FileName
    rows: list[ArtefactRef]
    reports: list[ArtefactRef] = []
    options: IngestOptions = Field(default_factory=IngestOptions)


class DocumentParsed(JobEvent):
    """The joined rows of the document are stored, with their assets and diagnostics.

    `assets` maps names inside the revision (`assets/images/…`) to stored objects.
    """

    source: ArtefactRef
    profile: ArtefactRef
    file_name: FileName
    rows: ArtefactRef
    diagnostics: ArtefactRef
    assets: dict[str, ArtefactRef] = {}
    row_count: int
    engine: str
    versions: dict[str, str] = {}
    options: IngestOptions = Field(default_factory=IngestOptions)
