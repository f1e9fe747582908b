"""The ledger of jobs in SQL."""

from datetime import timedelta
from typing import Any

import orjson
from sqlalchemy import Connection, bindparam, func, select, update

from libs.contracts.api.documents import JobState
from libs.contracts.api.ingest import IngestOptions
from libs.contracts.events.base import ArtefactRef, now
from libs.contracts.faults import Code, StaleFault
from libs.runtime.catalog.jobs import (
    Admission,
    Admitted,
    JobEventRecord,
    JobRecord,
    LedgerEntry,
    Standing,
)
from libs.runtime.catalog.sql import job_admission, job_discard, job_ledger, job_release
from libs.runtime.catalog.sql.database import Database, upsert
from libs.runtime.catalog.sql.records import dump, job_record
from libs.runtime.catalog.sql.schema import (
    document,
    job,
    job_shard,
    revision,
    same_document,
    task_failure,
)
from libs.runtime.catalog.sql.types import overdue
from libs.runtime.gathering import Gathering

_STANDING = (
    select(
        job.c.state,
        job.c.cancel_requested,
        job.c.revision,
        document.c.highest_published,
        document.c.state.label("document_state"),
        revision.c.revn,
    )
    .join(document, same_document(document, job))
    .outerjoin(revision, revision.c.revn == job.c.revn)
    .where(job.c.job_id == bindparam("job_id"))
)
_JOB = select(job).where(job.c.job_id == bindparam("job_id"))
_JOB_HERE = _JOB.where(job.c.namespace == bindparam("namespace"))
_FINISHED: dict[str, Standing] = {
    "published": "finished",
    "failed": "finished",
    "cancelled": "cancelled",
    "superseded": "superseded",
}


def _standing(connection: Connection, job_id: str) -> Standing:
    row = connection.execute(_STANDING, {"job_id": job_id}).first()
    if row is None:
        return "unknown"
    if row.revn is None or row.document_state in ("erasing", "erased"):
        return "erased"
    if row.state in _FINISHED:
        return _FINISHED[row.state]
    if row.cancel_requested:
        return "cancelled"
    return "superseded" if row.highest_published > row.revision else "current"


def _count(connection: Connection, namespace: str | None, state: JobState) -> int:
    query = select(func.count()).select_from(job).where(job.c.state == state)
    if namespace is not None:
        query = query.where(job.c.namespace == namespace)
    return connection.execute(query).scalar_one()


def _get(connection: Connection, namespace: str | None, job_id: str) -> JobRecord | None:
    if namespace is None:
        row = connection.execute(_JOB, {"job_id": job_id}).first()
    else:
        row = connection.execute(_JOB_HERE, {"job_id": job_id, "namespace": namespace}).first()
    return None if row is None else job_record(row)


def _followed(
    connection: Connection, namespace: str, job_id: str, after: int
) -> tuple[JobRecord, list[JobEventRecord]] | None:
    found = _get(connection, namespace, job_id)
    return None if found is None else (found, job_ledger.history(connection, job_id, after))


def _select_jobs(
    connection: Connection, namespace: str, state: JobState | None, before: str | None, limit: int
) -> list[JobRecord]:
    query = select(job).where(job.c.namespace == namespace)
    if state is not None:
        query = query.where(job.c.state == state)
    if before is not None:
        query = query.where(job.c.job_id < before)
    rows = connection.execute(query.order_by(job.c.job_id.desc()).limit(limit))
    return [job_record(row) for row in rows]


def _find(connection: Connection, namespace: str, identity: str) -> JobRecord | None:
    row = job_admission.known(connection, namespace, job_admission.identity_hash(identity))
    return None if row is None else job_record(row)


def _quiet(connection: Connection, seconds: float, limit: int) -> list[JobRecord]:
    query = select(job).where(job.c.state == "running", overdue(job.c.updated_at, seconds))
    rows = connection.execute(query.order_by(job.c.updated_at, job.c.revn).limit(limit))
    return [job_record(row) for row in rows]


def _alive(connection: Connection, job_id: str) -> None:
    connection.execute(
        update(job).where(job.c.job_id == job_id, job.c.state == "running").values(updated_at=now())
    )


def _unsourced(connection: Connection, seconds: float, limit: int) -> list[JobRecord]:
    since = now() - timedelta(seconds=seconds)
    query = select(job).where(
        job.c.state == "waiting", job.c.source.is_(None), job.c.created_at <= since
    )
    rows = connection.execute(query.order_by(job.c.revn).limit(limit))
    return [job_record(row) for row in rows]


def _shard_done(
    connection: Connection,
    job_id: str,
    shard: int,
    shards: int,
    rows: ArtefactRef,
    details: dict[str, Any],
) -> list[tuple[ArtefactRef, dict[str, Any]]]:
    if not 0 <= shard < shards:
        raise ValueError(f"shard {shard} is not one of {shards}")
    if (standing := _standing(connection, job_id)) in ("unknown", "erased"):
        raise StaleFault(Code.ERASED, f"the job {job_id} is {standing}")
    made = upsert(job_shard).values(
        job_id=job_id, shard=shard, rows=rows.model_dump_json(), details=dump(details)
    )
    connection.execute(
        made.on_conflict_do_update(
            index_elements=["job_id", "shard"],
            set_={"rows": made.excluded.rows, "details": made.excluded.details},
        )
    )
    connection.execute(update(job).where(job.c.job_id == job_id).values(updated_at=now()))
    stored = connection.execute(
        select(job_shard.c.rows, job_shard.c.details)
        .where(job_shard.c.job_id == job_id, job_shard.c.shard < shards)
        .order_by(job_shard.c.shard)
    )
    return [
        (ArtefactRef.model_validate_json(rows), orjson.loads(details)) for rows, details in stored
    ]


def _failure(connection: Connection, task: str, kind: str) -> int:
    made = upsert(task_failure).values(task=task, kind=kind, count=1)
    counted = connection.execute(
        made.on_conflict_do_update(
            index_elements=["task", "kind"], set_={"count": task_failure.c.count + 1}
        ).returning(task_failure.c.count)
    )
    return int(counted.scalar_one())


def _record(connection: Connection, entries: list[LedgerEntry]) -> list[JobRecord | None]:
    return [job_ledger.record(connection, entry) for entry in entries]


class SqlJobs:
    """The `JobStore` of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._recording = Gathering(self._record)

    async def admit(self, admission: Admission) -> Admitted:
        """See the port."""
        return await self._database.write(job_admission.admit, admission)

    async def source_stored(self, job_id: str, source: ArtefactRef) -> JobRecord:
        """See the port; an unknown job raises `CallerFault(NOT_FOUND, 404)`."""
        return await self._database.write(job_admission.source_stored, job_id, source)

    async def unchanged(
        self, namespace: str, document_id: str, sha256: str, options: IngestOptions
    ) -> JobRecord | None:
        """See the port."""
        return await self._database.read(
            job_admission.unchanged, namespace, document_id, sha256, options
        )

    async def discard(self, job_id: str) -> None:
        """See the port."""
        await self._database.write(job_discard.discard, job_id)

    async def release(
        self,
        per_namespace: int,
        limit: int,
        *,
        shards: int | None = None,
        shard_window: int = 1,
    ) -> list[JobRecord]:
        """See the port; the write lock is taken only when something waits."""
        if not await self._database.look_up(job_release.something_waits):
            return []
        return await self._database.write(
            job_release.release, per_namespace, limit, shards, shard_window
        )

    async def count(self, namespace: str | None, state: JobState) -> int:
        """See the port."""
        return await self._database.read_once(_count, namespace, state)

    async def get(self, namespace: str | None, job_id: str) -> JobRecord | None:
        """See the port."""
        return await self._database.look_up(_get, namespace, job_id)

    async def find(self, namespace: str, identity: str) -> JobRecord | None:
        """See the port."""
        return await self._database.look_up(_find, namespace, identity)

    async def select(
        self,
        namespace: str,
        *,
        state: JobState | None = None,
        before: str | None = None,
        limit: int = 100,
    ) -> list[JobRecord]:
        """See the port."""
        return await self._database.read(_select_jobs, namespace, state, before, limit)

    async def record(self, entry: LedgerEntry) -> JobRecord | None:
        """See the port; entries that wait are written in one transaction."""
        return await self._recording(entry)

    async def _record(self, entries: list[LedgerEntry]) -> list[JobRecord | None]:
        return await self._database.write(_record, entries)

    async def history(self, job_id: str, after: int = 0) -> list[JobEventRecord]:
        """See the port."""
        return await self._database.read_once(job_ledger.history, job_id, after)

    async def followed(
        self, namespace: str, job_id: str, after: int
    ) -> tuple[JobRecord, list[JobEventRecord]] | None:
        """See the port."""
        return await self._database.read(_followed, namespace, job_id, after)

    async def request_cancel(self, namespace: str, job_id: str) -> JobRecord | None:
        """See the port."""
        return await self._database.write(job_ledger.request_cancel, namespace, job_id)

    async def reopen(self, job_id: str) -> JobRecord | None:
        """See the port."""
        return await self._database.write(job_ledger.reopen, job_id)

    async def standing(self, job_id: str) -> Standing:
        """See the port."""
        return await self._database.look_up(_standing, job_id)

    async def quiet(self, seconds: float, limit: int) -> list[JobRecord]:
        """See the port."""
        return await self._database.read(_quiet, seconds, limit)

    async def alive(self, job_id: str) -> None:
        """See the port."""
        await self._database.write(_alive, job_id)

    async def unsourced(self, seconds: float, limit: int) -> list[JobRecord]:
        """See the port."""
        return await self._database.read(_unsourced, seconds, limit)

    async def shard_done(
        self, job_id: str, shard: int, shards: int, rows: ArtefactRef, details: dict[str, Any]
    ) -> list[tuple[ArtefactRef, dict[str, Any]]]:
        """See the port; a job that is gone raises `StaleFault(ERASED)`."""
        return await self._database.write(_shard_done, job_id, shard, shards, rows, details)

    async def failure(self, task: str, kind: str) -> int:
        """See the port."""
        return await self._database.write(_failure, task, kind)
