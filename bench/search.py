"""Search at the API over 1k, 10k and 100k chunks, beside the same search in one process.

Both sides are asked in turns, each going first every second time, so that whatever else the
machine does meets both alike.
"""

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from bench import callers
from bench.callers import client_of
from bench.corpus import fill, queries
from bench.measure import Figure, Report, percentile, spread
from bench.start import cpu
from libs.contracts.api.search import RetrieveQuery
from libs.runtime.settings import Settings
from libs.runtime.stores import Stores
from services.retriever.retrieve import Retriever
from services.retriever.settings import Settings as RetrieverSettings
from services.retriever.words import words_of
from tests.support.stack import NAMESPACE, Stack, running_stack

SIZES = (1_000, 10_000, 100_000)
QUERIES = 60
WARM_UP = 10
QUESTIONS = 30
"""Agentic queries, each of them a question, so that all hops are planned."""
AGENTIC_AT = 10_000


@dataclass
class Sides:
    """Milliseconds of searches at the API, of empty requests over the same path, and of the
    same searches in this process."""

    searches: list[float] = field(default_factory=list)
    empty: list[float] = field(default_factory=list)
    direct: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """Of the API to the other two together, by medians."""
        return statistics.median(self.searches) / (
            statistics.median(self.direct) + statistics.median(self.empty)
        )


@asynccontextmanager
async def retriever_over(data: Path) -> AsyncIterator[Retriever]:
    """The retriever in this process, over the stores in a data folder."""
    stores = Stores(Settings(data_dir=data, embedder="seeded", _env_file=None))
    settings = RetrieverSettings(data_dir=data, embedder="seeded", _env_file=None)
    try:
        yield Retriever(stores.catalog, stores.index, stores.embedder, settings, words_of)
    finally:
        await stores.close()


async def side_by_side(stack: Stack) -> Sides:
    """Search, empty request and search in this process, query by query."""
    sides = Sides()
    async with client_of(stack) as client, retriever_over(stack.data) as retriever:
        for number, query in enumerate(queries(QUERIES + WARM_UP)):
            taken = Sides() if number < WARM_UP else sides

            async def at_api(query: str = query, taken: Sides = taken) -> None:
                taken.searches.append(await _timed(_found(client, {"query": query})))
                nothing = {"query": query, "filters": {"document_ids": ["absent"]}}
                taken.empty.append(await _timed(_found(client, nothing)))

            async def here(query: str = query, taken: Sides = taken) -> None:
                asked = RetrieveQuery(namespace=NAMESPACE, query=query, top_k=10)
                taken.direct.append(await _timed(retriever.retrieve(asked)))

            for side in (at_api, here) if number % 2 else (here, at_api):
                await side()
    return sides


async def agentic(stack: Stack) -> list[float]:
    """Milliseconds of agentic questions, each with its hops."""
    taken = []
    async with client_of(stack) as client:
        for number, query in enumerate(queries(QUESTIONS + WARM_UP, seed=17)):
            asked = {"query": f"Which {query.title()} was it?", "mode": "agentic"}
            spent = await _timed(_found(client, asked))
            if number >= WARM_UP:
                taken.append(spent)
    return taken


async def _found(client: httpx.AsyncClient, body: dict[str, Any]) -> None:
    answer = await client.post("/search", json=body)
    assert answer.status_code == 200, answer.text
    assert not answer.json()["cached"]


async def _timed(work: Awaitable[object]) -> float:
    started = time.perf_counter()
    await work
    return 1000 * (time.perf_counter() - started)


def run(report: Report, sizes: tuple[int, ...] = SIZES) -> None:
    """Grow one corpus and measure at every size; the services rest while it grows."""
    with running_stack(GROUNDWIRE_EMBEDDER="seeded") as stack:
        have, before = 0, None
        for size in sizes:
            stack.stop()
            started = time.perf_counter()
            asyncio.run(fill(stack.data, have, size))
            taken, have = time.perf_counter() - started, size
            report.add(Figure(f"filled to {size:,} chunks", f"{taken:.0f} s"))
            stack.start()
            sides = _measured(report, stack, size)
            p95 = percentile(sides.searches, 0.95)
            if before is not None:
                report.add(
                    Figure(
                        f"growth of search p95, 10 x to {size:,}",
                        f"{p95:.1f} ms",
                        f"{before:.1f} ms",
                        p95 / before,
                        "< 2",
                    )
                )
            before = p95
            if size == AGENTIC_AT:
                spent = spread(asyncio.run(agentic(stack)))
                report.add(Figure(f"agentic at the API, {size:,} chunks (p50 / p95)", spent))
        callers.run(report, stack, have)


def _measured(report: Report, stack: Stack, size: int) -> Sides:
    before = cpu_by_service(stack)
    sides = asyncio.run(side_by_side(stack))
    after = cpu_by_service(stack)
    report.add(
        Figure(
            f"search at the API, {size:,} chunks (p50 / p95)",
            spread(sides.searches),
            f"{spread(sides.direct)} + {statistics.median(sides.empty):.1f} ms",
            sides.ratio,
            "<= 3",
        )
    )
    asked = QUERIES + WARM_UP
    spent = {name: 1000 * (after[name] - before[name]) / asked for name in sorted(after)}
    told = " ".join(f"{name} {each:.0f}" for name, each in spent.items() if each >= 0.5)
    report.add(Figure("CPU ms of a search and an empty one", told))
    return sides


def cpu_by_service(stack: Stack) -> dict[str, float]:
    """CPU seconds of each service since it started."""
    return {name: cpu(pid) for name, (pid, _) in stack.services().items()}
