"""Which waiting jobs begin next: a bounded number a namespace, in turn."""

from sqlalchemy import Connection, and_, exists, func, select, update

from libs.contracts.events.base import now
from libs.runtime.catalog.jobs import JobRecord
from libs.runtime.catalog.sql.records import job_record
from libs.runtime.catalog.sql.schema import job

READY = and_(job.c.state == "waiting", job.c.source.is_not(None))


def something_waits(connection: Connection) -> bool:
    """Whether any job could be released."""
    return connection.execute(select(exists().where(READY))).scalar_one()


def release(connection: Connection, per_namespace: int, limit: int) -> list[JobRecord]:
    """See `JobStore.release`: who has the fewest running comes first."""
    chosen = _next(connection, per_namespace, limit)
    if not chosen:
        return []
    rows = connection.execute(
        update(job)
        .where(job.c.job_id.in_(chosen))
        .values(state="running", updated_at=now())
        .returning(job)
    )
    records = {row.job_id: job_record(row) for row in rows}
    return [records[job_id] for job_id in chosen]


def _next(connection: Connection, per_namespace: int, limit: int) -> list[str]:
    """Ids of the next jobs: each namespace's first before any one's second."""
    running = _running(connection)
    heads = connection.execute(
        select(job.c.namespace, func.min(job.c.revn)).where(READY).group_by(job.c.namespace)
    )
    turns = sorted(
        (running.get(name, 0), head, name)
        for name, head in heads
        if running.get(name, 0) < per_namespace
    )
    places = []
    for busy, _, name in turns[:limit]:
        waiting = connection.execute(
            select(job.c.revn, job.c.job_id)
            .where(job.c.namespace == name, READY)
            .order_by(job.c.revn)
            .limit(min(per_namespace - busy, limit))
        )
        places += [(busy + turn, revn, job_id) for turn, (revn, job_id) in enumerate(waiting)]
    return [job_id for _, _, job_id in sorted(places)[:limit]]


def _running(connection: Connection) -> dict[str, int]:
    rows = connection.execute(
        select(job.c.namespace, func.count())
        .where(job.c.state == "running")
        .group_by(job.c.namespace)
    )
    return {name: count for name, count in rows}  # noqa: C416 - rows are not typed pairs
