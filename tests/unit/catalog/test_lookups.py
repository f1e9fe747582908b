import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection

from libs.contracts.faults import Code, WorldFault
from libs.runtime.catalog.sql import SqlCatalog
from libs.runtime.catalog.sql.flips import corpus_version, raise_version
from libs.runtime.catalog.sql.sqlite import READERS, SqliteDatabase
from tests.support.catalogs import fast_folder, fresh_database
from tests.support.waiting import PATIENCE


@pytest.fixture
def path() -> Iterator[Path]:
    with fast_folder() as folder:
        yield folder / "catalog.db"


@pytest.fixture
async def catalog(path: Path) -> AsyncIterator[SqlCatalog]:
    await fresh_database(path.parent)
    catalog = SqlCatalog(SqliteDatabase(path, busy_seconds=0.05))
    yield catalog
    await catalog.close()


async def test_rows_are_looked_up_while_all_readers_and_the_writer_are_at_work(
    catalog: SqlCatalog,
) -> None:
    await catalog.keys.create_namespace("acme")
    begun, over = threading.Barrier(READERS + 2), threading.Event()

    def held(connection: Connection) -> None:
        begun.wait(PATIENCE)
        over.wait(PATIENCE)

    def raised(connection: Connection) -> None:
        raise_version(connection, "acme")
        held(connection)

    database = catalog.database
    busy = [asyncio.create_task(database.read(held)) for _ in range(READERS)]
    busy.append(asyncio.create_task(database.write(raised)))
    await asyncio.to_thread(begun.wait, PATIENCE)
    assert await catalog.documents.corpus_version("acme") == 0, "nothing that is not committed"
    over.set()
    await asyncio.gather(*busy)
    assert await catalog.documents.corpus_version("acme") == 1, "no view is kept"


async def test_a_row_is_looked_up_without_leaving_the_thread(catalog: SqlCatalog) -> None:
    def here(connection: Connection, name: str) -> tuple[int, int]:
        return threading.get_ident(), corpus_version(connection, name)

    assert await catalog.database.look_up(here, "acme") == (threading.get_ident(), 0)


async def test_a_look_up_before_there_are_tables_is_a_fault_and_later_ones_read(
    path: Path,
) -> None:
    catalog = SqlCatalog(SqliteDatabase(path))
    with pytest.raises(WorldFault, match="groundwire bootstrap") as caught:
        await catalog.documents.corpus_version("acme")
    assert caught.value.code is Code.STORE_AWAY
    await fresh_database(path.parent)
    assert await catalog.documents.corpus_version("acme") == 0
    await catalog.close()
