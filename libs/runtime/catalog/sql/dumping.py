"""What only the catalog knows, as files: one `<table>.jsonl.zst` each, the same from any database.

Content (chunks, sections, the active set, the graph) is left out, since it is made again from
the objects: so no text that was erased can come back with a backup.
"""

import asyncio
import base64
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson
import zstandard
from sqlalchemy import Connection, Engine, LargeBinary, Table, select, update

from libs.runtime.catalog.sql.audit_schema import audit
from libs.runtime.catalog.sql.choice import is_postgres, unknown
from libs.runtime.catalog.sql.database import translated, upsert
from libs.runtime.catalog.sql.restoring import settle_sequence
from libs.runtime.catalog.sql.schema import (
    api_key,
    document,
    erasure,
    hit,
    job,
    job_event,
    job_shard,
    namespace,
    revision,
    run,
    task_failure,
    vector,
)
from libs.runtime.catalog.sql.sqlite import sqlite_engine, sqlite_path
from libs.runtime.catalog.sql.types import UtcDateTime
from libs.runtime.chunkfile import slices

TABLES = (
    namespace, api_key, document, revision, job, job_event, job_shard, task_failure, erasure, hit,
    run, vector, audit,
)  # fmt: skip
"""In an order in which every row finds what it refers to."""

BATCH = 500
PATIENCE_SECONDS = 60.0
STATEMENT_SECONDS = 3600.0

Tell = Callable[[str, int, int], None]


async def dump_catalog(url: str, password: str | None, folder: Path, tell: Tell) -> dict[str, int]:
    """Write all tables, as of one moment, into `folder`; returns how many rows of each.

    Raises `WorldFault(STORE_AWAY)`, `ValueError` for an unknown URL.
    """
    return await asyncio.to_thread(_dump, url, password, folder, tell)


async def load_catalog(url: str, password: str | None, folder: Path, tell: Tell) -> dict[str, int]:
    """Put the rows of a dump into a migrated catalog; rows that are there stay. All or nothing.

    Raises as `dump_catalog` does, and `CatalogNotEmpty` when it has documents.
    """
    return await asyncio.to_thread(_load, url, password, folder, tell)


_NOT_STAGED = (
    update(revision)
    .where(revision.c.state.in_(("accepted", "staged")))
    .values(state="accepted", stage_token=None, stage_digest=None, chunk_digest=None, chunk_count=0)
)
"""Chunks are not in a dump, so what was staged of a job at work is not there any more."""


class CatalogNotEmpty(Exception):
    """A dump is loaded into a catalog that has no documents, or not at all."""


async def refuse_unless_empty(url: str, password: str | None) -> None:
    """Raise `CatalogNotEmpty` for a catalog that has documents."""

    def look() -> None:
        with _transaction(url, password, "BEGIN") as connection:
            _refuse_unless_empty(connection)

    await asyncio.to_thread(look)


def _refuse_unless_empty(connection: Connection) -> None:
    if connection.execute(select(document.c.document_id).limit(1)).first() is not None:
        raise CatalogNotEmpty("the catalog has documents already")


def _dump(url: str, password: str | None, folder: Path, tell: Tell) -> dict[str, int]:
    counts = {}
    with _transaction(url, password, "BEGIN") as connection:
        for done, table in enumerate(TABLES):
            tell("catalog: tables", done, len(TABLES))
            counts[table.name] = _dump_table(connection, table, folder / f"{table.name}.jsonl.zst")
    tell("catalog: tables", len(TABLES), len(TABLES))
    return counts


def _dump_table(connection: Connection, table: Table, path: Path) -> int:
    rows = connection.execution_options(yield_per=BATCH).execute(
        select(table).order_by(*table.primary_key)
    )
    count = 0
    with path.open("wb") as file, zstandard.ZstdCompressor().stream_writer(file) as out:
        for row in rows.mappings():
            out.write(
                orjson.dumps({str(name): _plain(value) for name, value in row.items()}) + b"\n"
            )
            count += 1
    return count


def _load(url: str, password: str | None, folder: Path, tell: Tell) -> dict[str, int]:
    counts = {}
    with _transaction(url, password, "BEGIN IMMEDIATE") as connection:
        _refuse_unless_empty(connection)
        for done, table in enumerate(TABLES):
            tell("catalog: tables", done, len(TABLES))
            counts[table.name] = 0
            for some in slices(_rows(table, folder / f"{table.name}.jsonl.zst"), BATCH):
                connection.execute(upsert(table).on_conflict_do_nothing(), some)
                counts[table.name] += len(some)
        connection.execute(_NOT_STAGED)
        settle_sequence(connection)
    tell("catalog: tables", len(TABLES), len(TABLES))
    return counts


def _rows(table: Table, path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file; columns that it does not have yet are empty, and so is a table that
    was made after the dump."""
    if not path.exists():
        return
    kinds = {column.name: column.type for column in table.c}
    with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as pieces:
        for line in io.BufferedReader(pieces):
            row = orjson.loads(line)
            yield {name: _typed(kind, row.get(name)) for name, kind in kinds.items()}


def _plain(value: Any) -> Any:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def _typed(kind: Any, value: Any) -> Any:
    if value is None:
        return None
    if isinstance(kind, UtcDateTime):
        return datetime.fromisoformat(value)
    return base64.b64decode(value) if isinstance(kind, LargeBinary) else value


@contextmanager
def _transaction(url: str, password: str | None, begin: str) -> Iterator[Connection]:
    engine = _engine(url, password, begin)
    try:
        with translated(), engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


def _engine(url: str, password: str | None, begin: str) -> Engine:
    if is_postgres(url):
        from libs.runtime.catalog.sql.postgres import postgres_engine

        engine = postgres_engine(url, password, 1, statement_seconds=STATEMENT_SECONDS)
        return engine.execution_options(isolation_level="REPEATABLE READ")
    path = sqlite_path(url)
    if path is None:
        raise unknown(url)
    return sqlite_engine(path, begin, busy_seconds=PATIENCE_SECONDS)
