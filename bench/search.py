"""Search at the API over 1k, 10k and 100k chunks, beside the same search in one process."""

import asyncio
import statistics
import time
from pathlib import Path

import httpx

from bench.measure import Figure, Report, percentile, spread
from libs.contracts.api.search import RetrieveQuery
from libs.runtime.index.port import LexicalQuery
from libs.runtime.index.tokenizer import query_terms, tokenize
from libs.runtime.settings import Settings
from libs.runtime.stores import Stores
from services.retriever.retrieve import Retriever
from services.retriever.settings import Settings as RetrieverSettings
from tests.support.stack import Stack, running_stack

SIZES = (1_000, 10_000, 100_000)
PER_DOCUMENT = 2_500
QUERIES = 60
WARM_UP = 10

ADJECTIVES = ("amber", "brisk", "cobalt", "dusty", "early", "frozen", "gentle", "hollow")
NOUNS = ("harbour", "engine", "ledger", "valve", "statute", "orchard", "signal", "turbine")
VERBS = ("regulates", "records", "repairs", "measures", "protects", "delays", "supplies")


def section(number: int) -> str:
    """A heading and one sentence, different for every number; Zipf-like shared words."""
    a, n, v = (
        ADJECTIVES[number % 8],
        NOUNS[(number // 8) % 8],
        VERBS[(number // 64) % 7],
    )
    return (
        f"## Item {number}\n\nThe {a} {n} {v} unit w{number % 997} of line l{number % 89}, "
        f"제{number}호 시설의 {n} 점검 기록이다.\n"
    )


def document(first: int, count: int) -> bytes:
    """A Markdown document of `count` sections."""
    return "\n".join([f"# Register {first}\n", *map(section, range(first, first + count))]).encode()


def queries() -> list[str]:
    """Distinct queries, so that no answer comes from the cache."""
    return [
        f"{ADJECTIVES[n % 8]} {NOUNS[n % 7]} unit w{n * 13 % 997} 점검 기록 {n}"
        for n in range(QUERIES + WARM_UP)
    ]


def grow(stack: Stack, have: int, want: int) -> None:
    """Ingest until the corpus holds `want` chunks."""
    jobs = []
    for first in range(have, want, PER_DOCUMENT):
        count = min(PER_DOCUMENT, want - first)
        options = {"wait_for_dense": True}
        jobs.append(stack.upload(f"register-{first}.md", document(first, count), **options))
    for accepted in jobs:
        job = stack.wait(accepted["job_id"], 900)
        assert job["state"] == "published", job


async def at_api(stack: Stack) -> tuple[list[float], list[float]]:
    """Milliseconds of searches, and of empty requests over the same path."""
    headers = {"Authorization": "Bearer gw_" + "0123456789abcdef" * 2}
    searches, empty = [], []
    async with httpx.AsyncClient(base_url=stack.url, headers=headers, timeout=30) as client:
        for number, query in enumerate(queries()):
            started = time.perf_counter()
            answer = await client.post(f"{stack.base}/search", json={"query": query})
            taken = 1000 * (time.perf_counter() - started)
            assert answer.status_code == 200, answer.text
            assert not answer.json()["cached"]
            started = time.perf_counter()
            nothing = {"query": query, "filters": {"document_ids": ["absent"]}}
            await client.post(f"{stack.base}/search", json=nothing)
            if number >= WARM_UP:
                searches.append(taken)
                empty.append(1000 * (time.perf_counter() - started))
    return searches, empty


async def in_process(data: Path) -> list[float]:
    """Milliseconds of the same searches called in this process over the same stores."""
    stores = Stores(Settings(data_dir=data, embedder="seeded", _env_file=None))
    settings = RetrieverSettings(data_dir=data, embedder="seeded", _env_file=None)
    retriever = Retriever(
        stores.catalog,
        stores.index,
        stores.embedder,
        settings,
        lambda text: LexicalQuery(tokenize(text), query_terms(text)),
    )
    taken = []
    for number, query in enumerate(queries()):
        started = time.perf_counter()
        await retriever.retrieve(RetrieveQuery(namespace="default", query=query, top_k=10))
        if number >= WARM_UP:
            taken.append(1000 * (time.perf_counter() - started))
    await stores.close()
    return taken


def run(report: Report, sizes: tuple[int, ...] = SIZES) -> None:
    """Grow one corpus and measure at every size."""
    with running_stack(GROUNDWIRE_EMBEDDER="seeded", GROUNDWIRE_PARSER_SECONDS="600") as stack:
        have, first_p95 = 0, None
        for size in sizes:
            started = time.perf_counter()
            grow(stack, have, size)
            report.add(
                Figure(
                    f"ingest to {size:,} chunks",
                    f"{(size - have) / (time.perf_counter() - started):.0f} chunks/s",
                )
            )
            have = size
            searches, empty = asyncio.run(at_api(stack))
            direct = asyncio.run(in_process(stack.data))
            baseline = statistics.median(direct) + statistics.median(empty)
            report.add(
                Figure(
                    f"search at the API, {size:,} chunks (p50 / p95)",
                    spread(searches),
                    f"{spread(direct)} + {statistics.median(empty):.1f} ms",
                    statistics.median(searches) / baseline,
                    "<= 3",
                )
            )
            p95 = percentile(searches, 0.95)
            if first_p95 is not None:
                report.add(
                    Figure(
                        f"growth of search p95, 10 x to {size:,}",
                        f"{p95:.1f} ms",
                        f"{first_p95:.1f} ms",
                        p95 / first_p95,
                        "< 2",
                    )
                )
            first_p95 = p95
