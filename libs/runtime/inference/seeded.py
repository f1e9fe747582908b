"""A seeded random embedder, for growth benchmarks: 100,000 real embeddings take an hour."""

import hashlib

import numpy as np

from libs.runtime.inference.port import Vectors

DIMENSION = 384


class SeededEmbedder:
    """Unit vectors drawn from a generator seeded by the text: equal text, equal vector.

    There is no meaning in them; search by them is a load, not an answer.
    """

    model = f"seeded-{DIMENSION}-v1"
    dimension = DIMENSION

    async def embed_passages(self, texts: list[str]) -> Vectors:
        """(len(texts), 384)."""
        return np.stack([_vector(t) for t in texts]) if texts else np.zeros((0, DIMENSION), "f4")

    async def embed_query(self, text: str) -> Vectors:
        """(384,)."""
        return _vector(text)

    async def close(self) -> None:
        """Nothing to release."""


def _vector(text: str) -> Vectors:
    seed = int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:8], "big")
    vector = np.random.default_rng(seed).standard_normal(DIMENSION).astype(np.float32)
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)
