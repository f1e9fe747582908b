"""How a job goes on and ends: its ledger of events, cancel, and what an end means."""

from typing import Any

import orjson
from sqlalchemy import Connection, Row, bindparam, delete, exists, select, update

from libs.contracts.api.documents import JobState
from libs.contracts.events.base import now
from libs.contracts.subjects import PIPELINE_STAGES
from libs.runtime.catalog.jobs import JobEventRecord, JobRecord, LedgerEntry
from libs.runtime.catalog.sql.database import upsert
from libs.runtime.catalog.sql.records import dump, dump_model, job_record
from libs.runtime.catalog.sql.schema import (
    document,
    job,
    job_event,
    job_shard,
    of_document,
    revision,
    same_document,
)

_ORDER = {str(stage): place for place, stage in enumerate(PIPELINE_STAGES)}
_RANK = {"waiting": 0, "running": 1}
_ENDS: dict[str, JobState] = {
    "indexer.published": "published",
    "indexer.superseded": "superseded",
}
_WITH_REVISION = (
    select(job, revision.c.state.label("revision_state"))
    .join(revision, revision.c.revn == job.c.revn)
    .where(job.c.job_id == bindparam("job_id"))
)
_CHANGE = update(job).where(job.c.job_id == bindparam("this")).returning(job)
_ADD_LINE = upsert(job_event).on_conflict_do_nothing(index_elements=["job_id", "event_id"])
_HISTORY = (
    select(job_event)
    .where(job_event.c.job_id == bindparam("job_id"), job_event.c.sequence > bindparam("after"))
    .order_by(job_event.c.sequence)
)
FINAL = ("published", "failed", "cancelled", "superseded")


def _change(connection: Connection, job_id: str, changes: dict[str, Any]) -> Row[Any]:
    """The job's row afterwards."""
    return connection.execute(_CHANGE, {"this": job_id, **changes}).one()


def record(connection: Connection, entry: LedgerEntry) -> JobRecord | None:
    """See `JobStore.record`; the job of an erased revision takes no more events."""
    row = connection.execute(_WITH_REVISION, {"job_id": entry.job_id}).first()
    if row is None:
        return None
    state = _next_state(row.state, entry)
    if state == "cancelled" and row.revision_state == "published":
        state = row.state
    if not _add_line(connection, row, entry, state):
        return None
    changes: dict[str, Any] = {
        "state": state,
        "updated_at": now(),
        "last_sequence": row.last_sequence + 1,
        "timings": _timings(row, entry),
    }
    if row.state not in FINAL:
        changes |= _advance(row, entry)
        if state in FINAL:
            changes["error"] = dump_model(entry.error)
    changed = _change(connection, row.job_id, changes)
    if state in FINAL and row.state not in FINAL:
        settle(connection, changed)
    return job_record(changed)


def _name(entry: LedgerEntry) -> str:
    return entry.event if "." in entry.event else f"{entry.stage}.{entry.event}"


def _next_state(present: str, entry: LedgerEntry) -> str:
    """The state after the entry: it only ever rises, and never leaves an end."""
    name = _name(entry)
    wanted = entry.state or _ENDS.get(name) or ("failed" if name.endswith(".failed") else None)
    if wanted is None or present in FINAL:
        return present
    rises = _RANK.get(wanted, 2) > _RANK[present]
    return wanted if rises else present


def _add_line(connection: Connection, row: Row[Any], entry: LedgerEntry, state: str) -> bool:
    """Add a line to the history of the job; False when the event is there already."""
    data = {
        "stage": entry.stage,
        "state": state,
        "attempt": entry.attempt,
        "progress": {"done": entry.done, "total": entry.total, "unit": entry.unit},
        "error": None if entry.error is None else entry.error.model_dump(mode="json"),
    }
    line = {
        "job_id": row.job_id,
        "sequence": row.last_sequence + 1,
        "event_id": entry.event_id,
        "event": _name(entry),
        "occurred_at": entry.occurred_at,
        "data": dump(data),
    }
    return connection.execute(_ADD_LINE, line).rowcount == 1


def _timings(row: Row[Any], entry: LedgerEntry) -> str:
    elapsed = (entry.occurred_at - row.created_at).total_seconds()
    return dump(orjson.loads(row.timings) | {_name(entry): round(max(0.0, elapsed), 3)})


def _advance(row: Row[Any], entry: LedgerEntry) -> dict[str, Any]:
    """Stage and progress after the entry; a stage already passed changes neither.

    Within a stage, progress towards the same total does not go back.
    """
    if _ORDER.get(entry.stage, -1) < _ORDER.get(row.stage, -1):
        return {}
    changes: dict[str, Any] = {
        "stage": entry.stage,
        "attempt": max(row.attempt, entry.attempt),
    }
    if entry.total:
        same = (row.stage, row.unit, row.total) == (entry.stage, entry.unit, entry.total)
        changes["done"] = max(row.done, entry.done) if same else entry.done
        changes |= {"total": entry.total, "unit": entry.unit}
    if entry.announced is not None:
        changes["announced_subject"], changes["announced_body"] = entry.announced
    return changes


def settle(connection: Connection, row: Row[Any]) -> None:
    """What the end of a job means for its shards, its revision and its document."""
    if row.state != "failed":
        connection.execute(delete(job_shard).where(job_shard.c.job_id == row.job_id))
    if row.state == "published":
        return
    ended = "superseded" if row.state == "superseded" else "failed"
    connection.execute(
        update(revision)
        .where(revision.c.revn == row.revn, revision.c.state.in_(("accepted", "staged")))
        .values(state=ended)
    )
    others = exists().where(
        of_document(job, row.namespace, row.document_id),
        job.c.state.in_(("waiting", "running")),
    )
    connection.execute(
        update(document)
        .where(
            of_document(document, row.namespace, row.document_id),
            document.c.state == "pending",
            ~others,
        )
        .values(state="failed", updated_at=now())
    )


def request_cancel(connection: Connection, namespace: str, job_id: str) -> JobRecord | None:
    """See `JobStore.request_cancel`; too late once the revision is published."""
    row = connection.execute(
        select(job, revision.c.state.label("revision_state"))
        .outerjoin(revision, revision.c.revn == job.c.revn)
        .where(job.c.namespace == namespace, job.c.job_id == job_id)
    ).first()
    if row is None:
        return None
    if row.state == "waiting":
        return job_record(cancel(connection, row))
    if row.state == "running" and row.revision_state != "published":
        row = _change(connection, job_id, {"cancel_requested": True, "updated_at": now()})
    return job_record(row)


def cancel(connection: Connection, row: Row[Any]) -> Row[Any]:
    """End a job as cancelled, with a line in its history; the row afterwards."""
    changes = {"state": "cancelled", "cancel_requested": True}
    changed = _turn(connection, row, "gateway.cancelled", changes)
    settle(connection, changed)
    return changed


def reopen(connection: Connection, job_id: str) -> JobRecord | None:
    """See `JobStore.reopen`."""
    row = connection.execute(
        select(job)
        .join(document, same_document(document, job))
        .join(revision, revision.c.revn == job.c.revn)
        .where(
            job.c.job_id == job_id,
            job.c.state == "failed",
            document.c.state.in_(("pending", "active", "failed")),
            revision.c.state != "collected",
        )
    ).first()
    if row is None:
        return None
    connection.execute(
        update(revision)
        .where(revision.c.revn == row.revn, revision.c.state == "failed")
        .values(state="accepted")
    )
    connection.execute(
        update(document)
        .where(of_document(document, row.namespace, row.document_id), document.c.state == "failed")
        .values(state="pending", updated_at=now())
    )
    changes = {"state": "running", "error": None, "attempt": row.attempt + 1}
    return job_record(_turn(connection, row, "gateway.reopened", changes))


def _turn(connection: Connection, row: Row[Any], event: str, changes: dict[str, Any]) -> Row[Any]:
    """Change a job by a decision of the catalog's own, with a line in its history."""
    moment, sequence = now(), row.last_sequence + 1
    told = LedgerEntry(
        event_id=f"{event}:{sequence}",
        job_id=row.job_id,
        event=event,
        stage=row.stage,
        occurred_at=moment,
        attempt=changes.get("attempt", row.attempt),
    )
    _add_line(connection, row, told, changes["state"])
    return _change(
        connection, row.job_id, {**changes, "updated_at": moment, "last_sequence": sequence}
    )


def history(connection: Connection, job_id: str, after: int = 0) -> list[JobEventRecord]:
    """See `JobStore.history`."""
    rows = connection.execute(_HISTORY, {"job_id": job_id, "after": after})
    return [
        JobEventRecord(row.sequence, row.event, row.occurred_at, orjson.loads(row.data))
        for row in rows
    ]
