"""The object store on S3, or on what speaks it: MinIO, SeaweedFS."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import ParamSpec, TypeVar

from libs.contracts.faults import Code, DocumentFault, WorldFault
from libs.runtime.objects.keys import check_key, check_prefix
from libs.runtime.objects.port import ObjectInfo
from libs.runtime.objects.s3_bucket import S3Bucket, release
from libs.runtime.objects.s3_client import INTERNALS
from libs.runtime.objects.s3_place import S3Keys, S3Place
from libs.runtime.objects.s3_upload import PART_BYTES, PartsUpload

P = ParamSpec("P")
T = TypeVar("T")

THREADS = 16
"""Requests at a time; the others wait for their turn."""

CALL_SECONDS = 300.0
"""The most that one request may take, its turn and the library's retries included."""

MAX_LINK_SECONDS = 7 * 24 * 3600
"""As in S3."""


class S3ObjectStore:
    """`ObjectStore` over one bucket, which `bootstrap` has made.

    The client library blocks, so each request runs in one of the store's own threads; a
    thread is never held while a caller's stream is waited for. An upload takes at most
    three parts of `PART_BYTES` in memory. Beyond the port: the first part of a key must not
    be `.store`.
    """

    def __init__(self, place: S3Place, keys: S3Keys | None = None) -> None:
        self._bucket = S3Bucket(place, keys, THREADS)
        self._threads = ThreadPoolExecutor(THREADS, "objects")

    async def put(
        self,
        key: str,
        data: bytes | AsyncIterator[bytes],
        *,
        media_type: str | None = None,
        max_bytes: int | None = None,
        durable: bool = False,
    ) -> ObjectInfo:
        """One request for what fits in a part, else one a part; always durable."""
        _check(key)
        if isinstance(data, bytes):
            _refuse_more(len(data), max_bytes)
            return await self._run(self._bucket.put, key, data, media_type)
        async with aclosing(_parts(data, max_bytes)) as parts:
            first = await anext(parts, b"")
            second = await anext(parts, b"")
            if not second:
                return await self._run(self._bucket.put, key, first, media_type)
            upload = PartsUpload(self._bucket)
            try:
                for part in (first, second):
                    await self._run(upload.add, part)
                async for part in parts:
                    await self._run(upload.add, part)
                return await self._run(upload.finish, key, media_type)
            except BaseException:
                await asyncio.shield(self._run(upload.abort))
                raise

    async def get(self, key: str) -> bytes:
        """The whole object; `KeyError` when absent."""
        return await self._run(self._bucket.get, _check(key))

    async def stream(
        self, key: str, start: int = 0, end: int | None = None
    ) -> AsyncGenerator[bytes, None]:
        """From one response, so of one object; its connection is held until the end."""
        _check(key)
        if start < 0:
            raise ValueError(f"a range of bytes starts at 0 or later, not at {start}")
        if end is not None and end <= start:
            if not await self._run(self._bucket.has, key):
                raise KeyError(key)
            return
        try:
            response = await self._run(self._bucket.open, key, start, end)
        except EOFError:
            return
        try:
            while piece := await self._run(self._bucket.read_on, response):
                yield piece
        finally:
            release(response)

    async def stat(self, key: str) -> ObjectInfo | None:
        """What is stored under `key`, or None."""
        return await self._run(self._bucket.stat, _check(key))

    async def walk(self, prefix: str) -> AsyncIterator[ObjectInfo]:
        """Objects below `prefix` by key; S3 lists keys alone, so each is asked for."""
        keys = await self._run(self._bucket.keys, check_prefix(prefix))
        while batch := await self._run(self._bucket.take, keys, THREADS):
            for info in await asyncio.gather(*(self.stat(key) for key in batch)):
                if info is not None:
                    yield info

    async def copy(self, source: str, target: str) -> ObjectInfo:
        """Within the server; `KeyError` when absent."""
        return await self._run(self._bucket.copy, _check(source), _check(target))

    async def delete(self, keys: Iterable[str]) -> None:
        """Remove these, a thousand in one request."""
        wanted = [_check(key) for key in dict.fromkeys(keys)]
        if wanted:
            await self._run(self._bucket.remove, wanted)

    async def delete_prefix(self, prefix: str, *, keep: str | None = None) -> int:
        """Remove all that a listing of `prefix` gives; for a few objects two requests."""
        if not prefix:
            raise ValueError("not a path prefix: the empty one would erase the whole store")
        keys = await self._run(self._bucket.keys, check_prefix(prefix))
        removed = 0
        while batch := await self._run(self._bucket.take, keys):
            going = [key for key in batch if f"/{keep}/" not in key[len(prefix) - 1 :]]
            if going:
                await self._run(self._bucket.remove, going)
            removed += len(going)
        return removed

    @asynccontextmanager
    async def local(self, key: str) -> AsyncIterator[Path]:
        """A copy of the object in a temporary folder; `KeyError` when absent."""
        with tempfile.TemporaryDirectory(prefix="groundwire-object-") as folder:
            path = Path(folder) / "object"
            with path.open("wb") as file:
                async with aclosing(self.stream(key)) as pieces:
                    async for piece in pieces:
                        await self._run(file.write, piece)
            yield path

    async def upload_link(self, key: str, seconds: float) -> str:
        """A URL that takes one PUT of this key for so long.

        What comes through it carries whatever headers its sender chose: read it as a
        stream and `put` it, never trust its `stat`.
        """
        return await self._link("PUT", key, seconds)

    async def download_link(self, key: str, seconds: float) -> str:
        """A URL that gives this object for so long, whoever asks."""
        return await self._link("GET", key, seconds)

    async def _link(self, method: str, key: str, seconds: float) -> str:
        if not 1 <= seconds <= MAX_LINK_SECONDS:
            raise ValueError(f"a link lives 1 to {MAX_LINK_SECONDS} seconds, not {seconds:g}")
        return await self._run(self._bucket.link, method, _check(key), seconds)

    async def close(self) -> None:
        """Finish what runs, then release threads and connections."""
        await asyncio.to_thread(self._threads.shutdown)

    async def _run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(CALL_SECONDS):
                return await loop.run_in_executor(self._threads, lambda: function(*args, **kwargs))
        except TimeoutError:
            detail = f"the object store did not answer within {CALL_SECONDS:g} s"
            raise WorldFault(Code.STORE_AWAY, detail) from None


def _check(key: str) -> str:
    """`key`, when it is one and none of the adapter's own."""
    if check_key(key).partition("/")[0] == INTERNALS:
        raise ValueError(f"not an object key: {INTERNALS!r} is the store's own folder")
    return key


def _refuse_more(size: int, max_bytes: int | None) -> None:
    if max_bytes is not None and size > max_bytes:
        raise DocumentFault(
            Code.TOO_LARGE, f"the file is larger than the limit of {max_bytes} bytes"
        )


async def _parts(data: AsyncIterator[bytes], max_bytes: int | None) -> AsyncGenerator[bytes, None]:
    """`data` in parts of `PART_BYTES`, the last one smaller."""
    pending = bytearray()
    size = 0
    async for piece in data:
        size += len(piece)
        _refuse_more(size, max_bytes)
        pending += piece
        while len(pending) >= PART_BYTES:
            yield bytes(pending[:PART_BYTES])
            del pending[:PART_BYTES]
    if pending:
        yield bytes(pending)
