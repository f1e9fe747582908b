"""Which waiting jobs begin next: a bounded number a namespace, in turn."""

from sqlalchemy import Connection, and_, bindparam, case, exists, func, select, update

from libs.contracts.events.base import now
from libs.contracts.subjects import Stage
from libs.runtime.catalog.jobs import JobRecord
from libs.runtime.catalog.sql.records import job_record
from libs.runtime.catalog.sql.schema import job, namespace

_PAUSED = select(namespace.c.name).where(namespace.c.paused_at.is_not(None))
READY = and_(job.c.state == "waiting", job.c.source.is_not(None), job.c.namespace.not_in(_PAUSED))

_WAITS = select(exists().where(READY))
_FIRST = (
    select(job.c.revn)
    .where(job.c.state == "waiting", job.c.namespace == namespace.c.name, job.c.source.is_not(None))
    .order_by(job.c.revn)
    .limit(1)
    .scalar_subquery()
)
_HEADS = select(namespace.c.name.label("namespace"), _FIRST.label("head")).where(
    namespace.c.paused_at.is_(None)
)
"""A look into the index a namespace, however many jobs wait there."""
_NEXT = (
    select(job.c.revn, job.c.job_id)
    .where(job.c.namespace == bindparam("namespace"), READY)
    .order_by(job.c.revn)
    .limit(bindparam("many"))
)
_LEFT = job.c.total - job.c.done
_SHARDS = case(
    (job.c.stage.in_((Stage.GATEWAY, Stage.PROFILER)), 1),
    ((job.c.stage != Stage.PARSER) | (job.c.unit != "shard"), 0),
    (bindparam("window") > _LEFT, _LEFT),
    else_=bindparam("window"),
)
_RUNNING = (
    select(job.c.namespace, func.count().label("busy"), func.sum(_SHARDS).label("shards"))
    .where(job.c.state == "running")
    .group_by(job.c.namespace)
)
_START = (
    update(job)
    .where(job.c.job_id.in_(bindparam("these", expanding=True)))
    .values(state="running")
    .returning(job)
)


def something_waits(connection: Connection) -> bool:
    """Whether any job could be released."""
    return connection.execute(_WAITS).scalar_one()


def release(
    connection: Connection, per_namespace: int, limit: int, shards: int | None, window: int
) -> list[JobRecord]:
    """See `JobStore.release`: who has the fewest running comes first."""
    chosen = _next(connection, per_namespace, limit, shards, window)
    if not chosen:
        return []
    rows = connection.execute(_START, {"these": chosen, "updated_at": now()})
    records = {row.job_id: job_record(row) for row in rows}
    return [records[job_id] for job_id in chosen]


def _next(
    connection: Connection, per_namespace: int, limit: int, shards: int | None, window: int
) -> list[str]:
    """Ids of the next jobs: each namespace's first before any one's second."""
    running, room = {}, {}
    for row in connection.execute(_RUNNING, {"window": window}):
        running[row.namespace] = row.busy
        free = per_namespace - row.busy
        room[row.namespace] = free if shards is None else min(free, shards - row.shards)
    most = per_namespace if shards is None else min(per_namespace, shards)
    turns = sorted(
        (running.get(row.namespace, 0), row.head, row.namespace)
        for row in connection.execute(_HEADS)
        if row.head is not None
    )
    open_turns = [turn for turn in turns if room.get(turn[2], most) > 0]
    places = []
    for busy, _, name in open_turns[:limit]:
        many = min(room.get(name, most), limit)
        waiting = connection.execute(_NEXT, {"namespace": name, "many": many})
        places += [(busy + turn, revn, job_id) for turn, (revn, job_id) in enumerate(waiting)]
    return [job_id for _, _, job_id in sorted(places)[:limit]]
