"""A second ranking of the entries found first, where a reranker is on."""

import asyncio
from collections.abc import Mapping, Sequence

from libs.contracts.query.entries import EntryHit
from libs.runtime.inference.errors import ModelUnavailable
from libs.runtime.inference.rerank import Reranker
from libs.runtime.models.failure import ModelFailed
from libs.runtime.telemetry import logger

log = logger("retriever.entries")

READ = 10
"""Entries that the reranker reads."""
READ_CHARS = 1_000
CHANNEL = "rerank"


async def reranked(
    reranker: Reranker,
    query: str,
    hits: Sequence[EntryHit],
    texts: Mapping[str, str],
    seconds: float,
) -> list[EntryHit]:
    """The first ten by the reranker's scores (kept among the channels), the others behind them;
    as they were where it does not answer in time. `texts` say more of an entry than its name."""
    read, rest = list(hits[:READ]), list(hits[READ:])
    if len(read) < 2 or seconds <= 0:
        return [*read, *rest]
    told = [
        "\n".join(filter(None, (hit.name, hit.path, texts.get(hit.id, ""))))[:READ_CHARS]
        for hit in read
    ]
    try:
        async with asyncio.timeout(seconds):
            scores = await reranker.scores(query, told, seconds)
    except (ModelFailed, ModelUnavailable, TimeoutError) as error:
        log.warning("not reranked", error=type(error).__name__)
        return [*read, *rest]
    order = sorted(range(len(read)), key=lambda n: (n not in scores, -scores.get(n, 0.0), n))
    again = [
        read[n].model_copy(update={"channels": {**read[n].channels, CHANNEL: scores[n]}})
        if n in scores
        else read[n]
        for n in order
    ]
    return [*again, *rest]
