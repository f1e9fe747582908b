"""Parts of the synchronous client: written from `parts_async.py` by `make fix`, never by hand."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from libs.client import administering, entries, fetching, operating, reading
from libs.client.calls import Call
from libs.client.connection import Connection
from libs.client.operating import Kind
from libs.contracts.api.audit import AuditEntry
from libs.contracts.api.documents import Accepted, KeyView, Page, Pauses, Usage
from libs.contracts.api.ingest import IngestOptions
from libs.contracts.api.letters import LetterView
from libs.contracts.api.reading import GrepAnswer, GrepRequest, SectionView
from libs.contracts.artefacts.manifest import Manifest
from libs.contracts.artefacts.records import ReviewReport
from libs.contracts.entries import CollectionSettings, CollectionView, RecordRules
from libs.contracts.query.entries import (
    Enriched,
    EnrichRequest,
    EntrySearch,
    FoundEntries,
    ReviewAccepted,
)
from libs.contracts.review import ReviewLanguage

T = TypeVar("T")


class Part(ABC):
    """What every part needs of the client."""

    connection: Connection

    @abstractmethod
    def _send(self, call: Call[T]) -> T: ...


class Reading(Part):
    """Reading calls."""

    def section(
        self,
        document_id: str,
        path: Sequence[str] = (),
        *,
        depth: int = 1,
        chunks: int = 0,
        after: int = -1,
        chunk_ids: Sequence[str] = (),
        revision: int | None = None,
    ) -> SectionView:
        """The section with this heading path, its children to a depth, and as many of its
        chunks, of these ids where some are given, behind the order `after`."""
        return self._send(
            reading.section(
                self.connection.namespace, document_id, path, depth=depth, chunks=chunks,
                after=after, chunk_ids=chunk_ids, revision=revision,
            )
        )  # fmt: skip

    def markdown(
        self,
        document_id: str,
        path: Sequence[str] = (),
        *,
        offset: int = 0,
        limit: int = 100_000,
        revision: int | None = None,
    ) -> str:
        """At most `limit` characters of the document, or a section of it, as Markdown."""
        space = self.connection.namespace
        return self._send(
            reading.markdown(
                space, document_id, path, offset=offset, limit=limit, revision=revision
            )
        )

    def grep(self, request: GrepRequest) -> GrepAnswer:
        """Chunks of active revisions that hold a pattern."""
        return self._send(reading.grep(self.connection.namespace, request))

    def picture(
        self,
        document_id: str,
        page: int,
        *,
        width: int = 1000,
        boxes: Sequence[Sequence[float]] = (),
        revision: int | None = None,
    ) -> bytes:
        """A page of a PDF or image as PNG, with boxes (x0, y0, x1, y1 in points) marked."""
        space = self.connection.namespace
        return self._send(
            reading.picture(space, document_id, page, width=width, boxes=boxes, revision=revision)
        )


class Fetching(Part):
    """Fetching calls."""

    def ingest_url(
        self,
        url: str,
        *,
        file_name: str | None = None,
        document_id: str | None = None,
        options: IngestOptions | None = None,
    ) -> Accepted:
        """Have the service fetch a document; refused (403) unless its host is allowed there."""
        space = self.connection.namespace
        return self._send(
            fetching.ingest_url(
                space, url, file_name=file_name, document_id=document_id, options=options
            )
        )


class Operating(Part):
    """Operators' calls."""

    def manifest(self, document_id: str, revision: int | None = None) -> Manifest:
        """What a revision is made of, and by which engine."""
        space = self.connection.namespace
        return self._send(operating.manifest(space, document_id, revision))

    def reprocess(self, document_id: str, engine: str | None = None) -> Accepted:
        """Make a document again from its kept source, as a new revision."""
        space = self.connection.namespace
        return self._send(operating.reprocess(space, document_id, engine))

    def pauses(self) -> Pauses:
        """What is paused. For the role admin."""
        return self._send(operating.pauses())

    def set_paused(self, kind: Kind, name: str, paused: bool) -> Pauses:
        """Pause a stage or a namespace, or let it go on. For the role admin."""
        return self._send(operating.set_paused(kind, name, paused))


class Administering(Part):
    """Calls about dead letters and the audit log, for operators; about keys, namespaces and
    usage, for the role admin."""

    def dead_letters(
        self,
        *,
        stage: str | None = None,
        code: str | None = None,
        document_id: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> Page[LetterView]:
        """What ran out of deliveries, oldest first."""
        return self._send(
            administering.dead_letters(
                stage=stage, code=code, document_id=document_id, cursor=cursor, limit=limit
            )
        )

    def dead_letter(self, letter_id: str) -> LetterView:
        """One dead letter, whole."""
        return self._send(administering.dead_letter(letter_id))

    def replay(self, letter_id: str) -> None:
        """Send a dead letter again, as a new message."""
        self._send(administering.replay(letter_id))

    def discard(self, letter_id: str, reason: str | None = None) -> None:
        """Drop a dead letter for good; the reason stands in the audit log."""
        self._send(administering.discard(letter_id, reason))

    def audit(
        self,
        *,
        namespace: str | None = None,
        action: str | None = None,
        target: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> Page[AuditEntry]:
        """Who did what, newest first."""
        return self._send(
            administering.audit(
                namespace=namespace, action=action, target=target, cursor=cursor, limit=limit
            )
        )

    def keys(
        self, namespace: str | None = None, *, cursor: str | None = None, limit: int | None = None
    ) -> Page[KeyView]:
        """Keys of a namespace, or all."""
        return self._send(administering.keys(namespace, cursor=cursor, limit=limit))

    def create_key(self, namespace: str, role: str, label: str = "") -> KeyView:
        """A new key; its `secret` is told only here."""
        return self._send(administering.create_key(namespace, role, label))

    def rotate_key(self, key_id: str, overlap_seconds: int = 0) -> KeyView:
        """A key in the place of another, which ends at once or stays good for a while."""
        return self._send(administering.rotate_key(key_id, overlap_seconds))

    def revoke_key(self, key_id: str) -> None:
        """End a key at once."""
        self._send(administering.revoke_key(key_id))

    def namespaces(self, *, cursor: str | None = None, limit: int | None = None) -> Page[str]:
        """All namespaces."""
        return self._send(administering.namespaces(cursor=cursor, limit=limit))

    def create_namespace(self, namespace: str) -> None:
        """A new namespace."""
        self._send(administering.create_namespace(namespace))

    def usage(
        self, namespace: str | None = None, *, cursor: str | None = None, limit: int | None = None
    ) -> Page[Usage]:
        """Documents, chunks, keys and jobs of a namespace, or of each."""
        return self._send(administering.usage(namespace, cursor=cursor, limit=limit))


class Entries(Part):
    """Calls about entries."""

    def send_records(
        self,
        collection: str,
        path: Path,
        rules: RecordRules | None = None,
        *,
        wait_for_dense: bool = False,
    ) -> Accepted:
        """Send a file of entries (or, by the rules' kind, of sample questions); the job that is
        answered publishes them."""
        space, given = self.connection.namespace, rules or RecordRules()
        return self._send(
            entries.send_records(space, collection, path, given, wait_for_dense=wait_for_dense)
        )

    def delete_entry(self, collection: str, entry_id: str) -> Accepted:
        """Take one entry out, with the collection's next revision."""
        space = self.connection.namespace
        return self._send(entries.delete_entry(space, collection, entry_id))

    def find_entries(self, collection: str, search: str | EntrySearch) -> FoundEntries:
        """The entries that everyday words mean."""
        asked = EntrySearch(query=search) if isinstance(search, str) else search
        space = self.connection.namespace
        return self._send(entries.find_entries(space, collection, asked))

    def collection(self, name: str) -> CollectionSettings:
        """What the entries of a collection share."""
        return self._send(entries.collection(self.connection.namespace, name))

    def set_collection(self, name: str, settings: CollectionSettings) -> CollectionSettings:
        """Set what the entries of a collection share."""
        return self._send(entries.set_collection(self.connection.namespace, name, settings))

    def collections(self) -> list[str]:
        """The collections that have published entries."""
        return (self._send(entries.collections(self.connection.namespace))).items

    def overview(self, name: str) -> CollectionView:
        """What is published of a collection."""
        return self._send(entries.overview(self.connection.namespace, name))

    def enrich(self, name: str, request: EnrichRequest | None = None) -> Enriched:
        """What having entries described by models would cost; with `dry_run` false the job."""
        asked = request or EnrichRequest()
        return self._send(entries.enrich(self.connection.namespace, name, asked))

    def export_review(
        self, name: str, *, by: str = "category", language: ReviewLanguage = "ko"
    ) -> bytes:
        """The workbook in which people review the entries."""
        space = self.connection.namespace
        return self._send(entries.export_review(space, name, by, language))

    def send_review(self, name: str, path: Path) -> ReviewAccepted:
        """Send the edited workbook; both jobs that are answered publish what it changes."""
        return self._send(entries.send_review(self.connection.namespace, name, path))

    def review_report(self, name: str) -> ReviewReport:
        """What the review that made the active revision changed."""
        return self._send(entries.review_report(self.connection.namespace, name))
