"""Where the file adapter keeps what, and the file system steps that need care.

    <root>/<key>                an object
    <root>/.store/meta/<hash>   its sidecar, by the hash of the key
    <root>/.store/tmp/          files being written, invisible until they are renamed
    <root>/.store/locks/        held by a write for its two renames, across processes

Symbolic links below the root are never followed.
"""

import contextlib
import fcntl
import functools
import hashlib
import os
import secrets
import stat
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ParamSpec, TypeVar

from libs.contracts.faults import Code, WorldFault
from libs.runtime.objects.keys import check_key

INTERNALS = ".store"

_LOCKS = 64
_STALE_SECONDS = 3600.0
_ATTEMPTS = 20

P = ParamSpec("P")
T = TypeVar("T")


def store_call(function: Callable[P, T]) -> Callable[P, T]:
    """Whatever the file system refuses `function` is a store that is away."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except OSError as error:
            raise WorldFault(
                Code.STORE_AWAY,
                f"the object store's folder cannot be used: {error.strerror or error}; "
                "see to its disk space, its permissions, and that it is mounted",
            ) from error

    return call


class Layout:
    """Paths, temporary names and locks below one root; no I/O before the first use."""

    def __init__(self, root: Path) -> None:
        self._given = root
        self._opening = threading.Lock()
        self._opened: Path | None = None

    @property
    def root(self) -> Path:
        """The root without symbolic links; its folders are made at first use."""
        if self._opened is None:
            with self._opening:
                if self._opened is None:
                    self._opened = self._open()
        return self._opened

    @property
    def _internals(self) -> str:
        return f"{self.root}/{INTERNALS}"

    def _open(self) -> Path:
        for name in ("meta", "tmp", "locks"):
            (self._given / INTERNALS / name).mkdir(parents=True, exist_ok=True)
        root = self._given.resolve(strict=True)
        for path in (root / INTERNALS / "tmp").iterdir():  # what killed writers left
            with contextlib.suppress(FileNotFoundError):
                if path.lstat().st_mtime < time.time() - _STALE_SECONDS:
                    path.unlink()
        return root

    def require(self) -> None:
        """Raise `FileNotFoundError` when the root is gone, so that absence is not misread."""
        (self.root / INTERNALS / "tmp").stat()

    def path(self, key: str) -> Path:
        """The file of `key`; `ValueError` for one that this adapter must not touch."""
        check_key(key)
        if key.partition("/")[0] == INTERNALS:
            raise ValueError(f"not an object key: {INTERNALS!r} is the store's own folder")
        root = str(self.root)
        if _over_link(root, key):
            raise ValueError("not an object key: a symbolic link lies on its way")
        return Path(f"{root}/{key}")

    def sidecar(self, key: str) -> Path:
        """The file of the sidecar of `key`.

        Flat, because folders are dear: making or removing one takes milliseconds on some
        disks. And a name that outlived its object would tell nothing.
        """
        return Path(f"{self._internals}/meta/{hashlib.sha256(key.encode()).hexdigest()}")

    def temporary(self) -> Path:
        """A fresh path for a file to be written and then renamed."""
        return Path(self._internals, "tmp", secrets.token_hex(16))

    @contextlib.contextmanager
    def scratch(self) -> Iterator[Path]:
        """A `temporary` path; what still lies there in the end is removed."""
        path = self.temporary()
        try:
            yield path
        finally:
            path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def locked(self, key: str) -> Iterator[None]:
        """Exclude every other change of `key`, in all threads and processes.

        The lock ends with its holder, however that ends.
        """
        name = f"{self._internals}/locks/{zlib.crc32(key.encode()) % _LOCKS:02x}"
        lock = os.open(name, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def replace(self, source: Path, target: Path) -> list[Path]:
        """Rename `source` to `target`, whose folders are made where they are missing.

        Returns the folders that must reach the disk before the new name is sure to be
        there after a power loss.
        """
        made: list[Path] = []
        for _ in range(_ATTEMPTS):
            try:
                source.replace(target)
                break
            except FileNotFoundError:  # the folder is not there yet, or was pruned just now
                source.lstat()
                made += self._make_folders(target.parent)
        else:
            raise FileNotFoundError(f"{target.parent.name} is removed again and again")
        return list(dict.fromkeys([target.parent, *(path.parent for path in made)]))

    def _make_folders(self, folder: Path) -> list[Path]:
        missing = []
        while folder != self.root and not folder.is_dir():
            missing.append(folder)
            folder = folder.parent
        for path in reversed(missing):
            # made or pruned by another at this moment; tried again
            with contextlib.suppress(FileNotFoundError, FileExistsError):
                path.mkdir(exist_ok=True)
        return missing

    def prune(self, folder: Path) -> None:
        """Remove `folder` and those above it as far as they are empty."""
        while folder != self.root:
            try:
                folder.rmdir()
            except FileNotFoundError:
                pass
            except OSError:
                return
            folder = folder.parent


def _over_link(root: str, key: str) -> bool:
    """Whether any part of the way from the root is a symbolic link."""
    at = root
    for part in key.split("/"):
        at = f"{at}/{part}"
        try:
            if stat.S_ISLNK(os.lstat(at).st_mode):
                return True
        except OSError:  # nothing lies there, so nothing below it
            return False
    return False


def sync_folder(folder: Path) -> None:
    """Let the names in `folder` survive a power loss."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
