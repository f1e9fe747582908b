"""Forgetting a job whose source never came: the document is again as it was."""

from typing import Any

from sqlalchemy import Connection, Row, delete, exists, select, update

from libs.contracts.events.base import now
from libs.runtime.catalog.sql.schema import document, erasure, job, of_document, revision
from libs.runtime.catalog.sql.tombstones import EMPTY


def discard(connection: Connection, job_id: str) -> None:
    """See `JobStore.discard`: the number of the newest revision is free again."""
    row = connection.execute(
        delete(job)
        .where(job.c.job_id == job_id, job.c.state == "waiting", job.c.source.is_(None))
        .returning(job)
    ).first()
    if row is None:
        return
    this = of_document(document, row.namespace, row.document_id)
    connection.execute(delete(revision).where(revision.c.revn == row.revn))
    connection.execute(
        update(document)
        .where(this, document.c.last_revision == row.revision)
        .values(last_revision=row.revision - 1)
    )
    pending = connection.execute(select(document).where(this, document.c.state == "pending"))
    if pending.first() is not None:
        _restore(connection, row)


def _restore(connection: Connection, gone: Row[Any]) -> None:
    """What an unpublished document is without the job that is gone."""
    key = (gone.namespace, gone.document_id)
    newest = connection.execute(
        select(revision).where(of_document(revision, *key)).order_by(revision.c.revision.desc())
    ).first()
    changes: dict[str, Any] = {"updated_at": now()}
    if newest is not None:
        unfinished = exists().where(of_document(job, *key), job.c.state.in_(("waiting", "running")))
        goes_on = connection.execute(select(unfinished)).scalar_one()
        changes |= {"file_name": newest.file_name, "collection": newest.collection}
        changes["state"] = "pending" if goes_on else "failed"
    elif (erased := _last_erasure(connection, *key)) is not None:
        changes |= {**EMPTY, "state": "erased", "erasure_id": erased}
    else:
        connection.execute(delete(document).where(of_document(document, *key)))
        return
    connection.execute(update(document).where(of_document(document, *key)).values(changes))


def _last_erasure(connection: Connection, namespace: str, document_id: str) -> str | None:
    return connection.execute(
        select(erasure.c.erasure_id)
        .where(of_document(erasure, namespace, document_id))
        .order_by(erasure.c.requested_at.desc())
        .limit(1)
    ).scalar_one_or_none()
