"""Embedders of libraries that block: two threads, one for queries alone."""

import asyncio
import re
import threading
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import numpy as np

from libs.runtime.inference.e5 import yield_to_others
from libs.runtime.inference.port import Vectors

Kind = Literal["query", "passage"]
Encode = Callable[[list[str], Kind], Vectors]
_SLICE = 32
"""Texts encoded at once, so that a cancelled call ends soon."""


class ThreadedEmbedder(ABC):
    """`Embedder` over a function that blocks. Nothing is loaded before the first use."""

    model: str
    dimension: int

    def __init__(self) -> None:
        self._passages = ThreadPoolExecutor(1, "passages", yield_to_others)
        self._queries = ThreadPoolExecutor(1, "queries")
        self._lock = threading.Lock()
        self._encode: Encode | None = None

    @abstractmethod
    def load(self) -> Encode:
        """What encodes texts, into (n, dimension); `ModelUnavailable` where it cannot be had."""

    async def embed_passages(self, texts: list[str]) -> Vectors:
        """(len(texts), dimension), in order."""
        loop = asyncio.get_running_loop()
        out = np.zeros((len(texts), self.dimension), np.float32)
        for start in range(0, len(texts), _SLICE):
            part = texts[start : start + _SLICE]
            made = await loop.run_in_executor(self._passages, self._encoded, part, "passage")
            out[start : start + len(part)] = made
        return out

    async def embed_query(self, text: str) -> Vectors:
        """(dimension,)."""
        loop = asyncio.get_running_loop()
        made = await loop.run_in_executor(self._queries, self._encoded, [text], "query")
        first: Vectors = made[0]
        return first

    async def close(self) -> None:
        """Drop what waits and release the model."""
        for pool in (self._passages, self._queries):
            pool.shutdown(wait=False, cancel_futures=True)
            await asyncio.to_thread(pool.shutdown)
        self._encode = None

    def _encoded(self, texts: list[str], kind: Kind) -> Vectors:
        with self._lock:
            if self._encode is None:
                self._encode = self.load()
            encode = self._encode
        return unit_vectors(encode([readable(t) for t in texts], kind), self.dimension)


def readable(text: str) -> str:
    """`text` as libraries and servers take it: composed (NFC), half pairs replaced."""
    return unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode())


def key_name(*parts: object) -> str:
    """A model's name as it may stand in keys: letters, digits, `-` and `_`."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", "-".join(map(str, parts))).strip("-_")[:120]


def unit_vectors(made: object, dimension: int) -> Vectors:
    """Rows of length 1; `ValueError` for what are no finite vectors of this dimension."""
    rows = np.asarray(made, np.float32)
    if rows.ndim != 2 or rows.shape[1] != dimension or not np.isfinite(rows).all():
        raise ValueError(f"the model gave {rows.shape}, not finite vectors of {dimension}")
    unit: Vectors = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return unit
