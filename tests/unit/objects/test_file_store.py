"""What only the file adapter can get wrong: links, sidecars, litter, a failing disk."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from libs.contracts.faults import Code, DocumentFault, WorldFault
from libs.runtime.objects.factory import open_objects
from libs.runtime.objects.file import FileObjectStore
from tests.support.waiting import PATIENCE

KEY = "ns/doc/1/source/a.pdf"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "objects"


@pytest.fixture
def store(root: Path) -> FileObjectStore:
    return FileObjectStore(root)


def internals(root: Path, folder: str) -> list[Path]:
    return list((root / ".store" / folder).iterdir())


async def walked(store: FileObjectStore, prefix: str = "") -> list[str]:
    return [info.key async for info in store.walk(prefix)]


async def pieces(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def test_objects_are_plain_files(store: FileObjectStore, root: Path) -> None:
    await store.put(KEY, b"bytes")
    assert (root / KEY).read_bytes() == b"bytes"
    async with store.local(KEY) as path:
        assert path == root / KEY


def test_no_io_before_first_use(root: Path) -> None:
    FileObjectStore(root)
    assert not root.exists()


async def test_the_stores_own_folder_is_no_key(store: FileObjectStore) -> None:
    await store.put(KEY, b"x")
    for key in (".store/tmp/x", ".store"):
        with pytest.raises(ValueError, match="own folder"):
            await store.put(key, b"x")
        with pytest.raises(ValueError, match="own folder"):
            await store.get(key)
    with pytest.raises(ValueError, match="own folder"):
        await store.delete_prefix(".store/")
    with pytest.raises(ValueError, match="own folder"):
        await walked(store, ".store/")
    await store.put("ns/.store/x", b"x")
    assert await walked(store) == ["ns/.store/x", KEY]


async def test_an_object_cannot_lie_below_another(store: FileObjectStore, root: Path) -> None:
    await store.put("a/b", b"x")
    for key in ("a", "a/b/c", "a/b/c/d"):
        with pytest.raises(ValueError, match="below another's key"):
            await store.put(key, b"y")
    assert await walked(store) == ["a/b"]
    assert internals(root, "tmp") == []


async def test_symbolic_links_lead_nowhere(
    store: FileObjectStore, root: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    await store.put(KEY, b"x")
    (root / "ns" / "folder").symlink_to(outside)
    (root / "ns" / "file").symlink_to(outside / "secret")
    (root / "ns" / "inside").symlink_to(root / "ns" / "doc")
    for key in ("ns/folder/secret", "ns/file", "ns/inside/1/source/a.pdf", "ns/folder"):
        for call in (store.get(key), store.stat(key), store.put(key, b"y"), store.copy(KEY, key)):
            with pytest.raises(ValueError, match="symbolic link"):
                await call
    with pytest.raises(ValueError, match="symbolic link"):
        await store.delete_prefix("ns/folder/")
    with pytest.raises(ValueError, match="symbolic link"):
        await walked(store, "ns/folder/")
    assert await walked(store) == [KEY]
    assert await store.delete_prefix("ns/") == 1
    assert (outside / "secret").read_text() == "secret"
    assert not (root / "ns").exists()


async def test_the_root_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "objects").symlink_to(tmp_path / "disk")
    store = FileObjectStore(tmp_path / "objects")
    await store.put(KEY, b"x")
    assert (tmp_path / "disk" / KEY).exists()


async def test_strange_files_are_no_objects(store: FileObjectStore, root: Path) -> None:
    await store.put("ns/a", b"x")
    os.mkfifo(root / "ns" / "pipe")
    (root / "ns" / "new\nline").write_bytes(b"x")
    (Path(os.fsdecode(os.fsencode(root / "ns") + b"/\xff\xfe"))).write_bytes(b"x")
    assert await walked(store) == ["ns/a"]
    assert await store.stat("ns/pipe") is None
    with pytest.raises(KeyError):
        await store.get("ns/pipe")
    assert await store.delete_prefix("ns/") == 1
    assert not (root / "ns").exists()


# --- sidecars


async def test_stat_does_not_read_the_object(
    store: FileObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = await store.put(KEY, b"bytes", media_type="application/pdf")
    monkeypatch.setattr("hashlib.file_digest", None)
    assert await store.stat(KEY) == info
    assert [found async for found in store.walk("")] == [info]


async def test_a_lost_or_torn_sidecar_is_mended(store: FileObjectStore, root: Path) -> None:
    info = await store.put(KEY, b"bytes", media_type="application/pdf")
    (sidecar,) = internals(root, "meta")
    for damage in (b"", b"{}", b'{"stamp": 1}', None):
        if damage is None:
            sidecar.unlink()
        else:
            sidecar.write_bytes(damage)
        found = await store.stat(KEY)
        assert found is not None
        assert (found.sha256, found.size, found.media_type) == (info.sha256, info.size, None)
        assert len(sidecar.read_bytes()) > 100


async def test_a_file_changed_by_hand_is_counted_again(store: FileObjectStore, root: Path) -> None:
    first = await store.put(KEY, b"bytes", media_type="application/pdf")
    (root / KEY).write_bytes(b"other")
    os.utime(root / KEY, ns=(1, 1))
    found = await store.stat(KEY)
    assert found is not None
    assert found.size == first.size
    assert found.sha256 != first.sha256
    assert found.media_type is None


async def test_a_restored_backup_keeps_media_types(store: FileObjectStore, root: Path) -> None:
    info = await store.put(KEY, b"bytes", media_type="application/pdf")
    data = (root / KEY).read_bytes()
    (root / KEY).rename(root / "elsewhere")
    (root / KEY).write_bytes(data)
    assert await store.stat(KEY) == info


async def test_a_writer_killed_between_its_renames_is_mended(
    store: FileObjectStore, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.put(KEY, b"old", media_type="application/pdf")
    (sidecar,) = internals(root, "meta")
    stale = sidecar.read_bytes()
    new = await store.put(KEY, b"new", media_type="text/plain")
    sidecar.write_bytes(stale)
    found = await store.stat(KEY)
    assert found is not None
    assert (found.sha256, found.media_type) == (new.sha256, None)


async def test_a_copy_shares_the_file(store: FileObjectStore, root: Path) -> None:
    await store.put(KEY, b"bytes")
    await store.copy(KEY, "ns/doc/2/source/a.pdf")
    assert (root / KEY).samefile(root / "ns/doc/2/source/a.pdf")
    assert internals(root, "tmp") == []


async def test_without_hard_links_the_bytes_are_copied(
    store: FileObjectStore, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: object, **_kwargs: object) -> None:
        raise OSError(1, "Operation not permitted")

    info = await store.put(KEY, b"bytes" * 500_000, media_type="application/pdf")
    monkeypatch.setattr(os, "link", refuse)
    copy = await store.copy(KEY, "ns/copy")
    assert (copy.sha256, copy.size, copy.media_type) == (info.sha256, info.size, info.media_type)
    assert not (root / KEY).samefile(root / "ns/copy")
    assert await store.get("ns/copy") == b"bytes" * 500_000


# --- nothing is left behind


async def test_deleting_leaves_no_empty_folder_and_no_sidecar(
    store: FileObjectStore, root: Path
) -> None:
    await store.put(KEY, b"x")
    await store.put("ns/doc/1/.jobs/j/1/rows", b"x")
    await store.delete([KEY])
    assert not (root / "ns/doc/1/source").exists()
    await store.delete_prefix("ns/doc/1/")
    assert [path.name for path in root.iterdir()] == [".store"]
    assert internals(root, "meta") == []


async def test_failed_writes_leave_no_temporary_file(store: FileObjectStore, root: Path) -> None:
    with pytest.raises(DocumentFault):
        await store.put(KEY, pieces(b"x" * (2 << 20), b"x"), max_bytes=(2 << 20))
    assert internals(root, "tmp") == []
    assert not (root / "ns").exists()


async def test_what_killed_writers_left_goes_after_an_hour(root: Path) -> None:
    await FileObjectStore(root).put(KEY, b"x")
    old, fresh = root / ".store/tmp/old", root / ".store/tmp/fresh"
    for path in (old, fresh):
        path.write_bytes(b"half")
    os.utime(old, (1.0, 1.0))
    assert await walked(FileObjectStore(root)) == [KEY]
    assert (old.exists(), fresh.exists()) == (False, True)


# --- durability


async def test_durable_reaches_the_disk_before_put_returns(
    store: FileObjectStore, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: set[int] = set()
    fsync = os.fsync

    def record(handle: int) -> None:
        synced.add(os.fstat(handle).st_ino)
        fsync(handle)

    def unsynced(*paths: Path) -> list[Path]:
        return [path for path in paths if path.stat().st_ino not in synced]

    monkeypatch.setattr(os, "fsync", record)
    await store.put("other/a", b"x")
    assert synced == set()
    await store.put(KEY, b"x", durable=True)
    file = root / KEY
    (sidecar,) = (p for p in internals(root, "meta") if p.stat().st_ino in synced)
    folders = list(file.parents)[:5]
    assert folders[-1] == root
    assert unsynced(file, sidecar, sidecar.parent, *folders) == []


# --- a store that is away


async def test_a_root_that_went_away_is_not_absence(store: FileObjectStore, root: Path) -> None:
    await store.put(KEY, b"x")
    root.rename(root.with_name("unmounted"))
    for call in (
        store.get(KEY),
        store.stat(KEY),
        store.put(KEY, b"y"),
        store.put(KEY, pieces(b"y")),
        store.copy(KEY, "ns/copy"),
        store.delete([KEY]),
        store.delete_prefix("ns/"),
        walked(store, "ns/"),
        anext(store.stream(KEY)),
    ):
        with pytest.raises(WorldFault) as fault:
            await call
        assert fault.value.code is Code.STORE_AWAY
        assert str(root) not in fault.value.detail
    assert not root.exists()


async def test_a_root_that_cannot_be_made_is_away(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = FileObjectStore(tmp_path / "file" / "objects")
    with pytest.raises(WorldFault) as fault:
        await store.put(KEY, b"x")
    assert fault.value.code is Code.STORE_AWAY
    (tmp_path / "file").unlink()
    assert (await store.put(KEY, b"x")).size == 1


@pytest.mark.parametrize("size", [10_000, 3 << 20])
def test_a_full_disk_is_away_and_keeps_what_was_there(root: Path, size: int) -> None:
    code = f"""
import asyncio, resource, sys
from pathlib import Path
from libs.contracts.faults import WorldFault
from libs.runtime.objects.file import FileObjectStore

async def pieces():
    yield b"x" * {size}

async def main():
    store = FileObjectStore(Path(sys.argv[1]))
    await store.put("a/b", b"old")
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    for data in (b"x" * {size}, pieces()):
        try:
            await store.put("a/b", data)
        except WorldFault as fault:
            print(fault.code)
    print(await store.get("a/b"))

asyncio.run(main())
"""
    run = subprocess.run(
        [sys.executable, "-c", code, str(root)], capture_output=True, text=True, timeout=PATIENCE
    )
    assert run.stdout.split("\n")[:3] == ["store_away", "store_away", "b'old'"], run.stderr
    assert internals(root, "tmp") == []


async def test_a_range_cannot_start_before_the_object(store: FileObjectStore) -> None:
    await store.put(KEY, b"x")
    with pytest.raises(ValueError, match="starts at 0"):
        await anext(store.stream(KEY, -1))


async def test_the_factory_opens_a_folder(tmp_path: Path) -> None:
    store = open_objects(f"file:{tmp_path / 'objects'}")
    await store.put(KEY, b"x")
    assert (tmp_path / "objects" / KEY).exists()
