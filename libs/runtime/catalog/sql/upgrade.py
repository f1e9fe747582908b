"""Bring a catalog's schema to head."""

import asyncio
import sqlite3
import time
from pathlib import Path

from sqlalchemy import Column, Connection, Engine, MetaData, String, Table, inspect, select

from libs.contracts.faults import Code, WorldFault
from libs.runtime.catalog.sql.database import sqlite_engine, sqlite_path, translated
from libs.runtime.catalog.sql.migrations import HEAD

PATIENCE_SECONDS = 30.0

_version = Table("alembic_version", MetaData(), Column("version_num", String))


async def upgrade(url: str) -> None:
    """Run the migrations to head; idempotent, and safe when processes race.

    Raises `ValueError` for an unknown URL, `WorldFault(STORE_AWAY)` when the database
    cannot be reached or stays locked.
    """
    path = sqlite_path(url)
    await asyncio.to_thread(_upgrade, path)


def _upgrade(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    engine = sqlite_engine(path, "BEGIN IMMEDIATE", busy_seconds=PATIENCE_SECONDS)
    try:
        with translated():
            _write_ahead(engine)
            with engine.begin() as connection:
                if _current(connection) != HEAD:
                    _migrate(connection)
    finally:
        engine.dispose()


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
    if not inspect(connection).has_table(_version.name):
        return None
    return connection.execute(select(_version.c.version_num)).scalar_one_or_none()


def _migrate(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    location = str(Path(__file__).parent / "migrations").replace("%", "%%")
    config = Config()
    config.set_main_option("script_location", location)
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
