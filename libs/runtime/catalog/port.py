"""The catalog port: identity and state of documents, revisions, jobs, keys and runs.

Every method is one transaction. Times are aware UTC datetimes. A method that changes
state MUST be a compare-and-set on what it read, so that a second caller sees the first
one's result. A store that is away or busy past its timeout MUST raise
`WorldFault(STORE_AWAY)`. Ids of another namespace behave as absent everywhere.
"""

from typing import Protocol

from libs.runtime.catalog.audit import AuditStore
from libs.runtime.catalog.chunks import ChunkStore
from libs.runtime.catalog.corpus import CorpusStore
from libs.runtime.catalog.documents import DocumentStore
from libs.runtime.catalog.jobs import JobStore
from libs.runtime.catalog.keys import KeyStore
from libs.runtime.catalog.runs import RunStore


class Catalog(Protocol):
    """The seven parts of the catalog, over one database."""

    @property
    def keys(self) -> KeyStore:
        """Namespaces and API keys."""
        ...

    @property
    def documents(self) -> DocumentStore:
        """Documents and revisions."""
        ...

    @property
    def jobs(self) -> JobStore:
        """The ledger of jobs."""
        ...

    @property
    def chunks(self) -> ChunkStore:
        """Chunks and sections of revisions."""
        ...

    @property
    def runs(self) -> RunStore:
        """Runs, steps and hits."""
        ...

    @property
    def corpus(self) -> CorpusStore:
        """Namespaces as a whole, for corpus files, check and rebuild."""
        ...

    @property
    def audit(self) -> AuditStore:
        """Who did what."""
        ...

    async def ping(self) -> None:
        """Raise `WorldFault(STORE_AWAY)` unless the database answers."""
        ...

    async def close(self) -> None:
        """Release connections."""
        ...
