"""A namespace as a whole: what the corpus files, `check` and `rebuild` need of the catalog."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from libs.contracts.artefacts.corpus import DocumentHits, Tombstone
from libs.contracts.artefacts.document import DocumentFile


@dataclass(frozen=True)
class RevisionFacts:
    """What a revision's profile says of it, as the flip stored it."""

    format: str
    inferred: Mapping[str, Any]


class CorpusStore(Protocol):
    """Listings are pages in a fixed order, each one view, and MUST cost in proportion to what
    they return, but for `changed`, which may look at every document. `restore…` writes what
    the objects say; it MUST NOT be used while services work on the namespace, and doing it
    again MUST change nothing more."""

    async def versions(self) -> dict[str, int]:
        """The corpus version of every namespace. Cheap: read every few seconds."""
        ...

    async def collections(self, namespace: str) -> list[str]:
        """Names of the collections that active documents are in, sorted."""
        ...

    async def hits(self, namespace: str, after: str, limit: int) -> list[DocumentHits]:
        """Counted hits of the next `limit` documents above the id `after` that have any;
        hidden documents are left out."""
        ...

    async def erasures(self, namespace: str, after: str, limit: int) -> list[Tombstone]:
        """Erasures by id, above `after`."""
        ...

    async def changed(self, namespace: str, since: datetime, after: str, limit: int) -> list[str]:
        """Ids above `after` of documents with a published revision that changed at `since` or
        later, hidden ones left out."""
        ...

    async def kept(self, namespace: str, revns: list[int]) -> set[int]:
        """Which of these are published revisions of documents that are not hidden."""
        ...

    async def living(self, namespace: str, revns: list[int]) -> set[int]:
        """Which of these are revisions of which a store may hold something: those that were not
        collected, of documents that are not erased."""
        ...

    async def staged(self, namespace: str, after: int, limit: int) -> list[int]:
        """The next revns above `after` that have chunk rows."""
        ...

    async def restore(self, file: DocumentFile) -> dict[int, int] | None:
        """Make the document and the revisions of its file, ready to be staged; returns their
        revns by number: those of the file unless the catalog knows others. None when the
        document is hidden or erased.

        What readers see stays as it is until `restored`.
        """
        ...

    async def restored(self, file: DocumentFile, facts: Mapping[int, RevisionFacts]) -> list[int]:
        """Publish the revisions of the file, whose chunks are staged, and show its active one.

        Returns the revns of revisions that the catalog had as published and the file has not:
        they are collected, and their data may go. The corpus version does not rise.
        """
        ...

    async def restore_hits(self, namespace: str, hits: list[DocumentHits]) -> None:
        """Raise counters to these; higher ones stay."""
        ...

    async def restore_erasures(self, namespace: str, erasures: list[Tombstone]) -> None:
        """Make the erasures that are not known, and hide their documents unless those are."""
        ...

    async def forget_dense(self, namespace: str) -> None:
        """Switch the dense channel of every revision off."""
        ...

    async def raise_version(self, namespace: str, above: int) -> int:
        """Make the corpus version higher than it is and than `above`; returns it. The
        namespace is made when absent."""
        ...
