"""Search at the API over 1k, 10k and 100k chunks, beside the same search in one process."""

import asyncio
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from bench.corpus import fill, queries
from bench.measure import Figure, Report, percentile, spread
from libs.contracts.api.search import RetrieveQuery
from libs.runtime.index.port import LexicalQuery
from libs.runtime.index.tokenizer import query_terms, tokenize
from libs.runtime.settings import Settings
from libs.runtime.stores import Stores
from services.retriever.retrieve import Retriever
from services.retriever.settings import Settings as RetrieverSettings
from tests.support.stack import KEY, NAMESPACE, Stack, running_stack

SIZES = (1_000, 10_000, 100_000)
QUERIES = 60
WARM_UP = 10


async def at_api(stack: Stack) -> tuple[list[float], list[float]]:
    """Milliseconds of searches, and of empty requests over the same path."""
    headers = {"Authorization": f"Bearer {KEY}"}
    searches, empty = [], []
    async with httpx.AsyncClient(base_url=stack.url, headers=headers, timeout=30) as client:
        for number, query in enumerate(queries(QUERIES + WARM_UP)):
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


@asynccontextmanager
async def retriever_over(data: Path) -> AsyncIterator[Retriever]:
    """The retriever in this process, over the stores in a data folder."""
    stores = Stores(Settings(data_dir=data, embedder="seeded", _env_file=None))
    try:
        yield Retriever(
            stores.catalog,
            stores.index,
            stores.embedder,
            RetrieverSettings(data_dir=data, embedder="seeded", _env_file=None),
            lambda text: LexicalQuery(tokenize(text), query_terms(text)),
        )
    finally:
        await stores.close()


async def in_process(data: Path) -> list[float]:
    """Milliseconds of the same searches called in this process over the same stores."""
    taken = []
    async with retriever_over(data) as retriever:
        for number, query in enumerate(queries(QUERIES + WARM_UP)):
            started = time.perf_counter()
            await retriever.retrieve(RetrieveQuery(namespace=NAMESPACE, query=query, top_k=10))
            if number >= WARM_UP:
                taken.append(1000 * (time.perf_counter() - started))
    return taken


def run(report: Report, sizes: tuple[int, ...] = SIZES) -> None:
    """Grow one corpus and measure at every size; the services rest while it grows."""
    with running_stack(GROUNDWIRE_EMBEDDER="seeded") as stack:
        have, first_p95 = 0, None
        for size in sizes:
            stack.stop()
            started = time.perf_counter()
            asyncio.run(fill(stack.data, have, size))
            taken, have = time.perf_counter() - started, size
            report.add(Figure(f"filled to {size:,} chunks", f"{taken:.0f} s"))
            stack.start()
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
