"""Bring a catalog's schema to head."""

import asyncio
import contextlib
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from sqlalchemy import Column, Connection, Engine, MetaData, String, Table, inspect, select, text

from libs.contracts.faults import Code, WorldFault
from libs.runtime.catalog.sql.choice import is_postgres, unknown
from libs.runtime.catalog.sql.database import translated
from libs.runtime.catalog.sql.migrations import HEAD
from libs.runtime.catalog.sql.sqlite import sqlite_engine, sqlite_path

PATIENCE_SECONDS = 30.0
MIGRATION_SECONDS = 3600.0

_LOCK = 0x67726F756E640001  # "ground", 1: names our migrations among advisory locks

_version = Table("alembic_version", MetaData(), Column("version_num", String))


async def upgrade(url: str, password: str | None = None, target: str = HEAD) -> None:
    """Run the migrations up to `target`; idempotent, and safe when processes race.

    A schema that a newer version of this program has made is left as it is. Raises
    `ValueError` for an unknown URL, `WorldFault(STORE_AWAY)` when the database cannot be
    reached or stays locked.
    """
    await asyncio.to_thread(_migrate, url, password, target, up=True)


async def downgrade(url: str, target: str, password: str | None = None) -> None:
    """Run the migrations down to the version `target`, or to `base`, which drops all.

    What only newer versions store is lost. Raises as `upgrade` does.
    """
    await asyncio.to_thread(_migrate, url, password, target, up=False)


def _migrate(url: str, password: str | None, target: str, *, up: bool) -> None:
    engine = _engine(url, password)
    try:
        with translated(), _alone(engine) as connection:
            current = _current(connection)
            if up and (current is None or current < target):
                _run("upgrade", connection, target)
            elif not up and current is not None and (target == "base" or target < current):
                _run("downgrade", connection, target)
    finally:
        engine.dispose()


def _engine(url: str, password: str | None) -> Engine:
    if is_postgres(url):
        return _postgres(url, password)
    path = sqlite_path(url)
    if path is None:
        raise unknown(url)
    return _sqlite(path)


def _sqlite(path: Path) -> Engine:
    path.parent.mkdir(parents=True, exist_ok=True)
    engine = sqlite_engine(path, "BEGIN IMMEDIATE", busy_seconds=PATIENCE_SECONDS)
    with translated():
        _write_ahead(engine)
    return engine


def _postgres(url: str, password: str | None) -> Engine:
    from libs.runtime.catalog.sql.postgres import postgres_engine

    return postgres_engine(
        url, password, 1, lock_seconds=PATIENCE_SECONDS, statement_seconds=MIGRATION_SECONDS
    )


@contextlib.contextmanager
def _alone(engine: Engine) -> Iterator[Connection]:
    """A transaction that no other migration runs beside."""
    with engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        yield connection


def _write_ahead(engine: Engine) -> None:
    """Switch the file to WAL: kept by the file, and refused at once while another does it."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    with engine.connect() as connection:
        while True:
            try:
                connection.connection.cursor().execute("PRAGMA journal_mode=WAL")
            except sqlite3.Error as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    detail = f"the catalog database cannot be made ready: {error}"
                    raise WorldFault(Code.STORE_AWAY, detail) from error
                time.sleep(0.02)
            else:
                return


def _current(connection: Connection) -> str | None:
    """The version of the schema; versions are numbers in the order of their making."""
    if not inspect(connection).has_table(_version.name):
        return None
    return connection.execute(select(_version.c.version_num)).scalar_one_or_none()


def _run(way: Literal["upgrade", "downgrade"], connection: Connection, target: str) -> None:
    from alembic import command
    from alembic.config import Config

    location = str(Path(__file__).parent / "migrations").replace("%", "%%")
    config = Config()
    config.set_main_option("script_location", location)
    config.attributes["connection"] = connection
    (command.upgrade if way == "upgrade" else command.downgrade)(config, target)
