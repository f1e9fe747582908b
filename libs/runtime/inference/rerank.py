"""Rerankers: an endpoint, a local cross-encoder, none, each where the one before it fails."""

import asyncio
import math
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from libs.runtime.inference.errors import ModelUnavailable
from libs.runtime.models.failure import ModelFailed
from libs.runtime.models.settings import Endpoint
from libs.runtime.telemetry import logger

log = logger("rerank")


class Reranker(Protocol):
    """Scores texts by how well they answer a query; higher is better, and only their order
    means something. MUST raise `ModelFailed` or `ModelUnavailable` where it cannot."""

    @property
    def name(self) -> str:
        """What answers and traces call it."""
        ...

    async def scores(self, query: str, texts: Sequence[str], seconds: float) -> dict[int, float]:
        """Scores by the texts' index, of all or of the best of them."""
        ...

    async def close(self) -> None:
        """Release what it holds."""
        ...


class EndpointReranker:
    """`<url>/rerank` as Cohere, Jina, vLLM and llama.cpp serve it."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.name = endpoint.name
        from libs.runtime.models.service import EndpointService

        self._service = EndpointService(endpoint)

    async def scores(self, query: str, texts: Sequence[str], seconds: float) -> dict[int, float]:
        """The endpoint's relevance scores."""
        return await self._service.ranks(query, texts, seconds)

    async def close(self) -> None:
        """Release connections."""
        await self._service.close()


class CrossEncoderReranker:
    """A cross-encoder of sentence-transformers in a folder; loaded when first used."""

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        self._folder = folder
        self._lock = threading.Lock()
        self._encoder: Any = None

    async def scores(self, query: str, texts: Sequence[str], seconds: float) -> dict[int, float]:
        """Its scores; `ModelUnavailable` also when they take too long, this once."""
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.to_thread(self._predicted, query, list(texts))
        except TimeoutError:
            raise ModelUnavailable("the cross-encoder takes too long") from None

    def _predicted(self, query: str, texts: list[str]) -> dict[int, float]:
        with self._lock:
            if self._encoder is None:
                if not (self._folder / "config.json").exists():
                    raise ModelUnavailable(f"there is no cross-encoder in {self._folder}")
                from libs.runtime.inference.sentence import library

                self._encoder = library().CrossEncoder(str(self._folder), device="cpu")
            made = self._encoder.predict([(query, text) for text in texts])
        return {n: float(score) for n, score in enumerate(made) if math.isfinite(score)}

    async def close(self) -> None:
        """Drop the model."""
        self._encoder = None


class FirstThatAnswers:
    """Rerankers in order; the next where one fails, `ModelUnavailable` where all do."""

    def __init__(self, rerankers: Sequence[Reranker]) -> None:
        self._rerankers = list(rerankers)
        self.name = "+".join(reranker.name for reranker in rerankers)

    async def scores(self, query: str, texts: Sequence[str], seconds: float) -> dict[int, float]:
        """Those of the first that answers, each given an equal part of the time that is left."""
        until = asyncio.get_running_loop().time() + seconds
        for number, reranker in enumerate(self._rerankers):
            left = max(0.0, until - asyncio.get_running_loop().time())
            try:
                return await reranker.scores(query, texts, left / (len(self._rerankers) - number))
            except (ModelFailed, ModelUnavailable) as failed:
                log.warning("reranker failed", reranker=number, error=type(failed).__name__)
        raise ModelUnavailable("no reranker answers")

    async def close(self) -> None:
        """Close all."""
        for reranker in self._rerankers:
            await reranker.close()


def open_reranker(endpoint: Endpoint, folder: Path | None) -> Reranker | None:
    """What is configured, the endpoint before the local model; None where nothing is."""
    found: list[Reranker] = [EndpointReranker(endpoint)] if endpoint.configured else []
    if folder is not None:
        found.append(CrossEncoderReranker(folder))
    return FirstThatAnswers(found) if found else None
