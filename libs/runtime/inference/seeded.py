"""A seeded random embedder, for growth benchmarks: 100,000 real embeddings take an hour."""

import hashlib
from functools import lru_cache

import numpy as np

from libs.runtime.inference.port import Vectors

DIMENSION = 384
COSINE = 0.75
"""Of two unrelated texts, about; that of multilingual-e5-small."""
_FALL = -0.55
"""The n-th largest variance is as n to this power: half of the variance of multilingual-e5-small
lies in 75 of its 384 directions, of these in 80 (9,300 passages)."""


class SeededEmbedder:
    """Unit vectors drawn from a generator seeded by the text: equal text, equal vector but for
    the last bits.

    There is no meaning in them; search by them is a load, not an answer. They lie as real
    ones do, in a cone, and spread over some directions more than over others.
    """

    model = f"seeded-{DIMENSION}-v2"
    dimension = DIMENSION

    async def embed_passages(self, texts: list[str]) -> Vectors:
        """(len(texts), 384)."""
        return _vectors(texts)

    async def embed_query(self, text: str) -> Vectors:
        """(384,)."""
        vector: Vectors = _vectors([text])[0]
        return vector

    async def close(self) -> None:
        """Nothing to release."""


def _vectors(texts: list[str]) -> Vectors:
    if not texts:
        return np.zeros((0, DIMENSION), np.float32)
    directions, axis = _shape()
    drawn = np.stack([_drawn(text) for text in texts])
    vectors = axis + drawn @ directions
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def _drawn(text: str) -> Vectors:
    seed = int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:8], "big")
    return np.random.default_rng(seed).standard_normal(DIMENSION, np.float32)


@lru_cache(maxsize=1)
def _shape() -> tuple[Vectors, Vectors]:
    """Directions with their deviations as rows, and the axis of the cone."""
    turned, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((DIMENSION, DIMENSION)))
    variances = np.arange(1, DIMENSION + 1) ** _FALL
    deviations = np.sqrt((1 - COSINE) * variances / variances.sum())
    axis = np.full(DIMENSION, np.sqrt(COSINE / DIMENSION))
    return (turned * deviations[:, None]).astype(np.float32), axis.astype(np.float32)
