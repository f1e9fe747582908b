"""Entry search measured through the services: one collection, settings side by side."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.entries.figures import DEEP, Case, Found
from eval.entries.sets import Question
from eval.retrieval.services import INGEST_SECONDS, IngestFailed, client_of
from libs.client.asynchronous import AsyncClient
from libs.contracts.entries import CollectionSettings, EntryWeights, RecordRules
from libs.contracts.query.entries import EntrySearch
from tests.support.stack import Stack

COLLECTION = "measured"
DEFAULTS = "defaults"
AT_ONCE = 2
RERANKERS = ("GROUNDWIRE_MODEL_RERANK_URL", "GROUNDWIRE_RERANKER_FOLDER")
SETTINGS: dict[str, EntryWeights] = {
    DEFAULTS: EntryWeights(),
    "rank fusion": EntryWeights(fusion="rank"),
    "words alone": EntryWeights(dense=0, questions=0),
    "meanings alone": EntryWeights(lexical=0, questions=0, rerank=False),
    "no rewriting": EntryWeights(rewrites=0),
    "no popularity": EntryWeights(popularity=0),
}
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
RANKS = ((0.5, 1.5), (1.0, 1.0), (1.5, 0.5), (1.5, 1.0))
GRID: dict[str, EntryWeights] = {
    **{f"mix, meanings {share}": EntryWeights(dense_share=share) for share in SHARES},
    **{
        f"ranks, meanings {dense} words {lexical}": EntryWeights(
            fusion="rank", dense=dense, lexical=lexical
        )
        for dense, lexical in RANKS
    },
}


@dataclass(frozen=True)
class Files:
    """What is sent: entries, and sample questions for the query index where there are some."""

    entries: Path
    samples: Path | None = None


def with_models(environment: Mapping[str, str] = os.environ) -> dict[str, EntryWeights | None]:
    """The settings that need a model: meanings alone, with HyDE, with a second ranking; None for
    what is not configured in the environment. The reranker is part of the defaults when it is."""
    hyde = bool(environment.get("GROUNDWIRE_MODEL_HYDE_URL"))
    rerank = any(environment.get(name) for name in RERANKERS)
    return {
        "meanings alone, HyDE": EntryWeights(hyde=True, lexical=0, questions=0, rerank=False)
        if hyde
        else None,
        "HyDE": EntryWeights(hyde=True) if hyde else None,
        "no second ranking": EntryWeights(rerank=False) if rerank else None,
        "meanings alone, second ranking": EntryWeights(lexical=0, questions=0) if rerank else None,
    }


async def measure(
    running: Stack,
    files: Files,
    questions: Sequence[Question],
    buckets: Mapping[str, str],
    settings: Mapping[str, EntryWeights],
) -> dict[str, list[Case]]:
    """Publish the entries and ask every question under every setting. The questions themselves
    are never put into the query index."""
    async with client_of(running, "entries") as client:
        await _publish(client, files.entries, RecordRules())
        if files.samples is not None:
            await _publish(client, files.samples, RecordRules(kind="questions"))
        found = {}
        for name, weights in settings.items():
            await client.set_collection(COLLECTION, CollectionSettings(weights=weights))
            found[name] = await _asked(client, questions, buckets)
    return found


async def _publish(client: AsyncClient, path: Path, rules: RecordRules) -> None:
    accepted = await client.send_records(COLLECTION, path, rules, wait_for_dense=True)
    job = await client.wait(accepted.job_id, INGEST_SECONDS)
    if job.state != "published":
        raise IngestFailed(f"{path.name}: {job.state} at {job.stage}")


async def _asked(
    client: AsyncClient, questions: Sequence[Question], buckets: Mapping[str, str]
) -> list[Case]:
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(question: Question) -> Case:
        async with gate:
            search = EntrySearch(query=question.text, top_k=DEEP)
            found = await client.find_entries(COLLECTION, search)
        ranking = tuple(Found(e.id, e.name, e.similarity) for e in found.entries)
        bucket = buckets.get(question.entry_id, "unknown")
        return Case(question.text, question.entry_id, question.source, bucket, ranking)

    return list(await asyncio.gather(*map(one, questions)))
