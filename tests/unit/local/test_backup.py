"""A backup put into empty stores is what was there, and refused where it would do harm."""

import asyncio
import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from deploy.local.backup import NOTE, backup, restore
from deploy.local.folder import DataFolder
from libs.contracts.events.base import now
from libs.runtime.catalog.keys import KeyRecord
from libs.runtime.settings import Settings
from services.indexer.handlers import on_chunked
from tests.support.catalogs import fast_folder
from tests.unit.indexer.embedded import accepted, embedded
from tests.unit.indexer.making import NS, work
from tests.unit.indexer.test_rebuild import fill

TABLES = (
    "namespace", "api_key", "document", "active", "chunk", "section", "job", "job_event", "run",
    "hit", "erasure", "vector", "audit", "graph_node", "graph_keyword", "graph_edge",
)  # fmt: skip


@pytest.fixture(scope="module")
def filled() -> Iterator[Path]:
    """The documents of the rebuild's tests, a key, and a job at work."""
    with fast_folder() as made:
        asyncio.run(_fill(made))
        yield made


@pytest.fixture
def folder(filled: Path) -> Iterator[Path]:
    """`here` is a copy of what was filled."""
    with fast_folder() as made:
        shutil.copytree(filled, made / "here")
        yield made


async def _fill(folder: Path) -> None:
    async with embedded(folder) as deps:
        await fill(deps)
        await accepted(deps, "at-work")
        key = KeyRecord("key-1", NS, "writer", "build", "h" * 64, now())
        await deps.stores.catalog.keys.add(key)


def settings(folder: Path) -> Settings:
    return Settings(_env_file=None, data_dir=folder, embedder="none")  # type: ignore[call-arg]


def rows(folder: Path) -> dict[str, list[Any]]:
    """Rows without what a restore makes anew: versions, and vectors' coverage."""
    found = {}
    with closing(sqlite3.connect(folder / "catalog.db")) as connection:
        connection.row_factory = sqlite3.Row
        for table in TABLES:
            listed = [dict(row) for row in connection.execute(f"SELECT * FROM {table}")]
            for row in listed:
                for name in ("corpus_version", "dense_model"):
                    row.pop(name, None) if table != "run" else None
            found[table] = sorted(listed, key=repr)
    hidden = {row["document_id"] for row in found["document"] if row["state"] == "erasing"}
    assert hidden == {"hidden"}
    return found


def objects(folder: Path) -> dict[str, bytes]:
    root = folder / "objects"
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and ".store" not in path.parts and "corpus" not in path.parts
    }


def test_what_is_restored_is_what_was_backed_up(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert backup(settings(folder / "here"), folder / "kept", as_json=True) == 0
    note = json.loads(capsys.readouterr().out)
    assert note["objects"] == len(objects(folder / "kept")) + 4
    assert note["rows"]["job"] == len(rows(folder / "here")["job"])
    shutil.copytree(folder / "here", folder / "before")
    result = restore(settings(folder / "there"), folder / "kept", as_json=False)
    said = capsys.readouterr()
    assert (result, said.out.splitlines()[-1]) == (0, "the stores agree"), said.err
    assert rows(folder / "there") == rows(folder / "before")
    assert objects(folder / "there") == objects(folder / "before")


async def _publish_what_was_at_work(folder: Path) -> str | None:
    async with embedded(folder) as deps:
        (job, *_) = await deps.stores.catalog.jobs.select(NS, limit=1)
        assert job.document_id == "at-work"
        again = (await accepted(deps, "at-work")).model_copy(
            update={"job_id": job.job_id, "revision": job.revision}
        )
        await on_chunked(deps, again, work(again))
        record = await deps.stores.catalog.documents.get(NS, "at-work")
        return None if record is None else record.state


def test_a_job_that_was_at_work_goes_on_after_a_restore(folder: Path) -> None:
    assert backup(settings(folder / "here"), folder / "kept", as_json=True) == 0
    assert restore(settings(folder / "there"), folder / "kept", as_json=True) == 0
    assert asyncio.run(_publish_what_was_at_work(folder / "there")) == "active"


def test_a_second_backup_copies_what_changed_and_forgets_what_is_gone(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here, kept = folder / "here", folder / "kept"
    assert backup(settings(here), kept, as_json=True) == 0
    untouched = kept / "objects" / NS / "doc-2" / "document.json"
    stamp = untouched.stat().st_ino
    shutil.rmtree(here / "objects" / NS / "doc-3")
    (here / "objects" / NS / "doc-1" / "document.json").write_bytes(b"{}")
    assert backup(settings(here), kept, as_json=True) == 0
    assert objects(kept) == objects(here)
    assert untouched.stat().st_ino == stamp


def test_an_empty_object_store_does_not_empty_the_backup(folder: Path) -> None:
    """The wrong settings, a store that was lost: what is kept stays."""
    here, kept = folder / "here", folder / "kept"
    assert backup(settings(here), kept, as_json=True) == 0
    before = objects(kept)
    shutil.rmtree(here / "objects")
    (here / "objects").mkdir()
    assert backup(settings(here), kept, as_json=True) == 1
    assert objects(kept) == before
    assert restore(settings(folder / "there"), kept, as_json=True) == 0


def test_what_is_not_whole_is_not_restored(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert backup(settings(folder / "here"), folder / "kept", as_json=True) == 0
    (folder / "kept" / "objects" / NS / "doc-1" / "document.json").write_bytes(b"another")
    assert restore(settings(folder / "there"), folder / "kept", as_json=False) == 1
    assert "holds other objects" in capsys.readouterr().err
    (folder / "kept" / NOTE).unlink()
    assert restore(settings(folder / "elsewhere"), folder / "kept", as_json=False) == 1
    assert "no whole backup" in capsys.readouterr().err


def test_stores_that_are_not_empty_or_in_use_are_left_alone(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here = settings(folder / "here")
    assert backup(here, folder / "kept", as_json=True) == 0
    before = rows(folder / "here")
    shutil.rmtree(folder / "here" / "objects" / NS / "doc-1")
    assert restore(here, folder / "kept", as_json=False) == 1
    assert "the catalog has documents already" in capsys.readouterr().err
    assert rows(folder / "here") == before
    (folder / "busy").mkdir()
    held = DataFolder(folder / "busy")
    held.make()
    with held.lock("http://127.0.0.1:1"):
        assert restore(settings(folder / "busy"), folder / "kept", as_json=False) == 1
    assert "in use by process" in capsys.readouterr().err
    (folder / "other" / "objects" / NS / "doc-9").mkdir(parents=True)
    (folder / "other" / "objects" / NS / "doc-9" / "document.json").write_bytes(b"{}")
    assert restore(settings(folder / "other"), folder / "kept", as_json=False) == 1
    assert "the object store is not empty" in capsys.readouterr().err
