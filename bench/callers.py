"""Many callers at once, each asking one search after another, beside one caller alone."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx

from bench.corpus import queries
from bench.measure import Figure, Report, percentile, spread
from tests.support.stack import KEY, Stack

CALLERS = (1, 30, 50)
SEARCHES = 150


@asynccontextmanager
async def client_of(stack: Stack, connections: int = 1) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the stack's namespace with so many connections."""
    async with httpx.AsyncClient(
        base_url=f"{stack.url}{stack.base}",
        headers={"Authorization": f"Bearer {KEY}"},
        timeout=60,
        limits=httpx.Limits(max_connections=connections),
    ) as client:
        yield client


@dataclass
class Crowd:
    """Milliseconds of what was answered, how often it was refused for overload with a time to
    come again, every other status, and the seconds that all took."""

    taken: list[float] = field(default_factory=list)
    refused: int = 0
    failed: Counter[int] = field(default_factory=Counter)
    seconds: float = 0.0


async def ask(stack: Stack, callers: int, searches: int, seed: int) -> Crowd:
    """`searches` distinct queries, by `callers` at once."""
    crowd, waiting = Crowd(), iter(queries(searches, seed=seed))

    async def caller(client: httpx.AsyncClient) -> None:
        for query in waiting:
            started = time.perf_counter()
            answer = await client.post("/search", json={"query": query})
            spent = 1000 * (time.perf_counter() - started)
            if answer.status_code == 200:
                crowd.taken.append(spent)
            elif answer.status_code == 503 and "retry-after" in answer.headers:
                crowd.refused += 1
            else:
                crowd.failed[answer.status_code] += 1

    async with client_of(stack, callers) as client:
        started = time.perf_counter()
        await asyncio.gather(*(caller(client) for _ in range(callers)))
        crowd.seconds = time.perf_counter() - started
    return crowd


def run(report: Report, stack: Stack, size: int) -> None:
    """Every number of callers over what the stack holds, `size` chunks."""
    alone = None
    for callers in CALLERS:
        crowd = asyncio.run(ask(stack, callers, SEARCHES, seed=100 + callers))
        p95 = percentile(crowd.taken, 0.95)
        faults = "".join(f", {count} x {status}" for status, count in crowd.failed.items())
        report.add(
            Figure(
                f"{callers} callers at once, {size:,} chunks (p50 / p95)",
                spread(crowd.taken),
                f"{len(crowd.taken) / crowd.seconds:.0f}/s, {crowd.refused} refused{faults}",
                None if alone is None else p95 / alone,
                "" if alone is None else "< 3",
            )
        )
        alone = alone or p95
