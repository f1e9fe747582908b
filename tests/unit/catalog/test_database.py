import asyncio
import re
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, exc, insert, select

from libs.contracts.events.base import now
from libs.contracts.faults import Code, WorldFault
from libs.runtime.catalog.sql import SqlCatalog, open_catalog
from libs.runtime.catalog.sql.choice import CHOICES
from libs.runtime.catalog.sql.schema import namespace
from libs.runtime.catalog.sql.sqlite import SqliteDatabase, sqlite_path
from tests.support.catalogs import fast_folder, fresh_database
from tests.support.waiting import PATIENCE


@pytest.fixture
async def catalog(path: Path) -> AsyncIterator[SqlCatalog]:
    await fresh_database(path.parent)
    catalog = SqlCatalog(SqliteDatabase(path, busy_seconds=0.05))
    yield catalog
    await catalog.close()


@pytest.fixture
def path() -> Iterator[Path]:
    with fast_folder() as folder:
        yield folder / "catalog.db"


def add(connection: Connection, name: str) -> None:
    connection.execute(insert(namespace).values(name=name, corpus_version=0, created_at=now()))


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:/a/b.db", "/a/b.db"),
        ("sqlite:///a/b.db", "/a/b.db"),
        ("sqlite:a/b c.db", "a/b c.db"),
    ],
)
def test_a_url_names_a_file(url: str, path: str) -> None:
    assert sqlite_path(url) == Path(path)


@pytest.mark.parametrize(
    "url",
    ["", "sqlite:", "sqlite://", "sqlite::memory:", "/a/b.db", "mysql://u:secret@h/d", "SQL:x"],
)
def test_any_other_url_is_refused_with_the_choices(url: str) -> None:
    with pytest.raises(ValueError, match=re.escape(CHOICES)) as refusal:
        open_catalog(url)
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize(
    "url", ["postgresql:", "postgresql:///d", "postgresql://h", "postgresql:d"]
)
def test_a_postgres_url_names_host_and_database(url: str) -> None:
    with pytest.raises(ValueError, match="postgresql://<user>@<host>"):
        open_catalog(url)


async def test_a_busy_database_is_a_world_fault_and_comes_back(
    catalog: SqlCatalog, path: Path
) -> None:
    hog = sqlite3.connect(path, isolation_level=None)
    hog.execute("BEGIN IMMEDIATE")
    with pytest.raises(WorldFault) as caught:
        await catalog.keys.create_namespace("acme")
    assert caught.value.code is Code.STORE_AWAY
    assert await catalog.keys.list_namespaces() == [], "readers go on"
    hog.execute("ROLLBACK")
    hog.close()
    assert await catalog.keys.create_namespace("acme")


async def test_without_tables_the_fault_says_what_to_run(tmp_path: Path) -> None:
    catalog = open_catalog(f"sqlite:{tmp_path / 'empty.db'}")
    with pytest.raises(WorldFault, match="groundwire bootstrap"):
        await catalog.ping()
    await catalog.close()


async def test_a_missing_folder_is_a_world_fault(tmp_path: Path) -> None:
    catalog = open_catalog(f"sqlite:{tmp_path / 'absent' / 'catalog.db'}")
    with pytest.raises(WorldFault):
        await catalog.ping()
    await catalog.close()


async def test_an_operation_that_raises_changes_nothing(catalog: SqlCatalog) -> None:
    def half(connection: Connection) -> None:
        add(connection, "acme")
        raise LookupError

    with pytest.raises(LookupError):
        await catalog.database.write(half)
    assert await catalog.keys.list_namespaces() == []


async def test_a_broken_rule_is_a_bug_and_never_shows_values(catalog: SqlCatalog) -> None:
    await catalog.database.write(add, "a-secret-name")
    with pytest.raises(exc.IntegrityError) as caught:
        await catalog.database.write(add, "a-secret-name")
    assert "a-secret-name" not in str(caught.value)


async def test_a_cancelled_caller_leaves_a_whole_transaction(catalog: SqlCatalog) -> None:
    begun, finish = threading.Event(), threading.Event()

    def slow(connection: Connection) -> None:
        add(connection, "first")
        begun.set()
        assert finish.wait(PATIENCE)
        add(connection, "second")

    caller = asyncio.create_task(catalog.database.write(slow))
    assert await asyncio.to_thread(begun.wait, 10)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert await catalog.keys.list_namespaces() == []
    finish.set()
    assert await catalog.keys.create_namespace("third")
    assert await catalog.keys.list_namespaces() == ["first", "second", "third"]


async def test_a_reader_keeps_its_view_while_others_write(catalog: SqlCatalog) -> None:
    looked, written = threading.Event(), threading.Event()

    def twice(connection: Connection) -> list[int]:
        counts = [len(connection.execute(select(namespace)).all())]
        looked.set()
        assert written.wait(PATIENCE)
        return [*counts, len(connection.execute(select(namespace)).all())]

    reader = asyncio.create_task(catalog.database.read(twice))
    assert await asyncio.to_thread(looked.wait, 10)
    await catalog.keys.create_namespace("acme")
    written.set()
    assert await reader == [0, 0]


async def test_closing_twice_is_no_error(catalog: SqlCatalog) -> None:
    await catalog.ping()
    await catalog.close()
    await catalog.close()
