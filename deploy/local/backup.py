"""`groundwire backup` and `groundwire restore`.

A backup is a folder: what only the catalog knows, then the objects, and last `backup.json`, without
which it is not whole. The catalog comes first, so that all it names has objects; what was erased
meanwhile has a receipt among the objects, which are asked last of all. A restore puts both back,
makes catalog, search and graph again from the objects, and proves it by `check`.
"""

import asyncio
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from deploy.local.alone import ServicesRun, alone
from deploy.local.bootstrap import prepare_stores
from deploy.local.check import compare, place_of
from deploy.local.folder import write_private
from deploy.local.rebuild import make_again
from deploy.local.steps import Tell, shown_steps
from libs.client.cli.shared import print_line
from libs.contracts.base import Contract
from libs.contracts.faults import Fault
from libs.runtime.catalog.sql.dumping import (
    CatalogNotEmpty,
    dump_catalog,
    load_catalog,
    refuse_unless_empty,
)
from libs.runtime.catalog.sql.migrations import HEAD
from libs.runtime.objects.factory import open_objects
from libs.runtime.objects.file import FileObjectStore
from libs.runtime.objects.port import ObjectStore
from libs.runtime.settings import Settings
from services.indexer.rebuild import TARGETS, NothingToRebuildFrom

NOTE = "backup.json"
PASSING = (".uploads/", ".messages/")
"""Objects that belong to requests and messages on their way."""
AT_ONCE = 8


class BackupNote(Contract):
    """`backup.json`: what the folder holds; objects by count and bytes, rows by table."""

    schema_version: Literal[1] = 1
    created_at: datetime
    catalog_version: str
    rows: dict[str, int]
    objects: int
    bytes: int


class EmptyStore(Exception):
    """There is nothing to back up, where there was before."""


class NotRestored(Exception):
    """A restore is refused; the message says why."""


@dataclass
class _Copied:
    keys: set[str] = field(default_factory=set)
    bytes: int = 0


def backup(settings: Settings, folder: Path, *, as_json: bool) -> int:
    """Write a backup into `folder`, or bring one there up to date; the number to exit with."""
    try:
        with shown_steps() as tell:
            note = asyncio.run(_backup(settings, folder, tell))
    except Fault as fault:
        print(f"the backup is not whole: {fault.detail}", file=sys.stderr)
        return 1
    except EmptyStore as error:
        print(str(error), file=sys.stderr)
        return 1
    except (OSError, ValueError) as error:
        print(f"the backup is not whole: {error}", file=sys.stderr)
        return 1
    if as_json:
        print_line(note)
    else:
        rows = sum(note.rows.values())
        print(f"{folder}: {note.objects} objects, {note.bytes} bytes, {rows} rows of the catalog")
    return 0


async def _backup(settings: Settings, folder: Path, tell: Tell) -> BackupNote:
    source = open_objects(settings.resolved_objects_url(), settings.objects_keys())
    try:
        if (folder / NOTE).exists() and await _is_empty(source):
            raise EmptyStore("the object store is empty, the backup is not: it stays as it is")
        return await _write(settings, source, folder, tell)
    finally:
        await source.close()


async def _is_empty(objects: ObjectStore) -> bool:
    async for _ in objects.walk(""):
        return False
    return True


async def _write(settings: Settings, source: ObjectStore, folder: Path, tell: Tell) -> BackupNote:
    tables = folder / "catalog"
    tables.mkdir(mode=0o700, parents=True, exist_ok=True)
    (folder / NOTE).unlink(missing_ok=True)
    now = datetime.now(UTC)
    catalog = settings.resolved_catalog_url(), settings.catalog_secret()
    rows = await dump_catalog(*catalog, tables, tell)
    target = FileObjectStore(folder / "objects")
    copied = await _copy_all(source, target, tell)
    gone = [info.key async for info in target.walk("") if info.key not in copied.keys]
    await target.delete(gone)
    note = BackupNote(
        created_at=now,
        catalog_version=HEAD,
        rows=rows,
        objects=len(copied.keys),
        bytes=copied.bytes,
    )
    write_private(folder / NOTE, note.model_dump_json(indent=1) + "\n")
    return note


async def _copy_all(source: ObjectStore, target: ObjectStore, tell: Tell) -> _Copied:
    """Make `target` hold what `source` does too, copying only what differs."""
    wanted = {info.key: info async for info in source.walk("") if not info.key.startswith(PASSING)}
    copied, room, done = _Copied(), asyncio.Semaphore(AT_ONCE), 0

    async def copy(key: str) -> None:
        nonlocal done
        async with room:
            info, there = wanted[key], await target.stat(key)
            if there is None or there.sha256 != info.sha256:
                try:
                    there = await target.put(
                        key, source.stream(key), media_type=info.media_type, durable=True
                    )
                except KeyError:  # collected or erased meanwhile
                    await target.delete([key])
                    there = None
        done += 1
        tell("objects", done, len(wanted))
        if there is not None:
            copied.keys.add(key)
            copied.bytes += there.size

    async with asyncio.TaskGroup() as tasks:
        for key in wanted:
            tasks.create_task(copy(key))
    return copied


def restore(settings: Settings, folder: Path, *, as_json: bool) -> int:
    """Put a backup into empty stores and prove it; the number to exit with."""
    try:
        note = BackupNote.model_validate_json((folder / NOTE).read_bytes())
        with alone(settings, "a restore"), shown_steps() as tell:
            drift = asyncio.run(_restore(settings, folder, note, tell))
    except (OSError, ValidationError):
        print(f"{folder} holds no whole backup: {NOTE} is not there", file=sys.stderr)
        return 1
    except (ServicesRun, NotRestored, CatalogNotEmpty, NothingToRebuildFrom) as refused:
        print(f"not restored: {refused}", file=sys.stderr)
        return 1
    except Fault as fault:
        print(f"not restored, and can be run again: {fault.detail}", file=sys.stderr)
        return 1
    if as_json:
        print_line({**note.model_dump(mode="json"), "drift": drift})
    else:
        print(f"restored the backup of {note.created_at:%Y-%m-%d %H:%M}")
        print("\n".join(drift) or "the stores agree")
    return int(bool(drift))


async def _restore(settings: Settings, folder: Path, note: BackupNote, tell: Tell) -> list[str]:
    if note.catalog_version > HEAD:
        raise NotRestored("the backup is of a newer release than this one")
    source = FileObjectStore(folder / "objects")
    await prepare_stores(settings)
    catalog = settings.resolved_catalog_url(), settings.catalog_secret()
    await refuse_unless_empty(*catalog)
    target = open_objects(settings.resolved_objects_url(), settings.objects_keys())
    try:
        found = {info.key: info.sha256 async for info in source.walk("")}
        strange = [
            info.key
            async for info in target.walk("")
            if info.key not in found and not info.key.startswith(PASSING)
        ]
        if strange:
            raise NotRestored(f"the object store is not empty: it holds {strange[0]}")
        copied = await _copy_all(source, target, tell)
        if (len(copied.keys), copied.bytes) != (note.objects, note.bytes):
            raise NotRestored(f"the backup holds other objects than {NOTE} says")
    finally:
        await target.close()
    await load_catalog(*catalog, folder / "catalog", tell)
    report = await make_again(settings, frozenset(TARGETS), tell)
    drift = [f"{one.namespace}/{one.document_id}: {one.detail}" for one in report.troubles]
    compared = await compare(settings, tell)
    return drift + [f"{place_of(one)}: {one.detail}" for one in compared.drift]
