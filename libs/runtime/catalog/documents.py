"""Documents and revisions: identity, the flip, rollback, deletion."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from libs.contracts.api.documents import DocumentState, ErasureReceipt
from libs.contracts.api.ingest import DocumentMetadata
from libs.contracts.events.base import ArtefactRef

RevisionState = Literal["accepted", "staged", "published", "failed", "superseded", "collected"]
FlipOutcome = Literal["flipped", "already", "superseded", "cancelled", "erased"]


@dataclass(frozen=True)
class DocumentRecord:
    """A document. `highest_published` is the largest revision number that was ever published,
    `last_revision` the largest that was ever given; `metadata_at` is when stated metadata were
    last changed by themselves."""

    namespace: str
    document_id: str
    file_name: str
    collection: str
    state: DocumentState
    active_revision: int | None
    highest_published: int
    metadata: DocumentMetadata
    inferred: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    last_revision: int = 0
    metadata_at: datetime | None = None


@dataclass(frozen=True)
class RevisionRecord:
    """A revision. `revn` is the catalog's own integer for it, never reused.

    `artefacts` maps names inside the revision to stored objects and is set by the flip.
    `dense_model` names the model whose vectors are complete, else None.
    """

    namespace: str
    document_id: str
    revision: int
    revn: int
    state: RevisionState
    job_id: str
    file_name: str
    source: ArtefactRef | None
    artefacts: dict[str, ArtefactRef]
    counts: dict[str, int]
    dense_model: str | None
    created_at: datetime
    published_at: datetime | None
    collection: str = "default"


@dataclass(frozen=True)
class ActiveRevision:
    """An entry of the active set: all that search needs to filter and cite."""

    revn: int
    document_id: str
    revision: int
    file_name: str
    collection: str
    format: str
    metadata: DocumentMetadata
    chunk_count: int
    dense_model: str | None


@dataclass(frozen=True)
class ActiveSet:
    """The active revisions of a namespace as of one corpus version, read together."""

    corpus_version: int
    revisions: tuple[ActiveRevision, ...]


@dataclass(frozen=True)
class Flip:
    """What the flip writes. `expected_digest`, where given, MUST equal the staged chunks'
    digest: while another attempt stages, or has staged something else, a flip raises
    `WorldFault(STORE_AWAY)` and changes nothing."""

    namespace: str
    document_id: str
    revision: int
    job_id: str
    artefacts: dict[str, ArtefactRef]
    counts: dict[str, int]
    format: str
    inferred: dict[str, Any] = field(default_factory=dict)
    dense_model: str | None = None
    expected_digest: str | None = None


class DocumentStore(Protocol):
    """Readers see a document's old revision or its new one, whole.

    The corpus version of a namespace rises with every change of what search may return:
    flip, activate, hide, dense flip, metadata.
    """

    async def get(self, namespace: str, document_id: str) -> DocumentRecord | None:
        """The document, hidden and erased ones included (their state says so)."""
        ...

    async def select(
        self,
        namespace: str,
        *,
        after: str | None = None,
        limit: int = 100,
        collection: str | None = None,
        state: DocumentState | None = None,
    ) -> list[DocumentRecord]:
        """By document id, after `after`; erased ones left out unless asked for by state."""
        ...

    async def set_metadata(
        self, namespace: str, document_id: str, metadata: DocumentMetadata
    ) -> DocumentRecord | None:
        """Replace the stated metadata; None when there is no such document."""
        ...

    async def revisions(self, namespace: str, document_id: str) -> list[RevisionRecord]:
        """All revisions, newest first."""
        ...

    async def revision(
        self, namespace: str, document_id: str, revision: int | None = None
    ) -> RevisionRecord | None:
        """This one, or the active one for None; only of documents that are not hidden."""
        ...

    async def flip(self, flip: Flip) -> tuple[FlipOutcome, int]:
        """Make the revision the active one; returns the outcome and the corpus version.

        In one transaction: `cancelled` when its job asked for cancel, `erased` when the
        document is hidden or erased, `superseded` when a higher revision is published,
        `already` when this one is; otherwise `flipped`: revision published, document
        active with its file name and collection, highest published raised, corpus
        version raised.
        """
        ...

    async def activate(self, namespace: str, document_id: str, revision: int) -> int | None:
        """Roll back or forward to a published revision that is still kept; the new corpus
        version (the present one if it is active already), None when there is none such."""
        ...

    async def set_dense(self, namespace: str, document_id: str, revision: int, model: str) -> int:
        """Switch the revision's dense channel on; returns the corpus version."""
        ...

    async def switch_dense(self, namespace: str, revns: list[int], model: str) -> int:
        """Switch these revisions' dense channels to `model`, all at once; returns the corpus
        version, which rises once when readers see it."""
        ...

    async def active_set(self, namespace: str) -> ActiveSet:
        """The active revisions of documents that are not hidden, by document id."""
        ...

    async def corpus_version(self, namespace: str) -> int:
        """The present corpus version, 0 for an unknown namespace. Cheap: read per query."""
        ...

    async def collectable(
        self, namespace: str, document_id: str, keep: int
    ) -> list[RevisionRecord]:
        """Revisions beyond the newest `keep` published ones that are not active, and failed,
        superseded or cancelled ones older than the newest published: their data may go."""
        ...

    async def mark_collected(
        self, namespace: str, document_id: str, revisions: list[int]
    ) -> list[int]:
        """Bar these from ever being activated, before their data is removed; returns which
        are barred: never the active one, nor one that is still being built."""
        ...

    async def hide(
        self, namespace: str, document_id: str, erasure_id: str
    ) -> ErasureReceipt | None:
        """Begin an erasure: from now on no reader finds the document and no flip succeeds.
        The same document again answers the first receipt; None when there is none such."""
        ...

    async def erased(
        self, namespace: str, erasure_id: str, removed: dict[str, int], requery_hits: int
    ) -> ErasureReceipt | None:
        """Finish: every catalog row of the document but the tombstone goes; idempotent."""
        ...

    async def erasure(self, namespace: str, erasure_id: str) -> ErasureReceipt | None:
        """The receipt."""
        ...

    async def unfinished_erasures(self, older_than: float) -> list[tuple[str, ErasureReceipt, int]]:
        """(namespace, receipt, highest revision) of erasures requested more than `older_than`
        seconds ago and not finished."""
        ...
