"""The embedder port."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Text to unit vectors. Deterministic: equal text gives the same vector to 1e-4 in
    every batch. `model` names weights and conversion together: when either changes, so
    does it, and vectors of two models are never compared.
    """

    @property
    def model(self) -> str:
        """The key under which vectors are stored and cached, such as `e5-1571fc98-v1`."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    async def embed_passages(self, texts: list[str]) -> Vectors:
        """(len(texts), dimension), rows of unit length; off the event loop."""
        ...

    async def embed_query(self, text: str) -> Vectors:
        """(dimension,), unit length; never waits behind passages."""
        ...

    async def close(self) -> None:
        """Release threads and sessions."""
        ...
