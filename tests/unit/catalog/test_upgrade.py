import asyncio
import contextlib
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory

import libs.runtime.catalog.sql.migrations as migrations
from libs.contracts.faults import WorldFault
from libs.runtime.catalog.sql import open_catalog, upgrade
from libs.runtime.catalog.sql.graph_schema import graph_node
from libs.runtime.catalog.sql.sqlite import sqlite_engine
from libs.runtime.catalog.sql.upgrade import downgrade
from tests.support.catalogs import NS, fast_folder, ready
from tests.support.waiting import PATIENCE

UPGRADE = """
import asyncio, sys
from libs.runtime.catalog.sql.upgrade import upgrade
asyncio.run(upgrade({url!r}))
print("alembic" in sys.modules)
"""


@pytest.fixture
def path() -> Iterator[Path]:
    with fast_folder() as folder:
        yield folder / "with 100% space" / "catalog.db"


async def upgrade_elsewhere(path: Path) -> str:
    """Upgrade in a process of its own; whether that imported Alembic."""
    command = [sys.executable, "-c", UPGRADE.format(url=f"sqlite:{path}")]
    done = await asyncio.to_thread(
        subprocess.run, command, check=True, capture_output=True, text=True, timeout=PATIENCE
    )
    return done.stdout.strip()


def test_head_is_the_newest_migration() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    assert ScriptDirectory.from_config(config).get_current_head() == migrations.HEAD


def definitions(path: Path) -> dict[str, list[str]]:
    """What the file says of each table and index; constraints come in any order."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
        made = {name: sorted(re.split(r"[\s,()]+", sql)) for name, sql in rows}
    return {name: sql for name, sql in made.items() if not name.startswith(("alembic", "sqlite"))}


async def test_the_migrations_make_exactly_the_tables(path: Path) -> None:
    await upgrade(f"sqlite:{path}")
    direct = path.with_name("direct.db")
    engine = sqlite_engine(direct, "BEGIN")
    graph_node.metadata.create_all(engine)
    engine.dispose()
    assert definitions(path) == definitions(direct)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [
            (migrations.HEAD,)
        ]


async def test_upgrading_again_keeps_the_rows_and_leaves_alembic_alone(path: Path) -> None:
    await upgrade(f"sqlite:{path}")
    catalog = open_catalog(f"sqlite:{path}")
    await catalog.keys.create_namespace("acme")
    assert await upgrade_elsewhere(path) == "False"
    assert await catalog.keys.list_namespaces() == ["acme"]
    await catalog.close()


async def test_up_from_the_previous_version_and_down_again_keep_the_rows(path: Path) -> None:
    url = f"sqlite:{path}"
    await upgrade(url, target="0001")
    catalog = open_catalog(url)
    job = await ready(catalog, "doc")
    await upgrade(url)
    assert await catalog.jobs.get(NS, job.job_id) == job
    await downgrade(url, "0001")
    assert await catalog.jobs.get(NS, job.job_id) == job
    await catalog.close()
    await downgrade(url, "base")
    assert definitions(path) == {}
    await upgrade(url)


async def test_a_newer_schema_is_left_alone(path: Path) -> None:
    await upgrade(f"sqlite:{path}")
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        await upgrade(f"sqlite:{path}")
        kept = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    assert kept == [("9999",)]


async def test_processes_may_upgrade_at_once(path: Path) -> None:
    await asyncio.gather(*(upgrade_elsewhere(path) for _ in range(2)))
    catalog = open_catalog(f"sqlite:{path}")
    await catalog.ping()
    await catalog.close()


async def test_a_file_that_is_no_database_is_a_world_fault(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"this is not a database" * 100)
    with pytest.raises(WorldFault):
        await upgrade(f"sqlite:{path}")
    catalog = open_catalog(f"sqlite:{path}")
    with pytest.raises(WorldFault):
        await catalog.ping()
    await catalog.close()


async def test_an_unknown_scheme_is_refused_with_the_choices() -> None:
    with pytest.raises(ValueError, match="sqlite:<path>"):
        await upgrade("mysql://host/name")
