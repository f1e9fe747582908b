"""A second ranking of what was found, where a reranker is configured."""

import asyncio
import math
import time
from dataclasses import dataclass

from libs.contracts.api.search import RetrieveAnswer, RetrievedChunk, RetrieveQuery
from libs.runtime.inference.errors import ModelUnavailable
from libs.runtime.inference.rerank import Reranker, open_reranker
from libs.runtime.models.failure import ModelFailed
from libs.runtime.stores import Stores
from libs.runtime.telemetry import logger
from services.retriever.calibrating import Calibrator
from services.retriever.retrieve import Retriever
from services.retriever.settings import Settings
from services.retriever.words import words_of

log = logger("retriever")

CHANNEL = "rerank"
"""Its name among an answer's timings and a chunk's channels."""
DEPTH = 50
READ_CHARS = 2000
TIME_SHARE = 0.5
"""Of the time that is left once the chunks are found; the rest is for what comes after."""
UNHURRIED_SECONDS = 10.0


@dataclass(frozen=True)
class Reranking:
    """Retrieves more than is wanted, and gives the best of it by the reranker's scores.

    Where that fails or has no time the answer is as it would be without one.
    """

    retriever: Retriever
    reranker: Reranker | None = None

    async def retrieve(self, query: RetrieveQuery) -> RetrieveAnswer:
        """See `Retriever.retrieve`."""
        if self.reranker is None:
            return await self.retriever.retrieve(query)
        began = time.perf_counter()
        whole = query.top_k if query.whole is None else query.whole
        deeper = query.model_copy(update={"top_k": max(DEPTH, query.top_k), "whole": whole})
        answer = await self.retriever.retrieve(deeper)
        found = time.perf_counter()
        seconds = UNHURRIED_SECONDS
        if query.milliseconds is not None:
            seconds = TIME_SHARE * (query.milliseconds / 1000 - (found - began))
        ranked = await self._ranked(query.query, answer.chunks, seconds)
        if ranked is None:
            notes = [*answer.notes, "the reranker did not answer"] if answer.chunks else []
            kept = {"chunks": answer.chunks[: query.top_k], "notes": notes}
            return answer.model_copy(update=kept)
        taken = 1000 * (time.perf_counter() - found)
        timings = {**answer.timings_ms, CHANNEL: taken}
        return answer.model_copy(update={"chunks": ranked[: query.top_k], "timings_ms": timings})

    async def _ranked(
        self, query: str, chunks: list[RetrievedChunk], seconds: float
    ) -> list[RetrievedChunk] | None:
        """The chunks by the reranker's scores; None when it gives none in time."""
        if not chunks or seconds <= 0 or self.reranker is None:
            return None
        try:
            async with asyncio.timeout(seconds):
                texts = [_text(chunk) for chunk in chunks]
                scores = await self.reranker.scores(query, texts, seconds)
        except (ModelFailed, ModelUnavailable, TimeoutError) as error:
            log.warning("not reranked", error=type(error).__name__)
            return None
        return _in_order(chunks, scores)


def reranking_of(stores: Stores, settings: Settings) -> Reranking:
    """The retriever over these stores, with the reranker that the settings name."""
    calibrator = Calibrator(stores.catalog, stores.objects, stores.index)
    retriever = Retriever(
        stores.catalog, stores.index, stores.embedder, settings, words_of, calibrator.limits
    )
    return Reranking(retriever, open_reranker(settings.model_rerank, settings.reranker_folder))


def _text(chunk: RetrievedChunk) -> str:
    """What a reranker reads of a chunk: its headings and the beginning of its content."""
    return "\n".join([" > ".join(chunk.path), chunk.content]).strip()[:READ_CHARS]


def _shares(scores: dict[int, float]) -> dict[int, float]:
    """The scores where they lie between 0 and 1; else, as logits do, on the logistic curve."""
    if all(0.0 <= score <= 1.0 for score in scores.values()):
        return scores
    return {n: 0.5 * (1.0 + math.tanh(score / 2.0)) for n, score in scores.items()}


def _in_order(chunks: list[RetrievedChunk], scores: dict[int, float]) -> list[RetrievedChunk]:
    """Those with a score, best first, then the others as they were; scores of any scale become
    shares of one, since later steps count by shares of them."""
    shares = _shares(scores)
    least = min(shares.values(), default=0.0)
    order = sorted(range(len(chunks)), key=lambda n: (n not in scores, -scores.get(n, 0.0), n))
    return [
        chunks[n].model_copy(
            update={
                "score": shares.get(n, least),
                "channels": {**chunks[n].channels, CHANNEL: scores[n]}
                if n in scores
                else chunks[n].channels,
            }
        )
        for n in order
    ]
