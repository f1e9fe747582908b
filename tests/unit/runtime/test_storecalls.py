"""Every call of every adapter: bounded, tried again, seen as a span and counted."""

import asyncio
import dataclasses
import enum
import inspect
import types
import typing
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client import REGISTRY
from pydantic import BaseModel

from libs.contracts.artefacts.corpus import DocumentHits
from libs.contracts.artefacts.nav import NavSection
from libs.contracts.faults import Code, WorldFault
from libs.runtime import storecalls
from libs.runtime.catalog import audit, chunks, corpus, documents, jobs, keys, runs
from libs.runtime.catalog.sql import database, postgres
from libs.runtime.catalog.sql.catalog import open_catalog
from libs.runtime.graph import neo4j_client
from libs.runtime.graph.neo4j_graph import Neo4jGraph
from libs.runtime.graph.port import GraphEdge, GraphStore
from libs.runtime.index import opensearch_client, opensearch_refresh, opensearch_writer
from libs.runtime.index.opensearch_index import OpenSearchIndex
from libs.runtime.index.port import SearchIndex
from libs.runtime.objects import s3, s3_client
from libs.runtime.objects.port import ObjectStore
from libs.runtime.objects.s3 import S3ObjectStore
from libs.runtime.objects.s3_place import S3Keys, S3Place
from libs.runtime.storecalls import outcome_of, watched

CATALOG = {
    "keys": keys.KeyStore,
    "documents": documents.DocumentStore,
    "jobs": jobs.JobStore,
    "chunks": chunks.ChunkStore,
    "runs": runs.RunStore,
    "corpus": corpus.CorpusStore,
    "audit": audit.AuditStore,
}
FITTING: dict[str, Any] = {
    "prefix": "some/",
    "chunks": [],
    "hits": [DocumentHits(document_id="a", chunks={"t0": 1})],
    "root": NavSection(section_id="s", title="", level=0, order=0, path=[]),
}
"""Values that must fit others of the same call."""

MOST_TRIES = 6
"""Of one request; a call may make a few."""


@dataclasses.dataclass
class Adapter:
    """A store as services have it, with the port whose methods are walked."""

    system: str
    port: type
    store: Any


@contextmanager
def s3_at(port: int) -> Iterator[list[Adapter]]:
    store = S3ObjectStore(
        S3Place.of(f"s3://bucket?endpoint=http://127.0.0.1:{port}"), S3Keys("key", "secret")
    )
    yield [Adapter("objects", ObjectStore, store)]


@contextmanager
def opensearch_at(port: int) -> Iterator[list[Adapter]]:
    store = OpenSearchIndex(f"opensearch://127.0.0.1:{port}/docs?tls=false")
    yield [Adapter("index", SearchIndex, store)]


@contextmanager
def neo4j_at(port: int) -> Iterator[list[Adapter]]:
    store = Neo4jGraph(f"neo4j://neo4j@127.0.0.1:{port}/neo4j?tls=false", "secret")
    yield [Adapter("graph", GraphStore, store)]


@contextmanager
def postgres_at(port: int) -> Iterator[list[Adapter]]:
    catalog = open_catalog(f"postgresql://user@127.0.0.1:{port}/base", "secret")
    yield [Adapter(f"catalog.{part}", CATALOG[part], getattr(catalog, part)) for part in CATALOG]


SERVERS = [s3_at, opensearch_at, neo4j_at, postgres_at]
Open = Callable[[int], AbstractAsyncContextManager[list[Adapter]]]


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(storecalls, "tracer", lambda: provider.get_tracer("test"))
    return exporter


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits of the adapters, as short as a test wants them."""
    for module, names in {
        s3_client: ("CONNECT_SECONDS", "READ_SECONDS"),
        opensearch_client: ("SEARCH_SECONDS",),
        opensearch_refresh: ("WRITE_SECONDS",),
        opensearch_writer: ("WRITE_SECONDS", "PURGE_SECONDS"),
        neo4j_client: ("CONNECT_SECONDS", "RETRY_SECONDS"),
        s3: ("CALL_SECONDS",),
        database: ("CALL_SECONDS",),
    }.items():
        for name in names:
            monkeypatch.setattr(module, name, 0.3)
    monkeypatch.setattr(s3, "CALL_SECONDS", 3.0)
    monkeypatch.setattr(database, "CALL_SECONDS", 3.0)
    monkeypatch.setattr(neo4j_client, "GIVE_UP_SECONDS", 3.0)
    monkeypatch.setattr(neo4j_client, "FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(postgres, "CONNECT_SECONDS", 2)
    monkeypatch.setattr(postgres, "RECONNECT_PAUSES", (0.01, 0.01))


@asynccontextmanager
async def server(*, hangs_up: bool) -> AsyncIterator[tuple[int, list[int]]]:
    """Takes connections and either closes them at once or says nothing; counts them."""
    taken: list[int] = []
    open_: list[asyncio.StreamWriter] = []

    def on_connection(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        taken.append(1)
        if hangs_up:
            writer.close()
        else:
            open_.append(writer)

    listening = await asyncio.start_server(on_connection, "127.0.0.1", 0)
    try:
        yield listening.sockets[0].getsockname()[1], taken
    finally:
        for writer in open_:
            writer.transport.abort()
        listening.close()


def sample(kind: Any, name: str) -> Any:
    """A value of a type that a port's methods take."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if name in FITTING:
        return FITTING[name]
    if origin in (typing.Union, types.UnionType):
        return sample(next(p for p in parts if p is not type(None)), name)
    if origin is typing.Literal:
        return parts[0]
    if origin is tuple:
        return tuple(sample(p, name) for p in parts if p is not Ellipsis)
    if parts and parts[0] is GraphEdge:
        return []  # an edge must fit the node that it is given with
    if origin in (list, set, frozenset):
        return origin([sample(parts[0], name)])
    if origin is dict:
        return {sample(parts[0], name): sample(parts[1], name)}
    if origin is np.ndarray:
        return np.ones((1, 4) if name == "vectors" else 4, np.float32)
    if origin is not None and issubclass(origin, Iterable):
        return [sample(parts[0], name)]
    if origin is not None and issubclass(origin, Callable):
        return lambda *_: None
    if kind is datetime:
        return datetime.now(UTC)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return next(iter(kind))
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        return kind(**{f.name: sample(hints[f.name], f.name) for f in dataclasses.fields(kind)})
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return kind.model_construct()
    return {str: "a", int: 1, float: 1.0, bool: True, bytes: b"a"}.get(kind, "a")


def calls(adapter: Adapter) -> dict[str, Callable[[], Any]]:
    """A call of each method of the port, by name, through what services go through."""
    store = watched(adapter.store, adapter.system)
    found = {}
    for name, method in inspect.getmembers(adapter.port, inspect.isfunction):
        if name.startswith("_") or name == "close":
            continue
        hints = typing.get_type_hints(method)
        wanted = [p for p in inspect.signature(method).parameters.values() if p.name != "self"]
        given = {
            p.name: sample(hints[p.name], p.name) for p in wanted if p.default is inspect._empty
        }
        found[name] = lambda name=name, given=given: ended(getattr(store, name)(**given))
    return found


async def ended(called: Any) -> str:
    """How a call of any shape ended: the outcome as it is counted."""
    try:
        if hasattr(called, "__aiter__"):
            async for _ in called:
                pass
        elif hasattr(called, "__aenter__"):
            async with called:
                pass
        else:
            await called
    except Exception as error:
        if isinstance(error, WorldFault):
            assert error.code is Code.STORE_AWAY
            return "away"
        return f"{outcome_of(error)}: {error!r}"
    return "ok"


def counted(system: str, operation: str, outcome: str) -> float:
    labels = {"store": system, "operation": operation, "outcome": outcome}
    return REGISTRY.get_sample_value("groundwire_store_seconds_count", labels) or 0.0


@pytest.mark.parametrize("hangs_up", [True, False], ids=["hangs up", "says nothing"])
@pytest.mark.parametrize("adapters_at", SERVERS, ids=lambda f: f.__name__.removesuffix("_at"))
async def test_every_call_ends_is_tried_again_and_is_seen(
    adapters_at: Open, hangs_up: bool, spans: InMemorySpanExporter
) -> None:
    async with server(hangs_up=hangs_up) as (port, taken):
        with adapters_at(port) as adapters:
            walked = {(a.system, name): call for a in adapters for name, call in calls(a).items()}
            before = {key: counted(*key, "away") for key in walked}
            outcomes = await asyncio.gather(*(call() for call in walked.values()))
            for adapter in adapters:
                await adapter.store.close() if hasattr(adapter.store, "close") else None
    assert dict(zip(walked, outcomes, strict=True)) == dict.fromkeys(walked, "away")
    assert {key: counted(*key, "away") - before[key] for key in walked} == dict.fromkeys(walked, 1)
    seen = spans.get_finished_spans()
    assert sorted(s.name for s in seen) == sorted(f"{a}.{b}" for a, b in walked)
    assert {s.attributes["error.type"] for s in seen} == {"WorldFault"}
    assert {s.status.status_code for s in seen} == {trace.StatusCode.ERROR}
    if hangs_up:
        assert 2 * len(walked) <= len(taken) <= MOST_TRIES * 2 * len(walked)


class Shapes:
    """A method of every shape that ports have."""

    async def call(self, error: BaseException | None = None) -> str:
        if error is not None:
            raise error
        return "called"

    async def stream(self, count: int) -> AsyncIterator[int]:
        for number in range(count):
            if number == 3:
                raise WorldFault(Code.STORE_AWAY, "gone")
            yield number

    @asynccontextmanager
    async def local(self) -> AsyncIterator[str]:
        yield "entered"


async def test_results_and_errors_pass_unchanged(spans: InMemorySpanExporter) -> None:
    store = watched(Shapes(), "shapes")
    assert await store.call() == "called"
    assert [n async for n in store.stream(3)] == [0, 1, 2]
    async with store.local() as entered:
        assert entered == "entered"
    with pytest.raises(KeyError):
        await store.call(KeyError("key"))
    with pytest.raises(ZeroDivisionError):
        async with store.local():
            raise ZeroDivisionError
    with pytest.raises(WorldFault):
        _ = [n async for n in store.stream(5)]
    assert Counter(s.name for s in spans.get_finished_spans()) == {
        f"shapes.{name}": 2 for name in ("call", "stream", "local")
    }
    assert counted("shapes", "call", "ok") == counted("shapes", "call", "absent") == 1
    assert counted("shapes", "stream", "away") == 1
    assert counted("shapes", "local", "ok") == 2


async def test_a_stream_that_is_left_early_is_closed_and_counted(
    spans: InMemorySpanExporter,
) -> None:
    stream = watched(Shapes(), "left").stream(3)
    assert await anext(stream) == 0
    await stream.aclose()
    assert len(spans.get_finished_spans()) == 1
    assert counted("left", "stream", "ok") == 1


async def test_a_call_that_is_given_up_is_counted_as_cancelled() -> None:
    class Slow:
        async def call(self) -> None:
            await asyncio.Event().wait()

    task = asyncio.create_task(watched(Slow(), "slow").call())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert counted("slow", "call", "cancelled") == 1


async def test_spans_of_a_database_say_which_and_where(spans: InMemorySpanExporter) -> None:
    store = watched(Shapes(), "index", "opensearch://me@search.internal:9200/corpus?shards=6")
    await store.call()
    await watched(Shapes(), "objects", "file:///somewhere").call()
    of_database, of_file = (dict(span.attributes or {}) for span in spans.get_finished_spans())
    assert of_database == {
        "groundwire.store": "index",
        "groundwire.operation": "call",
        "db.operation.name": "call",
        "db.system.name": "opensearch",
        "server.address": "search.internal",
        "server.port": 9200,
    }
    assert not [name for name in of_file if name.startswith(("db.", "server."))]
