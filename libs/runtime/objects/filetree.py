"""The blocking half of the file adapter: what runs in worker threads.

An object's file is replaced and never written in place, so a hard link is a copy and an
open file is a snapshot.
"""

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from io import BufferedReader
from itertools import islice
from pathlib import Path

from libs.runtime.objects.keys import is_key
from libs.runtime.objects.layout import INTERNALS, Layout, store_call
from libs.runtime.objects.port import ObjectInfo
from libs.runtime.objects.sidecar import Sidecar, Stamp, load_sidecar
from libs.runtime.objects.upload import Upload, publish

PIECE = 1 << 20
"""Bytes read or written at once."""

_ABSENT = (FileNotFoundError, NotADirectoryError, IsADirectoryError)


class FileTree:
    """Objects below `root`. `WorldFault(STORE_AWAY)` where the file system fails."""

    def __init__(self, root: Path) -> None:
        self._layout = Layout(root)

    def upload(self, key: str, max_bytes: int | None) -> Upload:
        """A new object in the making; no I/O yet."""
        return Upload(self._layout, key, max_bytes)

    @store_call
    def open(self, key: str) -> BufferedReader:
        """The object's file, a snapshot; `KeyError` when absent."""
        return self._open(key, self._layout.path(key))

    @store_call
    def read_on(self, file: BufferedReader, size: int) -> bytes:
        """The next `size` bytes of an opened object; fewer at its end."""
        return file.read(size)

    @store_call
    def read(self, key: str) -> bytes:
        """The whole object; `KeyError` when absent."""
        with self._open(key, self._layout.path(key)) as file:
            return file.read()

    @store_call
    def locate(self, key: str) -> Path:
        """The object's file by name; `KeyError` when absent."""
        path = self._layout.path(key)
        self._open(key, path).close()
        return path

    @store_call
    def stat(self, key: str) -> ObjectInfo | None:
        """What is stored: its sha256 from the sidecar or, where that does not fit, counted."""
        info = self._info(key, self._layout.path(key))
        if info is None:
            self._layout.require()
        return info

    def walk(self, prefix: str) -> Iterator[ObjectInfo]:
        """The objects below `prefix` by key, lazily: to be read by `take`."""
        self._layout.require()
        folder = self._layout.path(prefix[:-1]) if prefix else self._layout.root
        yield from self._walk(prefix, folder)

    @store_call
    def take(self, objects: Iterator[ObjectInfo], count: int) -> list[ObjectInfo]:
        """The next objects of a walk; fewer than `count` at its end."""
        return list(islice(objects, count))

    @store_call
    def copy(self, source: str, target: str) -> ObjectInfo:
        """One file under both keys where the file system can, else the bytes again."""
        path = self._layout.path(source)
        self._layout.path(target)
        self._open(source, path).close()
        with self._layout.scratch() as link:
            try:
                os.link(path, link, follow_symlinks=False)
            except FileNotFoundError:
                raise KeyError(source) from None
            except OSError:  # another file system, too many links, or none at all
                return self._copy_bytes(source, path, target)
            sidecar = self._sidecar(source, link)
            if sidecar is None:
                raise KeyError(source)
            return publish(self._layout, target, link, sidecar)

    @store_call
    def delete(self, keys: Iterable[str]) -> None:
        """Remove each."""
        paths = [(key, self._layout.path(key)) for key in keys]
        for key, path in paths:
            if self._remove(key, path):
                self._layout.prune(path.parent)

    @store_call
    def delete_prefix(self, prefix: str, keep: str | None = None) -> int:
        """Remove all below, folders included but for those named `keep`; how many objects."""
        key = prefix[:-1]
        folder = self._layout.path(key)
        self._layout.require()
        removed = self._clear(key, folder, keep)
        self._layout.prune(folder.parent)
        return removed

    def _open(self, key: str, path: Path) -> BufferedReader:
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except _ABSENT:
            self._layout.require()
            raise KeyError(key) from None
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise KeyError(key)
        return os.fdopen(handle, "rb")

    def _info(self, key: str, path: Path) -> ObjectInfo | None:
        sidecar = self._sidecar(key, path)
        if sidecar is None:
            return None
        return ObjectInfo(key, sidecar.stamp.size, sidecar.sha256, sidecar.media_type)

    def _sidecar(self, key: str, path: Path) -> Sidecar | None:
        """What is known of the file at `path`, which is or just was that of `key`."""
        try:
            status = path.lstat()
        except _ABSENT:
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        sidecar = load_sidecar(self._layout.sidecar(key))
        if sidecar is not None and sidecar.stamp == Stamp.of(status):
            return sidecar
        return self._mended(key, path)

    def _mended(self, key: str, path: Path) -> Sidecar | None:
        """A sidecar made from the bytes, and kept where that can be done."""
        try:
            with self._open(key, path) as file:
                sha256 = hashlib.file_digest(file, "sha256").hexdigest()
                stamp = Stamp.of(os.fstat(file.fileno()))
        except KeyError:
            return None
        with contextlib.suppress(OSError), self._layout.locked(key):
            known = load_sidecar(self._layout.sidecar(key))
            if known is not None and known.stamp == stamp:
                return known
            same = known is not None and known.sha256 == sha256
            sidecar = Sidecar(stamp, sha256, known.media_type if known and same else None)
            if Stamp.of(self._layout.path(key).lstat()) == stamp:
                with self._layout.scratch() as note:
                    note.write_bytes(sidecar.dump())
                    self._layout.replace(note, self._layout.sidecar(key))
            return sidecar
        return Sidecar(stamp, sha256, None)

    def _copy_bytes(self, source: str, path: Path, target: str) -> ObjectInfo:
        known = self._info(source, path)
        upload = self.upload(target, None)
        try:
            with self._open(source, path) as file:
                while piece := file.read(PIECE):
                    upload.write(piece)
            return upload.commit(b"", known.media_type if known else None, durable=False)
        finally:
            upload.discard()

    def _walk(self, prefix: str, folder: Path) -> Iterator[ObjectInfo]:
        # a folder sorts as its name and "/", which is how the keys in it go on
        for entry in sorted(_entries(folder), key=lambda e: e.name + "/" * _is_folder(e)):
            key = prefix + entry.name
            if key == INTERNALS or not is_key(key):
                continue
            if _is_folder(entry):
                yield from self._walk(key + "/", Path(entry.path))
            elif info := self._info(key, Path(entry.path)):
                yield info

    def _clear(self, key: str, folder: Path, keep: str | None) -> int:
        removed = 0
        for entry in _entries(folder):
            path, name = Path(entry.path), f"{key}/{entry.name}"
            if _is_folder(entry):
                removed += 0 if entry.name == keep else self._clear(name, path, keep)
            elif is_key(name) and self._remove(name, path):
                removed += 1
            else:  # nothing that was put here
                path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            folder.rmdir()
        return removed

    def _remove(self, key: str, path: Path) -> bool:
        with self._layout.locked(key):
            try:
                if not stat.S_ISREG(path.lstat().st_mode):
                    return False
            except _ABSENT:
                return False
            self._layout.sidecar(key).unlink(missing_ok=True)
            path.unlink(missing_ok=True)
        return True


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except _ABSENT:
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False)
