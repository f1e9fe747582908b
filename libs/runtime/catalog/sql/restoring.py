"""Rows made again from what the object store says, for `CorpusStore`."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Row, case, delete, insert, select, text, update

from libs.contracts.artefacts.corpus import Tombstone
from libs.contracts.artefacts.document import DocumentFile, RevisionFile
from libs.contracts.events.base import now
from libs.runtime.catalog.corpus import RevisionFacts
from libs.runtime.catalog.sql import flips
from libs.runtime.catalog.sql.database import upsert
from libs.runtime.catalog.sql.keys import ensure_namespace
from libs.runtime.catalog.sql.records import dump, dump_model, dump_refs
from libs.runtime.catalog.sql.schema import (
    active,
    document,
    erasure,
    hit,
    namespace,
    of_document,
    revision,
)
from libs.runtime.catalog.sql.tombstones import EMPTY

_HIDDEN = ("erasing", "erased")


def restore(connection: Connection, file: DocumentFile) -> dict[int, int] | None:
    """See `CorpusStore.restore`."""
    ensure_namespace(connection, file.namespace)
    this = of_document(document, file.namespace, file.document_id)
    row = connection.execute(select(document).where(this)).first()
    if row is None:
        _insert_document(connection, file)
    elif row.state in _HIDDEN and not _lives_again(row, file):
        return None
    else:
        changes: dict[str, Any] = {"last_revision": max(row.last_revision, file.last_revision)}
        if row.state == "erased":
            changes |= {"state": "pending", "erasure_id": None}
        connection.execute(update(document).where(this).values(changes))
    revns = {one.revision: _revision(connection, file, one) for one in file.revisions}
    settle_sequence(connection)
    return revns


def _lives_again(row: Row[Any], file: DocumentFile) -> bool:
    """Whether the file is of the life after an erasure that has ended."""
    newest = max((one.revision for one in file.revisions), default=0)
    return bool(row.state == "erased" and newest > row.last_revision)


def _insert_document(connection: Connection, file: DocumentFile) -> None:
    connection.execute(
        insert(document).values(
            namespace=file.namespace,
            document_id=file.document_id,
            file_name=file.file_name,
            collection=file.collection,
            state="pending",
            highest_published=file.highest_published,
            last_revision=file.last_revision,
            metadata=dump_model(file.metadata),
            inferred="{}",
            created_at=file.created_at,
            updated_at=file.updated_at or now(),
        )
    )


def _revision(connection: Connection, file: DocumentFile, one: RevisionFile) -> int:
    """Make the revision, or find it; to be staged anew in any case."""
    fresh = {"state": "accepted", "stage_token": None, "stage_digest": None}
    known = connection.execute(
        update(revision)
        .where(
            of_document(revision, file.namespace, file.document_id),
            revision.c.revision == one.revision,
        )
        .values(fresh)
        .returning(revision.c.revn)
    ).scalar_one_or_none()
    if known is not None:
        return int(known)
    values: dict[str, Any] = {
        **fresh,
        "namespace": file.namespace,
        "document_id": file.document_id,
        "revision": one.revision,
        "job_id": one.job_id,
        "file_name": one.file_name,
        "collection": one.collection or file.collection,
        "format": "",
        "chunk_count": 0,
        "created_at": one.created_at,
        "source": dump_model(one.source),
        "counts": "{}",
        "inferred": "{}",
        "artefacts": "{}",
    }
    taken = select(revision.c.revn).where(revision.c.revn == one.revn)
    if one.revn is not None and connection.execute(taken).first() is None:
        values["revn"] = one.revn
    return int(
        connection.execute(insert(revision).values(values).returning(revision.c.revn)).scalar_one()
    )


def settle_sequence(connection: Connection) -> None:
    """Numbers that are given from now on are above all that were put in by themselves;
    SQLite sees to that by itself."""
    if connection.dialect.name == "postgresql":
        connection.execute(
            text(
                "SELECT setval(pg_get_serial_sequence('revision', 'revn'), "
                "greatest(nextval(pg_get_serial_sequence('revision', 'revn')), "
                "(SELECT max(revn) FROM revision)))"
            )
        )


def restored(
    connection: Connection, file: DocumentFile, facts: Mapping[int, RevisionFacts]
) -> list[int]:
    """See `CorpusStore.restored`."""
    own = of_document(revision, file.namespace, file.document_id)
    shown: Row[Any] | None = None
    for one in file.revisions:
        row = connection.execute(
            update(revision)
            .where(own, revision.c.revision == one.revision)
            .values(_published(file, one, facts[one.revision]))
            .returning(revision)
        ).one()
        shown = row if one.revision == file.active_revision else shown
    collected = connection.execute(
        update(revision)
        .where(
            own,
            revision.c.state == "published",
            revision.c.revision.not_in([one.revision for one in file.revisions]),
        )
        .values(state="collected", artefacts="{}")
        .returning(revision.c.revn)
    ).scalars()
    gone = sorted(collected)
    connection.execute(
        update(document)
        .where(of_document(document, file.namespace, file.document_id))
        .values(
            file_name=file.file_name,
            collection=file.collection,
            state="pending" if shown is None else "active",
            active_revision=None if shown is None else shown.revision,
            highest_published=file.highest_published,
            metadata=dump_model(file.metadata),
            metadata_at=file.metadata_at,
            inferred="{}" if shown is None else shown.inferred,
            created_at=file.created_at,
            updated_at=file.updated_at or now(),
        )
    )
    if shown is not None:
        flips.put_active(connection, shown, file.metadata)
    else:
        connection.execute(
            delete(active).where(of_document(active, file.namespace, file.document_id))
        )
    return gone


def _published(file: DocumentFile, one: RevisionFile, facts: RevisionFacts) -> dict[str, Any]:
    return {
        "state": "published",
        "job_id": one.job_id,
        "file_name": one.file_name,
        "collection": one.collection or file.collection,
        "format": facts.format,
        "created_at": one.created_at,
        "published_at": one.published_at,
        "source": dump_model(one.source),
        "counts": dump(one.counts),
        "inferred": dump(dict(facts.inferred)),
        "artefacts": dump_refs(one.artefacts),
    }


def hits(connection: Connection, name: str, rows: list[tuple[str, str, int]]) -> None:
    """See `CorpusStore.restore_hits`; rows are (document, chunk, count)."""
    made = upsert(hit)
    higher = case((made.excluded.count > hit.c.count, made.excluded.count), else_=hit.c.count)
    connection.execute(
        made.on_conflict_do_update(
            index_elements=["namespace", "document_id", "chunk_id"], set_={"count": higher}
        ),
        [
            {"namespace": name, "document_id": one, "chunk_id": chunk_id, "count": count}
            for one, chunk_id, count in rows
        ],
    )


def erasures(connection: Connection, name: str, tombstones: list[Tombstone]) -> None:
    """See `CorpusStore.restore_erasures`."""
    ensure_namespace(connection, name)
    for one in tombstones:
        receipt = one.receipt
        made = connection.execute(
            upsert(erasure).on_conflict_do_nothing(),
            {
                "erasure_id": receipt.erasure_id,
                "namespace": name,
                "document_id": receipt.document_id,
                "state": receipt.state,
                "highest_revision": one.highest_revision,
                "removed": dump(receipt.removed),
                "requery_hits": receipt.requery_hits,
                "requested_at": receipt.requested_at,
                "erased_at": receipt.erased_at,
            },
        )
        if made.rowcount:
            _bury(connection, name, one)


def _bury(connection: Connection, name: str, one: Tombstone) -> None:
    """Leave the tombstone of an erasure that was not known in place of the document, unless
    that has a later life."""
    receipt = one.receipt
    tombstone = {
        **EMPTY,
        "state": "erased" if receipt.state == "erased" else "erasing",
        "last_revision": one.highest_revision,
        "erasure_id": receipt.erasure_id,
        "updated_at": receipt.erased_at or receipt.requested_at,
    }
    made = connection.execute(
        upsert(document).on_conflict_do_nothing(),
        {
            **tombstone,
            "namespace": name,
            "document_id": receipt.document_id,
            "created_at": receipt.requested_at,
        },
    )
    if made.rowcount:
        return
    buried = connection.execute(
        update(document)
        .where(
            of_document(document, name, receipt.document_id),
            document.c.erasure_id.is_(None),
            document.c.last_revision <= one.highest_revision,
        )
        .values(tombstone)
    )
    if buried.rowcount:
        connection.execute(delete(active).where(of_document(active, name, receipt.document_id)))


def forget_dense(connection: Connection, name: str) -> None:
    """See `CorpusStore.forget_dense`."""
    for table in (revision, active):
        connection.execute(update(table).where(table.c.namespace == name).values(dense_model=None))


def raise_version(connection: Connection, name: str, above: int) -> int:
    """See `CorpusStore.raise_version`."""
    ensure_namespace(connection, name)
    connection.execute(
        update(namespace)
        .where(namespace.c.name == name, namespace.c.corpus_version < above)
        .values(corpus_version=above)
    )
    return flips.raise_version(connection, name)
