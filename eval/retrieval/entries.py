"""Entry search measured through the services: one collection, settings side by side."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.retrieval.metrics import reciprocal_rank
from eval.retrieval.services import INGEST_SECONDS, IngestFailed, client_of
from libs.client.asynchronous import AsyncClient
from libs.contracts.entries import CollectionSettings, EntryWeights
from libs.contracts.query.entries import EntrySearch
from tests.support.stack import Stack

COLLECTION = "measured"
DEEP = 5
BUCKETS = ("seldom", "sometimes", "often")
SETTINGS: dict[str, EntryWeights] = {
    "defaults": EntryWeights(),
    "rank fusion": EntryWeights(fusion="rank"),
    "words alone": EntryWeights(dense=0, questions=0),
    "meanings alone": EntryWeights(lexical=0, questions=0),
    "no rewriting": EntryWeights(rewrites=0),
}


def figures(ranking: Sequence[str], right: str) -> dict[str, float]:
    """Acc@1, Acc@3, Acc@5 and MRR@5 of one ranking."""
    found = {f"acc@{k}": float(right in ranking[:k]) for k in (1, 3, DEEP)}
    return {**found, f"mrr@{DEEP}": reciprocal_rank(ranking, {right}, DEEP)}


def mean(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each figure; nothing for no rows."""
    return {n: round(sum(r[n] for r in rows) / len(rows), 4) for n in rows[0]} if rows else {}


def buckets(counts: Mapping[str, int]) -> dict[str, str]:
    """Each entry's third by how often it is looked for; equal counts in the order of ids."""
    ordered = sorted(counts, key=lambda key: (counts[key], key))
    return {key: BUCKETS[3 * place // len(ordered)] for place, key in enumerate(ordered)}


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


async def measure(running: Stack, entries: Path, questions: Path) -> dict[str, Any]:
    """Publish the entries and ask every question under every setting. The questions are never
    put into the query index."""
    asked = read(questions)
    third = buckets({row["id"]: int(row["search_count"] or 0) for row in read(entries)})
    report: dict[str, Any] = {"entries": len(third), "questions": len(asked), "settings": {}}
    async with client_of(running, "entries") as client:
        accepted = await client.send_records(COLLECTION, entries, wait_for_dense=True)
        job = await client.wait(accepted.job_id, INGEST_SECONDS)
        if job.state != "published":
            raise IngestFailed(f"{entries.name}: {job.state} at {job.stage}")
        for name, weights in SETTINGS.items():
            await client.set_collection(COLLECTION, CollectionSettings(weights=weights))
            rows = [(third[row["id"]], await _asked(client, row)) for row in asked]
            report["settings"][name] = {
                **mean([row for _, row in rows]),
                "by_popularity": {b: mean([r for t, r in rows if t == b]) for b in BUCKETS},
            }
    return report


async def _asked(client: AsyncClient, row: Mapping[str, str]) -> dict[str, float]:
    found = await client.find_entries(COLLECTION, EntrySearch(query=row["question"], top_k=DEEP))
    return figures([entry.id for entry in found.entries], row["id"])


def markdown(report: Mapping[str, Any]) -> str:
    """The report as a table."""
    names = ["acc@1", "acc@3", "acc@5", "mrr@5"]
    lines = [
        f"{report['entries']} entries, {report['questions']} questions",
        "",
        "| settings | " + " | ".join(names) + " |",
        "| --- |" + " --- |" * len(names),
    ]
    for setting, found in report["settings"].items():
        lines.append(f"| {setting} | " + " | ".join(f"{found[n]:.3f}" for n in names) + " |")
    return "\n".join(lines) + "\n"


def write(report: Mapping[str, Any], folder: Path) -> None:
    """`entries.json` and `entries.md` in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(report, ensure_ascii=False, indent=2)
    (folder / "entries.json").write_text(text + "\n", encoding="utf-8")
    (folder / "entries.md").write_text(markdown(report), encoding="utf-8")
