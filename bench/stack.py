"""On the real servers: search at the API beside the same requests of opensearch-py alone and an
empty request over the same path, and what a batch of small documents takes, stage by stage.

`python -m bench stack` needs what `make stack` needs. The corpus is that of `bench search`; its
catalog is Postgres, its index OpenSearch, with one node and one shard.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import httpx
import psycopg
from opensearchpy import AsyncOpenSearch

from bench import stack_ingest
from bench.callers import client_of
from bench.corpus import fill, queries
from bench.measure import Figure, Report, percentile, spread
from bench.pipeline import cpu_by_service
from libs.contracts.api.search import RetrieveQuery
from libs.runtime.index.opensearch_client import address_of
from libs.runtime.settings import Settings
from libs.runtime.stores import Stores
from services.retriever.retrieve import Retriever
from services.retriever.settings import Settings as RetrieverSettings
from services.retriever.words import words_of
from tests.support.servers import own_places, servers_in_a_folder
from tests.support.stack import NAMESPACE, Stack, running_stack

SIZES = (10_000, 100_000)
QUERIES = 100
WARM_UP = 15
SEARCHED = ("postgres", "opensearch")

Request = tuple[str, str, dict[str, str], bytes | str]


@dataclass
class Sides:
    """Milliseconds of a search at the API, of its requests to OpenSearch sent alone by
    opensearch-py, of a search that finds no document to look in, and how many requests a search
    sent."""

    api: list[float] = field(default_factory=list)
    raw: list[float] = field(default_factory=list)
    empty: list[float] = field(default_factory=list)
    requests: list[int] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """Of the API to the other two together, by medians."""
        return median(self.api) / (median(self.raw) + median(self.empty))


class Recorder:
    """The retriever in this process; tells which requests a query sends to OpenSearch."""

    def __init__(self, stores: Stores, settings: RetrieverSettings) -> None:
        self._retriever = Retriever(
            stores.catalog, stores.index, stores.embedder, settings, words_of
        )
        index: Any = stores.index
        self._transport = index._client.transport
        self._seen: list[Request] = []
        self._send = self._transport.perform_request
        self._transport.perform_request = self._recorded

    async def requests(self, query: str) -> list[Request]:
        """The searches that the query needs."""
        self._seen = []
        await self._retriever.retrieve(RetrieveQuery(namespace=NAMESPACE, query=query, top_k=10))
        return [request for request in self._seen if request[1].endswith("/_search")]

    async def _recorded(self, method: str, url: str, **given: Any) -> Any:
        self._seen.append((method, url, dict(given.get("params") or {}), given.get("body") or b""))
        return await self._send(method, url, **given)


@asynccontextmanager
async def recorder(stack: Stack, places: dict[str, str]) -> AsyncIterator[Recorder]:
    """A recorder over the stores of a stack."""
    given = {k.removeprefix("GROUNDWIRE_").lower(): v for k, v in places.items()}
    common = {"data_dir": stack.data, "embedder": "seeded", **given}
    stores = Stores(Settings.model_validate(common))
    try:
        yield Recorder(stores, RetrieverSettings.model_validate(common))
    finally:
        await stores.close()


async def side_by_side(stack: Stack, places: dict[str, str]) -> Sides:
    """Both sides, query by query, each going first every second time. The raw side sends the
    requests of a query at the same time and reads the answers, as opensearch-py gives them."""
    sides = Sides()
    address = address_of(places["GROUNDWIRE_INDEX_URL"])
    raw = AsyncOpenSearch(
        hosts=[{"host": address.host, "port": address.port}], pool_maxsize=32, maxsize=32
    )
    async with client_of(stack) as client, recorder(stack, places) as seen:
        for number, query in enumerate(queries(QUERIES + WARM_UP, seed=29)):
            requests = await seen.requests(query)
            taken = Sides() if number < WARM_UP else sides
            order = (_api, _raw) if number % 2 else (_raw, _api)
            for side in order:
                await side(taken, client, raw, query, requests)
            taken.requests.append(len(requests))
    await raw.close()
    return sides


async def _api(
    taken: Sides, client: httpx.AsyncClient, _raw: Any, query: str, _requests: list[Request]
) -> None:
    nothing = {"filters": {"document_ids": ["absent"]}}
    for spent, filters in ((taken.api, {}), (taken.empty, nothing)):
        started = time.perf_counter()
        answer = await client.post("/search", json={"query": query, **filters})
        spent.append(1000 * (time.perf_counter() - started))
        assert answer.status_code == 200, answer.text
        assert not answer.json()["cached"]


async def _raw(
    taken: Sides, _client: Any, raw: AsyncOpenSearch, _query: str, requests: list[Request]
) -> None:
    started = time.perf_counter()
    await asyncio.gather(
        *(
            raw.transport.perform_request(method, url, params=dict(params), body=body)
            for method, url, params, body in requests
        )
    )
    taken.raw.append(1000 * (time.perf_counter() - started))


def search(report: Report, stack: Stack, places: dict[str, str], size: int) -> float:
    """Measure at one size; the p95 at the API in milliseconds."""
    before = cpu_by_service(stack)
    sides = asyncio.run(side_by_side(stack, places))
    after = cpu_by_service(stack)
    p95 = percentile(sides.api, 0.95)
    each = sum(sides.requests) / len(sides.requests)
    report.add(
        Figure(
            f"API beside opensearch-py, {size:,} chunks (p50 / p95)",
            spread(sides.api),
            f"{spread(sides.raw)} + {median(sides.empty):.1f} ms",
            sides.ratio,
            "<= 1.5",
        )
    )
    told = " ".join(
        f"{name} {1000 * (after[name] - before[name]) / (QUERIES + WARM_UP):.0f}"
        for name in sorted(after)
        if 1000 * (after[name] - before[name]) / (QUERIES + WARM_UP) >= 0.5
    )
    report.add(Figure(f"CPU ms of a search and an empty one, {each:.1f} requests", told))
    return p95


async def _bytes(places: dict[str, str]) -> dict[str, int]:
    """Of each index, with its deleted documents, and of the catalog's database."""
    address = address_of(places["GROUNDWIRE_INDEX_URL"])
    async with AsyncOpenSearch(hosts=[{"host": address.host, "port": address.port}]) as client:
        stats = await client.indices.stats(index=f"{address.prefix}-*", metric="store")
    found = {
        "vectors" if "-vectors-" in name else "chunks": one["primaries"]["store"]["size_in_bytes"]
        for name, one in stats["indices"].items()
    }
    with psycopg.connect(places["GROUNDWIRE_CATALOG_URL"]) as connection:
        row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
        found["catalog"] = row[0] if row else 0
    return found


def room(report: Report, places: dict[str, str], size: int) -> None:
    """What a chunk of 60 words takes in each store."""
    taken = asyncio.run(_bytes(places))
    told = ", ".join(f"{name} {count / size / 1024:.1f}" for name, count in sorted(taken.items()))
    report.add(Figure(f"KiB a chunk of 60 words, {size:,} chunks", told))


def run(report: Report, sizes: tuple[int, ...] = SIZES) -> None:
    """Grow one corpus and search at every size; then the batch on all four servers."""
    with servers_in_a_folder() as servers, own_places(servers, SEARCHED) as places:
        with running_stack(GROUNDWIRE_EMBEDDER="seeded", **places) as stack:
            have, before = 0, None
            for size in sizes:
                stack.stop()
                started = time.perf_counter()
                asyncio.run(fill(stack.data, have, size, places))
                seconds = time.perf_counter() - started
                stack.start()
                report.add(Figure(f"OpenSearch filled to {size:,} chunks", f"{seconds:.0f} s"))
                p95, have = search(report, stack, places, size), size
                room(report, places, size)
                if before is not None:
                    report.add(
                        Figure(
                            f"growth of p95 on OpenSearch, 10 x to {size:,}",
                            f"{p95:.1f} ms",
                            f"{before:.1f} ms",
                            p95 / before,
                            "< 2",
                        )
                    )
                before = p95
        stack_ingest.run(report, servers)
