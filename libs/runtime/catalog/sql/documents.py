"""Documents and revisions in SQL."""

from sqlalchemy import Connection, bindparam, select, update

from libs.contracts.api.documents import DocumentState, ErasureReceipt
from libs.contracts.api.ingest import DocumentMetadata
from libs.contracts.faults import WorldFault
from libs.runtime.catalog.documents import (
    ActiveSet,
    DocumentRecord,
    Flip,
    FlipOutcome,
    RevisionRecord,
)
from libs.runtime.catalog.sql import erasures, flips
from libs.runtime.catalog.sql.database import Database
from libs.runtime.catalog.sql.records import document_record, revision_record
from libs.runtime.catalog.sql.schema import (
    active,
    document,
    document_key,
    of_document,
    revision,
    same_document,
    this_document,
)
from libs.runtime.catalog.sql.staging import remove_chunks
from libs.runtime.gathering import Gathering

_HIDDEN = ("erasing", "erased")
_DOCUMENT = select(document).where(this_document(document))
_REVISIONS = select(revision).where(this_document(revision)).order_by(revision.c.revision.desc())
_SHOWN = (
    select(revision)
    .join(document, same_document(document, revision))
    .where(this_document(document), document.c.state.not_in(_HIDDEN))
)
_ACTIVE = _SHOWN.where(revision.c.revision == document.c.active_revision)
_NUMBERED = _SHOWN.where(revision.c.revision == bindparam("this"))


def _get(connection: Connection, namespace: str, document_id: str) -> DocumentRecord | None:
    row = connection.execute(_DOCUMENT, document_key(namespace, document_id)).first()
    return None if row is None else document_record(row)


def _select_documents(
    connection: Connection,
    namespace: str,
    after: str | None,
    limit: int,
    collection: str | None,
    state: DocumentState | None,
) -> list[DocumentRecord]:
    query = select(document).where(document.c.namespace == namespace)
    if after is not None:
        query = query.where(document.c.document_id > after)
    if collection is not None:
        query = query.where(document.c.collection == collection)
    if state is not None:
        query = query.where(document.c.state == state)
    else:
        query = query.where(document.c.state.not_in(_HIDDEN))
    rows = connection.execute(query.order_by(document.c.document_id).limit(limit))
    return [document_record(row) for row in rows]


def _set_metadata(
    connection: Connection, namespace: str, document_id: str, metadata: DocumentMetadata
) -> DocumentRecord | None:
    row = flips.set_metadata(connection, namespace, document_id, metadata)
    return None if row is None else document_record(row)


def _revisions(connection: Connection, namespace: str, document_id: str) -> list[RevisionRecord]:
    rows = connection.execute(_REVISIONS, document_key(namespace, document_id))
    return [revision_record(row) for row in rows]


def _revision(
    connection: Connection, namespace: str, document_id: str, number: int | None
) -> RevisionRecord | None:
    key = document_key(namespace, document_id)
    if number is None:
        row = connection.execute(_ACTIVE, key).first()
    else:
        row = connection.execute(_NUMBERED, {**key, "this": number}).first()
    return None if row is None else revision_record(row)


def _collectable(
    connection: Connection, namespace: str, document_id: str, keep: int
) -> list[RevisionRecord]:
    row = connection.execute(
        select(document.c.active_revision, document.c.highest_published).where(
            of_document(document, namespace, document_id)
        )
    ).first()
    if row is None:
        return []
    records = _revisions(connection, namespace, document_id)
    published = [one for one in records if one.state == "published"]
    spent = [
        one
        for one in records
        if one.state in ("failed", "superseded") and one.revision < row.highest_published
    ]
    return [one for one in published[keep:] + spent if one.revision != row.active_revision]


def _mark_collected(
    connection: Connection, namespace: str, document_id: str, revisions: list[int]
) -> list[int]:
    shown = select(active.c.revn).where(of_document(active, namespace, document_id))
    barred = connection.execute(
        update(revision)
        .where(
            of_document(revision, namespace, document_id),
            revision.c.revision.in_(revisions),
            revision.c.revn.not_in(shown),
            revision.c.state.in_(("published", "failed", "superseded", "collected")),
        )
        .values(state="collected", artefacts="{}")
        .returning(revision.c.revision)
    ).scalars()
    return sorted(barred)


def _flip_all(
    connection: Connection, wanted: list[Flip]
) -> list[tuple[FlipOutcome, int] | WorldFault]:
    """What each came to; one that must wait for another attempt has changed nothing."""
    outcomes: list[tuple[FlipOutcome, int] | WorldFault] = []
    for one in wanted:
        try:
            outcomes.append(flips.flip(connection, one))
        except WorldFault as fault:
            outcomes.append(fault)
    return outcomes


class SqlDocuments:
    """The `DocumentStore` of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._flipping = Gathering(self._flip)

    async def get(self, namespace: str, document_id: str) -> DocumentRecord | None:
        """See the port."""
        return await self._database.look_up(_get, namespace, document_id)

    async def select(
        self,
        namespace: str,
        *,
        after: str | None = None,
        limit: int = 100,
        collection: str | None = None,
        state: DocumentState | None = None,
    ) -> list[DocumentRecord]:
        """See the port."""
        return await self._database.read(
            _select_documents, namespace, after, limit, collection, state
        )

    async def set_metadata(
        self, namespace: str, document_id: str, metadata: DocumentMetadata
    ) -> DocumentRecord | None:
        """See the port."""
        return await self._database.write(_set_metadata, namespace, document_id, metadata)

    async def revisions(self, namespace: str, document_id: str) -> list[RevisionRecord]:
        """See the port."""
        return await self._database.read_once(_revisions, namespace, document_id)

    async def revision(
        self, namespace: str, document_id: str, revision: int | None = None
    ) -> RevisionRecord | None:
        """See the port."""
        return await self._database.look_up(_revision, namespace, document_id, revision)

    async def flip(self, flip: Flip) -> tuple[FlipOutcome, int]:
        """See the port; flips that wait are written in one transaction."""
        outcome = await self._flipping(flip)
        if isinstance(outcome, WorldFault):
            raise outcome
        return outcome

    async def _flip(self, wanted: list[Flip]) -> list[tuple[FlipOutcome, int] | WorldFault]:
        return await self._database.write(_flip_all, wanted)

    async def activate(self, namespace: str, document_id: str, revision: int) -> int | None:
        """See the port."""
        return await self._database.write(flips.activate, namespace, document_id, revision)

    async def set_dense(self, namespace: str, document_id: str, revision: int, model: str) -> int:
        """See the port."""
        return await self._database.write(flips.set_dense, namespace, document_id, revision, model)

    async def switch_dense(self, namespace: str, revns: list[int], model: str) -> int:
        """See the port."""
        return await self._database.write(flips.switch_dense, namespace, revns, model)

    async def active_set(self, namespace: str) -> ActiveSet:
        """See the port."""
        return await self._database.read_once(flips.active_set, namespace)

    async def corpus_version(self, namespace: str) -> int:
        """See the port."""
        return await self._database.look_up(flips.corpus_version, namespace)

    async def collectable(
        self, namespace: str, document_id: str, keep: int
    ) -> list[RevisionRecord]:
        """See the port."""
        return await self._database.read(_collectable, namespace, document_id, keep)

    async def mark_collected(
        self, namespace: str, document_id: str, revisions: list[int]
    ) -> list[int]:
        """See the port."""
        return await self._database.write(_mark_collected, namespace, document_id, revisions)

    async def hide(
        self, namespace: str, document_id: str, erasure_id: str
    ) -> ErasureReceipt | None:
        """See the port."""
        return await self._database.write(erasures.hide, namespace, document_id, erasure_id)

    async def erased(
        self, namespace: str, erasure_id: str, removed: dict[str, int], requery_hits: int
    ) -> ErasureReceipt | None:
        """See the port; chunks go first, in batches."""
        revns = await self._database.read(erasures.revns_to_erase, namespace, erasure_id)
        await remove_chunks(self._database, revns)
        return await self._database.write(
            erasures.finish, namespace, erasure_id, removed, requery_hits
        )

    async def erasure(self, namespace: str, erasure_id: str) -> ErasureReceipt | None:
        """See the port."""
        return await self._database.read(erasures.find, namespace, erasure_id)

    async def unfinished_erasures(self, older_than: float) -> list[tuple[str, ErasureReceipt, int]]:
        """See the port."""
        return await self._database.read(erasures.unfinished, older_than)
