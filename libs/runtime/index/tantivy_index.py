"""The local search index: tantivy for the lexical channels, SQLite and numpy for vectors."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ParamSpec, TypeVar

from libs.contracts.artefacts.chunk import ChunkType
from libs.runtime.index.lexical_reader import LexicalReader
from libs.runtime.index.lexical_writer import LOCK_SECONDS, LexicalWriter
from libs.runtime.index.matrix import Nearest
from libs.runtime.index.port import (
    Digest,
    Hit,
    IndexDocument,
    LexicalChannel,
    LexicalQuery,
    Scope,
    SearchIndex,
    Vectors,
)
from libs.runtime.index.scans import Scanned, SharedScans
from libs.runtime.index.schema import FOLDER, TYPE_CODES
from libs.runtime.index.vectors import FILE, VectorStore

READ_THREADS = 2
"""Most of a lexical search holds the interpreter: with four threads a search cost a tenth more
CPU time than with two."""

P = ParamSpec("P")
R = TypeVar("R")


class TantivyIndex(SearchIndex):
    """`SearchIndex` in the folder `root`; exactly one process opens it with `writer=True`.

    Nothing blocks the event loop: searches run in a small pool of threads, scans of vectors
    in a thread of their own, lexical writes in one thread that holds the index's lock from
    the first write until `close`. Vectors take their chunks' types from the lexical
    documents, so those are written first.
    """

    def __init__(self, root: Path, *, writer: bool, lock_seconds: float = LOCK_SECONDS) -> None:
        self._reader = LexicalReader(root / FOLDER)
        self._vectors = VectorStore(root / FILE)
        self._scans = SharedScans(self._scan)
        self._lexical = LexicalWriter(root / FOLDER, lock_seconds=lock_seconds) if writer else None
        self._closed = False
        self._pool = ThreadPoolExecutor(READ_THREADS, thread_name_prefix="index")
        self._scanning = ThreadPoolExecutor(1, thread_name_prefix="vectors")

    async def write(
        self,
        namespace: str,
        revn: int,
        documents: list[IndexDocument],
        *,
        unseen: bool = False,
    ) -> Digest:
        """See the port; returns after the commit that holds it."""
        await asyncio.wrap_future(self._writer().write(namespace, revn, documents))
        return await self.digest(namespace, revn)

    async def append(self, namespace: str, revn: int, documents: list[IndexDocument]) -> None:
        """See the port; returns after the commit that holds it."""
        await asyncio.wrap_future(self._writer().append(namespace, revn, documents))

    async def digest(self, namespace: str, revn: int) -> Digest:
        """See the port."""
        return await self._run(self._reader.digest, namespace, revn)

    async def revisions(self, namespace: str) -> set[int]:
        """See the port."""
        lexical = await self._run(self._reader.revisions, namespace)
        return lexical | await self._run(self._vectors.revisions, namespace)

    async def search(
        self, channel: LexicalChannel, query: LexicalQuery, scope: Scope, limit: int
    ) -> list[Hit]:
        """See the port."""
        return await self._run(self._reader.search, channel, query, scope, limit)

    async def write_vectors(
        self, namespace: str, revn: int, model: str, chunk_ids: list[str], vectors: Vectors
    ) -> None:
        """See the port; `ValueError` for vectors that do not fit the chunks or the model."""
        self._writer()

        def write() -> None:
            types: dict[int, ChunkType] = self._reader.types(namespace, revn)
            self._vectors.write(namespace, revn, model, chunk_ids, vectors, types)

        await self._run(write)

    async def vector_digest(self, namespace: str, revn: int, model: str) -> Digest:
        """See the port."""
        return await self._run(self._vectors.digest, namespace, revn, model)

    async def search_vectors(
        self, model: str, vector: Vectors, scope: Scope, limit: int
    ) -> list[Hit]:
        """See the port; `ValueError` for a vector that does not fit the model."""
        if limit <= 0 or not scope.revns:
            return []
        of = Scanned(scope.namespace, model, vector.shape)
        types = scope.chunk_types
        codes = None if types is None else frozenset(TYPE_CODES[t] for t in types)
        return await self._scans.search(of, Nearest(vector, scope.revns, codes, limit))

    async def remove(self, namespace: str, revns: list[int]) -> int:
        """See the port. What was removed leaves the disk in the background
        (`libs/runtime/index/purge.py`), vectors at once."""
        writer = self._writer()
        await self._run(self._vectors.remove, namespace, revns)
        return await asyncio.wrap_future(writer.remove(namespace, revns))

    async def purge(self) -> None:
        """See the port; the disk, that is."""
        await asyncio.wrap_future(self._writer().purge())

    async def close(self) -> None:
        """See the port; a writer's lock is free afterwards. Closing twice does no harm."""
        if self._closed:
            return
        self._closed = True
        if self._lexical is not None:
            await self._run(self._lexical.close)
        await self._run(self._vectors.close)
        self._pool.shutdown(wait=False)
        self._scanning.shutdown(wait=False)

    async def _scan(self, of: Scanned, queries: list[Nearest]) -> list[list[Hit]]:
        loop, search = asyncio.get_running_loop(), self._vectors.search
        return await loop.run_in_executor(self._scanning, search, of.namespace, of.model, queries)

    def _writer(self) -> LexicalWriter:
        if self._lexical is None:
            raise RuntimeError("this index was opened for reading")
        return self._lexical

    async def _run(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, lambda: call(*args, **kwargs))
