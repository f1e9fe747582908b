"""Runs, steps and hits in SQL."""

from collections import Counter
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import (
    BindParameter,
    Connection,
    Row,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)

from libs.contracts.events.planner import SearchRan
from libs.runtime.catalog.runs import RunRecord
from libs.runtime.catalog.sql.database import Database, upsert
from libs.runtime.catalog.sql.records import dump
from libs.runtime.catalog.sql.schema import document, hit, of_document, run
from libs.runtime.catalog.sql.scrubbing import mention_of, scrubbed

BATCH = 200

_OF: BindParameter[str] = bindparam("of")
_KNOWN = select(run.c.run_id).where(
    run.c.namespace == _OF, run.c.run_id.in_(bindparam("run_ids", expanding=True))
)
_HIDDEN = select(document.c.document_id).where(
    document.c.namespace == _OF,
    document.c.document_id.in_(bindparam("document_ids", expanding=True)),
    document.c.state.in_(("erasing", "erased")),
)
_ADD_RUNS = insert(run)
_ADD_HITS = upsert(hit)
_COUNT_HITS = _ADD_HITS.on_conflict_do_update(
    index_elements=["namespace", "document_id", "chunk_id"],
    set_={"count": hit.c.count + _ADD_HITS.excluded.count},
)


def _append(connection: Connection, runs: list[SearchRan]) -> int:
    """Store runs and count hits; what is being erased is neither named nor counted."""
    by_namespace: dict[str, dict[str, SearchRan]] = {}
    for one in runs:
        by_namespace.setdefault(one.namespace, {}).setdefault(one.run_id, one)
    return sum(_append_to(connection, name, some) for name, some in by_namespace.items())


def _append_to(connection: Connection, namespace: str, runs: dict[str, SearchRan]) -> int:
    asked = {"of": namespace, "run_ids": list(runs)}
    known = set(connection.execute(_KNOWN, asked).scalars())
    fresh = [one for run_id, one in runs.items() if run_id not in known]
    if not fresh:
        return 0
    mentioned = {each.document_id for one in fresh for each in one.hits}
    hidden = _hidden(connection, namespace, mentioned)
    connection.execute(_ADD_RUNS, [_row(one, hidden) for one in fresh])
    _count_hits(connection, namespace, fresh, hidden)
    return len(fresh)


def _hidden(connection: Connection, namespace: str, document_ids: set[str]) -> set[str]:
    """Which of these documents are hidden or erased."""
    asked = {"of": namespace, "document_ids": sorted(document_ids)}
    return set(connection.execute(_HIDDEN, asked).scalars())


def _count_hits(
    connection: Connection, namespace: str, runs: list[SearchRan], hidden: set[str]
) -> None:
    counts = Counter(
        (each.document_id, each.chunk_id)
        for one in runs
        for each in one.hits
        if each.document_id not in hidden
    )
    if counts:
        connection.execute(
            _COUNT_HITS,
            [
                {"namespace": namespace, "document_id": one, "chunk_id": chunk_id, "count": count}
                for (one, chunk_id), count in counts.items()
            ],
        )


def _row(one: SearchRan, hidden: set[str]) -> dict[str, Any]:
    steps: Any = [step.model_dump(mode="json") for step in one.steps]
    trace: Any = one.trace
    ids = {
        name
        for each in one.hits
        if each.document_id in hidden
        for name in (each.document_id, each.chunk_id)
    }
    if ids:
        mention = mention_of(ids)
        steps, trace = scrubbed(steps, mention), scrubbed(trace, mention)
    return {
        "namespace": one.namespace,
        "run_id": one.run_id,
        "key_id": one.key_id,
        "mode": one.mode,
        "status": one.status,
        "cached": one.cached,
        "corpus_version": one.corpus_version,
        "latency_ms": one.latency_ms,
        "trace_id": one.trace_id,
        "created_at": one.occurred_at,
        "steps": dump(steps),
        "trace": dump(trace),
    }


def _record(row: Row[Any]) -> RunRecord:
    return RunRecord(
        run_id=row.run_id,
        namespace=row.namespace,
        key_id=row.key_id,
        mode=row.mode,
        status=row.status,
        cached=row.cached,
        corpus_version=row.corpus_version,
        latency_ms=row.latency_ms,
        trace_id=row.trace_id,
        steps=orjson.loads(row.steps),
        trace=orjson.loads(row.trace),
        created_at=row.created_at,
    )


def _get_run(connection: Connection, namespace: str, run_id: str) -> RunRecord | None:
    row = connection.execute(
        select(run).where(run.c.namespace == namespace, run.c.run_id == run_id)
    ).first()
    return None if row is None else _record(row)


def _hits(connection: Connection, namespace: str, document_id: str) -> dict[str, int]:
    rows = connection.execute(
        select(hit.c.chunk_id, hit.c.count.label("count_")).where(
            of_document(hit, namespace, document_id)
        )
    )
    return {row.chunk_id: row.count_ for row in rows}


def _forget_hits(connection: Connection, namespace: str, document_id: str) -> list[str]:
    gone = delete(hit).where(of_document(hit, namespace, document_id)).returning(hit.c.chunk_id)
    return list(connection.execute(gone).scalars())


def _mentioning(connection: Connection, namespace: str, document_id: str, after: str) -> list[str]:
    """The next runs whose steps or trace may name the document, by run id."""
    named = or_(
        run.c.steps.contains(document_id, autoescape=True),
        run.c.trace.contains(document_id, autoescape=True),
    )
    return list(
        connection.execute(
            select(run.c.run_id)
            .where(run.c.namespace == namespace, run.c.run_id > after, named)
            .order_by(run.c.run_id)
            .limit(BATCH)
        ).scalars()
    )


def _scrub_runs(connection: Connection, namespace: str, run_ids: list[str], ids: list[str]) -> int:
    mention = mention_of(ids)
    rows = connection.execute(
        select(run.c.run_id, run.c.steps, run.c.trace).where(
            run.c.namespace == namespace, run.c.run_id.in_(run_ids)
        )
    ).all()
    changed = 0
    for run_id, steps, trace in rows:
        cleaned = {
            "steps": dump(scrubbed(orjson.loads(steps), mention)),
            "trace": dump(scrubbed(orjson.loads(trace), mention)),
        }
        if cleaned != {"steps": steps, "trace": trace}:
            this = (run.c.namespace == namespace) & (run.c.run_id == run_id)
            connection.execute(update(run).where(this).values(cleaned))
            changed += 1
    return changed


def _expire(connection: Connection, older_than: datetime) -> int:
    """Remove the oldest runs, about a batch of them."""
    oldest = (
        select(run.c.created_at)
        .where(run.c.created_at < older_than)
        .order_by(run.c.created_at)
        .limit(BATCH)
        .subquery()
    )
    until = connection.execute(select(func.max(oldest.c.created_at))).scalar_one()
    if until is None:
        return 0
    return connection.execute(delete(run).where(run.c.created_at <= until)).rowcount


class SqlRuns:
    """The `RunStore` of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def append(self, runs: list[SearchRan]) -> int:
        """See the port."""
        new = 0
        for start in range(0, len(runs), BATCH):
            new += await self._database.write(_append, runs[start : start + BATCH])
        return new

    async def get(self, namespace: str, run_id: str) -> RunRecord | None:
        """See the port."""
        return await self._database.read(_get_run, namespace, run_id)

    async def hits(self, namespace: str, document_id: str) -> dict[str, int]:
        """See the port."""
        return await self._database.read(_hits, namespace, document_id)

    async def remove_document(self, namespace: str, document_id: str) -> int:
        """See the port; returns how many hit counters and runs were changed."""
        chunk_ids = await self._database.write(_forget_hits, namespace, document_id)
        changed, after = len(chunk_ids), ""
        while run_ids := await self._database.read(_mentioning, namespace, document_id, after):
            after = run_ids[-1]
            changed += await self._database.write(
                _scrub_runs, namespace, run_ids, [document_id, *chunk_ids]
            )
        return changed

    async def expire(self, older_than: datetime) -> int:
        """See the port."""
        gone = 0
        while batch := await self._database.write(_expire, older_than):
            gone += batch
        return gone
