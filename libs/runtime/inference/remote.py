"""An embedder behind an OpenAI-compatible endpoint."""

import hashlib
from collections.abc import Iterator

import numpy as np

from libs.runtime.inference.errors import ModelUnavailable
from libs.runtime.inference.port import Vectors
from libs.runtime.inference.threaded import key_name, readable, unit_vectors
from libs.runtime.models.failure import ModelFailed, Reason
from libs.runtime.models.service import EndpointService
from libs.runtime.models.settings import Endpoint

BATCH = 64
BATCH_CHARS = 64_000
PASSAGE_SECONDS = 120.0
QUERY_SECONDS = 3.0
"""How long a query may wait for its vector before words alone search."""


class EndpointEmbedder:
    """`Embedder` over `<url>/embeddings`. The endpoint does not say which weights it has, so
    that its name and the dimension stand for them.

    Passages that cannot be embedded now raise `ModelFailed`, which is tried again later; a
    query that cannot raises `ModelUnavailable`, and is searched by words.
    """

    def __init__(self, endpoint: Endpoint, dimension: int) -> None:
        self._service = EndpointService(endpoint)
        self.dimension = dimension
        place = hashlib.sha256(endpoint.url.encode()).hexdigest()[:8]
        self.model = key_name("openai", endpoint.name[:80], place, dimension)

    async def embed_passages(self, texts: list[str]) -> Vectors:
        """(len(texts), dimension), in order."""
        out = np.zeros((len(texts), self.dimension), np.float32)
        for start, batch in _batches(texts):
            out[start : start + len(batch)] = await self._vectors(batch, PASSAGE_SECONDS)
        return out

    async def embed_query(self, text: str) -> Vectors:
        """(dimension,)."""
        try:
            made = await self._vectors([text], QUERY_SECONDS)
        except ModelFailed as failed:
            raise ModelUnavailable(f"the embedder's endpoint: {failed.detail}") from None
        first: Vectors = made[0]
        return first

    async def _vectors(self, texts: list[str], seconds: float) -> Vectors:
        """An empty text has no vector at most endpoints: a space stands for it."""
        made = await self._service.vectors([readable(text) or " " for text in texts], seconds)
        try:
            return unit_vectors(made, self.dimension)
        except ValueError:
            detail = f"the embedder's endpoint gives no vectors of {self.dimension} numbers"
            raise ModelFailed(Reason.INVALID, detail) from None

    async def close(self) -> None:
        """Release connections."""
        await self._service.close()


def _batches(texts: list[str]) -> Iterator[tuple[int, list[str]]]:
    start = 0
    while start < len(texts):
        end, size = start, 0
        while end < len(texts) and end - start < BATCH and (size := size + len(texts[end])) >= 0:
            if end > start and size > BATCH_CHARS:
                break
            end += 1
        yield start, texts[start:end]
        start = end
