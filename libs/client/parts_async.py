"""Parts of the asynchronous client."""

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


class AsyncPart(ABC):
    """What every part needs of the client."""

    connection: Connection

    @abstractmethod
    async def _send(self, call: Call[T]) -> T: ...


class AsyncReading(AsyncPart):
    """Reading calls."""

    async def section(
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
        return await self._send(
            reading.section(
                self.connection.namespace, document_id, path, depth=depth, chunks=chunks,
                after=after, chunk_ids=chunk_ids, revision=revision,
            )
        )  # fmt: skip

    async def markdown(
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
        return await self._send(
            reading.markdown(
                space, document_id, path, offset=offset, limit=limit, revision=revision
            )
        )

    async def grep(self, request: GrepRequest) -> GrepAnswer:
        """Chunks of active revisions that hold a pattern."""
        return await self._send(reading.grep(self.connection.namespace, request))

    async def picture(
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
        return await self._send(
            reading.picture(space, document_id, page, width=width, boxes=boxes, revision=revision)
        )


class AsyncFetching(AsyncPart):
    """Fetching calls."""

    async def ingest_url(
        self,
        url: str,
        *,
        file_name: str | None = None,
        document_id: str | None = None,
        options: IngestOptions | None = None,
    ) -> Accepted:
        """Have the service fetch a document; refused (403) unless its host is allowed there."""
        space = self.connection.namespace
        return await self._send(
            fetching.ingest_url(
                space, url, file_name=file_name, document_id=document_id, options=options
            )
        )


class AsyncOperating(AsyncPart):
    """Operators' calls."""

    async def manifest(self, document_id: str, revision: int | None = None) -> Manifest:
        """What a revision is made of, and by which engine."""
        space = self.connection.namespace
        return await self._send(operating.manifest(space, document_id, revision))

    async def reprocess(self, document_id: str, engine: str | None = None) -> Accepted:
        """Make a document again from its kept source, as a new revision."""
        space = self.connection.namespace
        return await self._send(operating.reprocess(space, document_id, engine))

    async def pauses(self) -> Pauses:
        """What is paused. For the role admin."""
        return await self._send(operating.pauses())

    async def set_paused(self, kind: Kind, name: str, paused: bool) -> Pauses:
        """Pause a stage or a namespace, or let it go on. For the role admin."""
        return await self._send(operating.set_paused(kind, name, paused))


class AsyncAdministering(AsyncPart):
    """Calls about dead letters and the audit log, for operators; about keys, namespaces and
    usage, for the role admin."""

    async def dead_letters(
        self,
        *,
        stage: str | None = None,
        code: str | None = None,
        document_id: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> Page[LetterView]:
        """What ran out of deliveries, oldest first."""
        return await self._send(
            administering.dead_letters(
                stage=stage, code=code, document_id=document_id, cursor=cursor, limit=limit
            )
        )

    async def dead_letter(self, letter_id: str) -> LetterView:
        """One dead letter, whole."""
        return await self._send(administering.dead_letter(letter_id))

    async def replay(self, letter_id: str) -> None:
        """Send a dead letter again, as a new message."""
        await self._send(administering.replay(letter_id))

    async def discard(self, letter_id: str, reason: str | None = None) -> None:
        """Drop a dead letter for good; the reason stands in the audit log."""
        await self._send(administering.discard(letter_id, reason))

    async def audit(
        self,
        *,
        namespace: str | None = None,
        action: str | None = None,
        target: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> Page[AuditEntry]:
        """Who did what, newest first."""
        return await self._send(
            administering.audit(
                namespace=namespace, action=action, target=target, cursor=cursor, limit=limit
            )
        )

    async def keys(
        self, namespace: str | None = None, *, cursor: str | None = None, limit: int | None = None
    ) -> Page[KeyView]:
        """Keys of a namespace, or all."""
        return await self._send(administering.keys(namespace, cursor=cursor, limit=limit))

    async def create_key(self, namespace: str, role: str, label: str = "") -> KeyView:
        """A new key; its `secret` is told only here."""
        return await self._send(administering.create_key(namespace, role, label))

    async def rotate_key(self, key_id: str, overlap_seconds: int = 0) -> KeyView:
        """A key in the place of another, which ends at once or stays good for a while."""
        return await self._send(administering.rotate_key(key_id, overlap_seconds))

    async def revoke_key(self, key_id: str) -> None:
        """End a key at once."""
        await self._send(administering.revoke_key(key_id))

    async def namespaces(self, *, cursor: str | None = None, limit: int | None = None) -> Page[str]:
        """All namespaces."""
        return await self._send(administering.namespaces(cursor=cursor, limit=limit))

    async def create_namespace(self, namespace: str) -> None:
        """A new namespace."""
        await self._send(administering.create_namespace(namespace))

    async def usage(
        self, namespace: str | None = None, *, cursor: str | None = None, limit: int | None = None
    ) -> Page[Usage]:
        """Documents, chunks, keys and jobs of a namespace, or of each."""
        return await self._send(administering.usage(namespace, cursor=cursor, limit=limit))


class AsyncEntries(AsyncPart):
    """Calls about entries."""

    async def send_records(
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
        return await self._send(
            entries.send_records(space, collection, path, given, wait_for_dense=wait_for_dense)
        )

    async def delete_entry(self, collection: str, entry_id: str) -> Accepted:
        """Take one entry out, with the collection's next revision."""
        space = self.connection.namespace
        return await self._send(entries.delete_entry(space, collection, entry_id))

    async def find_entries(self, collection: str, search: str | EntrySearch) -> FoundEntries:
        """The entries that everyday words mean."""
        asked = EntrySearch(query=search) if isinstance(search, str) else search
        space = self.connection.namespace
        return await self._send(entries.find_entries(space, collection, asked))

    async def collection(self, name: str) -> CollectionSettings:
        """What the entries of a collection share."""
        return await self._send(entries.collection(self.connection.namespace, name))

    async def set_collection(self, name: str, settings: CollectionSettings) -> CollectionSettings:
        """Set what the entries of a collection share."""
        return await self._send(entries.set_collection(self.connection.namespace, name, settings))

    async def collections(self) -> list[str]:
        """The collections that have published entries."""
        return (await self._send(entries.collections(self.connection.namespace))).items

    async def overview(self, name: str) -> CollectionView:
        """What is published of a collection."""
        return await self._send(entries.overview(self.connection.namespace, name))

    async def enrich(self, name: str, request: EnrichRequest | None = None) -> Enriched:
        """What having entries described by models would cost; with `dry_run` false the job."""
        asked = request or EnrichRequest()
        return await self._send(entries.enrich(self.connection.namespace, name, asked))

    async def export_review(
        self, name: str, *, by: str = "category", language: ReviewLanguage = "ko"
    ) -> bytes:
        """The workbook in which people review the entries."""
        space = self.connection.namespace
        return await self._send(entries.export_review(space, name, by, language))

    async def send_review(self, name: str, path: Path) -> ReviewAccepted:
        """Send the edited workbook; both jobs that are answered publish what it changes."""
        return await self._send(entries.send_review(self.connection.namespace, name, path))

    async def review_report(self, name: str) -> ReviewReport:
        """What the review that made the active revision changed."""
        return await self._send(entries.review_report(self.connection.namespace, name))
