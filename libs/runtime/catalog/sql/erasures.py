"""Deletion: hide at once, erase afterwards, and keep a tombstone against what comes late."""

from sqlalchemy import Connection, delete, insert, select, update

from libs.contracts.api.documents import ErasureReceipt
from libs.contracts.events.base import now
from libs.runtime.catalog.sql import job_ledger
from libs.runtime.catalog.sql.flips import raise_version
from libs.runtime.catalog.sql.graph_rows import clear_nodes
from libs.runtime.catalog.sql.records import dump, receipt
from libs.runtime.catalog.sql.schema import (
    active,
    chunk,
    document,
    erasure,
    hit,
    job,
    job_event,
    job_shard,
    of_document,
    revision,
    section,
)
from libs.runtime.catalog.sql.tombstones import EMPTY, EMPTY_JOB
from libs.runtime.catalog.sql.types import overdue


def hide(
    connection: Connection, namespace: str, document_id: str, erasure_id: str
) -> ErasureReceipt | None:
    """See `DocumentStore.hide`; jobs of the document that have not ended are cancelled."""
    this = of_document(document, namespace, document_id)
    row = connection.execute(select(document).where(this)).first()
    if row is None:
        return None
    if row.erasure_id is not None:
        return find(connection, namespace, row.erasure_id)
    moment = now()
    begun = connection.execute(
        insert(erasure)
        .values(
            erasure_id=erasure_id,
            namespace=namespace,
            document_id=document_id,
            state="requested",
            highest_revision=row.last_revision,
            removed="{}",
            requested_at=moment,
        )
        .returning(erasure)
    ).one()
    connection.execute(
        update(document)
        .where(this)
        .values(
            state="erasing",
            erasure_id=erasure_id,
            active_revision=None,
            updated_at=moment,
        )
    )
    connection.execute(delete(active).where(of_document(active, namespace, document_id)))
    unfinished = select(job).where(
        of_document(job, namespace, document_id), job.c.state.in_(("waiting", "running"))
    )
    for unwanted in connection.execute(unfinished).all():
        job_ledger.cancel(connection, unwanted)
    raise_version(connection, namespace)
    return receipt(begun)


def find(connection: Connection, namespace: str, erasure_id: str) -> ErasureReceipt | None:
    """See `DocumentStore.erasure`."""
    row = connection.execute(
        select(erasure).where(erasure.c.namespace == namespace, erasure.c.erasure_id == erasure_id)
    ).first()
    return None if row is None else receipt(row)


def revns_to_erase(connection: Connection, namespace: str, erasure_id: str) -> list[int]:
    """The revisions whose chunks an unfinished erasure has to remove."""
    return list(
        connection.execute(
            select(revision.c.revn)
            .join(
                erasure,
                (erasure.c.namespace == revision.c.namespace)
                & (erasure.c.document_id == revision.c.document_id),
            )
            .where(
                erasure.c.namespace == namespace,
                erasure.c.erasure_id == erasure_id,
                erasure.c.state == "requested",
            )
        ).scalars()
    )


def finish(
    connection: Connection,
    namespace: str,
    erasure_id: str,
    removed: dict[str, int],
    requery_hits: int,
) -> ErasureReceipt | None:
    """See `DocumentStore.erased`.

    Jobs stay as tombstones without names, options, source, history or messages, so that
    a late event or flip of theirs is told from one of the document's next life.
    """
    row = connection.execute(
        select(erasure).where(erasure.c.namespace == namespace, erasure.c.erasure_id == erasure_id)
    ).first()
    if row is None or row.state == "erased":
        return None if row is None else receipt(row)
    _forget(connection, namespace, row.document_id)
    moment = now()
    connection.execute(
        update(document)
        .where(of_document(document, namespace, row.document_id))
        .values(**EMPTY, state="erased", updated_at=moment)
    )
    done = connection.execute(
        update(erasure)
        .where(erasure.c.erasure_id == erasure_id)
        .values(
            state="erased",
            removed=dump(removed),
            requery_hits=requery_hits,
            erased_at=moment,
        )
        .returning(erasure)
    ).one()
    return receipt(done)


def _forget(connection: Connection, namespace: str, document_id: str) -> None:
    revns = select(revision.c.revn).where(of_document(revision, namespace, document_id))
    jobs = select(job.c.job_id).where(of_document(job, namespace, document_id))
    for table in (chunk, section):
        connection.execute(delete(table).where(table.c.revn.in_(revns)))
    clear_nodes(connection, namespace, list(connection.execute(revns).scalars()))
    for table in (job_event, job_shard):
        connection.execute(delete(table).where(table.c.job_id.in_(jobs)))
    for table in (revision, hit):
        connection.execute(delete(table).where(of_document(table, namespace, document_id)))
    connection.execute(
        update(job).where(of_document(job, namespace, document_id)).values(EMPTY_JOB)
    )


def unfinished(connection: Connection, older_than: float) -> list[tuple[str, ErasureReceipt, int]]:
    """See `DocumentStore.unfinished_erasures`."""
    rows = connection.execute(
        select(erasure)
        .where(erasure.c.state == "requested", overdue(erasure.c.requested_at, older_than))
        .order_by(erasure.c.requested_at, erasure.c.erasure_id)
    )
    return [(row.namespace, receipt(row), row.highest_revision) for row in rows]
