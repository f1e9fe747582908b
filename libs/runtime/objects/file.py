"""The embedded object store: a folder of plain files."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from libs.runtime.objects.filetree import PIECE, FileTree
from libs.runtime.objects.keys import check_key, check_prefix
from libs.runtime.objects.port import ObjectInfo
from libs.runtime.objects.upload import Upload

_WALK_BATCH = 256


class FileObjectStore:
    """`ObjectStore` over the folder `root`, which several processes may share.

    Beyond the port: an object cannot lie below another's key (`ValueError`), and the first
    part of a key must not be `.store`, where temporary files and sidecars are kept. The
    folder is made at first use. All I/O runs in the event loop's worker threads.
    """

    def __init__(self, root: Path) -> None:
        self._tree = FileTree(root)

    async def put(
        self,
        key: str,
        data: bytes | AsyncIterator[bytes],
        *,
        media_type: str | None = None,
        max_bytes: int | None = None,
        durable: bool = False,
    ) -> ObjectInfo:
        """One thread hop for what fits in a piece, one a piece beyond."""
        check_key(key)
        upload = self._tree.upload(key, max_bytes)
        try:
            rest = data if isinstance(data, bytes) else await _write_pieces(upload, data)
            info = await asyncio.to_thread(upload.commit, rest, media_type, durable)
        except BaseException:
            await asyncio.to_thread(upload.discard)
            raise
        return info

    async def get(self, key: str) -> bytes:
        """The whole object; `KeyError` when absent."""
        return await asyncio.to_thread(self._tree.read, key)

    async def stream(
        self, key: str, start: int = 0, end: int | None = None
    ) -> AsyncIterator[bytes]:
        """A snapshot: replacing or deleting the object meanwhile changes nothing here."""
        if start < 0:
            raise ValueError(f"a range of bytes starts at 0 or later, not at {start}")
        file = await asyncio.to_thread(self._tree.open, key)
        try:
            at = file.seek(start)
            while end is None or at < end:
                size = PIECE if end is None else min(PIECE, end - at)
                piece = await asyncio.to_thread(self._tree.read_on, file, size)
                if not piece:
                    break
                at += len(piece)
                yield piece
        finally:
            file.close()

    async def stat(self, key: str) -> ObjectInfo | None:
        """What is stored under `key`, or None."""
        return await asyncio.to_thread(self._tree.stat, key)

    async def walk(self, prefix: str) -> AsyncIterator[ObjectInfo]:
        """Objects below `prefix` by key; those written meanwhile may be missing."""
        objects = self._tree.walk(check_prefix(prefix))
        while batch := await asyncio.to_thread(self._tree.take, objects, _WALK_BATCH):
            for info in batch:
                yield info

    async def copy(self, source: str, target: str) -> ObjectInfo:
        """By hard link where the file system has them; `KeyError` when absent."""
        return await asyncio.to_thread(self._tree.copy, source, target)

    async def delete(self, keys: Iterable[str]) -> None:
        """Remove these, and the folders that are empty then."""
        await asyncio.to_thread(self._tree.delete, list(keys))

    async def delete_prefix(self, prefix: str, *, keep: str | None = None) -> int:
        """Remove all below `prefix`, and the folders that are empty then."""
        if not prefix:
            raise ValueError("not a path prefix: the empty one would erase the whole store")
        return await asyncio.to_thread(self._tree.delete_prefix, check_prefix(prefix), keep)

    @asynccontextmanager
    async def local(self, key: str) -> AsyncIterator[Path]:
        """The stored file itself; `KeyError` when absent."""
        yield await asyncio.to_thread(self._tree.locate, key)

    async def close(self) -> None:
        """Nothing is held between calls."""


async def _write_pieces(upload: Upload, data: AsyncIterator[bytes]) -> bytes:
    """Write `data` in pieces of at least `PIECE`; what is left over is for the commit."""
    pending: list[bytes] = []
    size = 0
    async for part in data:
        pending.append(part)
        size += len(part)
        if size >= PIECE:
            await asyncio.to_thread(upload.write, b"".join(pending))
            pending, size = [], 0
    return b"".join(pending)
