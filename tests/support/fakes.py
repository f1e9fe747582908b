"""In-memory stores and bus behind the ports, for tests of what services do with them.

`Crashing` makes any call on them the last one of a process.
"""

import dataclasses
import hashlib
import inspect
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from libs.contracts.events import JobEvent
from libs.runtime.graph.port import Around, GraphEdge, GraphNode, Neighbour, NodeEdges, graph_digest
from libs.runtime.index.port import Digest, IndexDocument, Vectors
from libs.runtime.objects.port import ObjectInfo
from libs.runtime.routes import message_id
from tests.support.fake_catalog import Chunks, Corpus, Documents, Runs, digest_of


class Objects:
    """Objects in a dict."""

    def __init__(self) -> None:
        self.data: dict[str, bytes] = {}

    def _info(self, key: str) -> ObjectInfo:
        body = self.data[key]
        return ObjectInfo(key, len(body), hashlib.sha256(body).hexdigest())

    async def put(self, key: str, data: bytes | AsyncIterator[bytes], **_: Any) -> ObjectInfo:
        if not isinstance(data, bytes):
            data = b"".join([piece async for piece in data])
        self.data[key] = data
        return self._info(key)

    async def get(self, key: str) -> bytes:
        return self.data[key]

    async def stream(
        self, key: str, start: int = 0, end: int | None = None
    ) -> AsyncIterator[bytes]:
        yield self.data[key][start:end]

    async def stat(self, key: str) -> ObjectInfo | None:
        return self._info(key) if key in self.data else None

    async def walk(self, prefix: str) -> AsyncIterator[ObjectInfo]:
        for key in sorted(k for k in self.data if k.startswith(prefix)):
            yield self._info(key)

    async def copy(self, source: str, target: str) -> ObjectInfo:
        self.data[target] = self.data[source]
        return self._info(target)

    async def delete(self, keys: Iterable[str]) -> None:
        for key in list(keys):
            self.data.pop(key, None)

    async def delete_prefix(self, prefix: str, *, keep: str | None = None) -> int:
        below = [k for k in self.data if k.startswith(prefix)]
        going = [k for k in below if f"/{keep}/" not in k[len(prefix) - 1 :]]
        await self.delete(going)
        return len(going)


class Index:
    """Documents and vectors by (namespace, revn)."""

    def __init__(self) -> None:
        self.documents: dict[tuple[str, int], list[IndexDocument]] = {}
        self.vectors: dict[tuple[str, int, str], dict[str, bytes]] = {}
        self.writes = 0
        self.purges = 0

    async def write(
        self, namespace: str, revn: int, documents: list[IndexDocument], *, unseen: bool = False
    ) -> Digest:
        self.writes += 1
        self.documents[namespace, revn] = documents
        return await self.digest(namespace, revn)

    async def append(self, namespace: str, revn: int, documents: list[IndexDocument]) -> None:
        self.writes += 1
        self.documents[namespace, revn] = [*self.documents[namespace, revn], *documents]

    async def digest(self, namespace: str, revn: int) -> Digest:
        held = self.documents.get((namespace, revn), [])
        return digest_of([d.chunk_id for d in held])

    async def write_vectors(
        self, namespace: str, revn: int, model: str, chunk_ids: list[str], vectors: Vectors
    ) -> None:
        rows = [vector.tobytes() for vector in vectors]
        self.vectors[namespace, revn, model] = dict(zip(chunk_ids, rows, strict=True))

    async def vector_digest(self, namespace: str, revn: int, model: str) -> Digest:
        return digest_of(list(self.vectors.get((namespace, revn, model), {})))

    async def remove(self, namespace: str, revns: list[int]) -> int:
        gone = sum(len(self.documents.pop((namespace, revn), [])) for revn in revns)
        for key in [k for k in self.vectors if k[0] == namespace and k[1] in revns]:
            del self.vectors[key]
        return gone

    async def purge(self) -> None:
        self.purges += 1


class Graph:
    """Nodes and edges of one namespace after another."""

    def __init__(self) -> None:
        self.nodes: dict[tuple[str, int], GraphNode] = {}
        self.edges: dict[tuple[str, str], GraphEdge] = {}

    async def write(self, namespace: str, node: GraphNode, edges: list[GraphEdge]) -> None:
        await self.write_all(namespace, [(node, edges)])

    async def write_all(
        self, namespace: str, nodes: Sequence[tuple[GraphNode, list[GraphEdge]]]
    ) -> None:
        for node, _ in nodes:
            self._cut(namespace, [node.revn])
            self.nodes[namespace, node.revn] = node
        for edge in (edge for _, edges in nodes for edge in edges):
            if {(namespace, edge.revn_a), (namespace, edge.revn_b)} <= self.nodes.keys():
                self.edges[namespace, edge.edge_id] = edge

    def _cut(self, namespace: str, revns: list[int]) -> None:
        for key, edge in list(self.edges.items()):
            if key[0] == namespace and {edge.revn_a, edge.revn_b} & set(revns):
                del self.edges[key]

    async def candidates(
        self, namespace: str, keywords: frozenset[str], minimum_shared: int, limit: int
    ) -> list[GraphNode]:
        near = [node for (ns, _), node in self.nodes.items() if ns == namespace]
        near = [node for node in near if len(node.keywords & keywords) >= minimum_shared]
        near.sort(key=lambda node: (-len(node.keywords & keywords), node.revn))
        return near[:limit]

    async def neighbours(self, namespace: str, revn: int, limit: int) -> list[Neighbour]:
        found = []
        for (ns, _), edge in self.edges.items():
            if ns == namespace and revn in (edge.revn_a, edge.revn_b):
                other = self.nodes[ns, edge.revn_b if revn == edge.revn_a else edge.revn_a]
                found.append(Neighbour(other.revn, other.document_id, edge.score, edge.shared))
        return sorted(found, key=lambda n: (-n.score, n.revn))[:limit]

    async def loads(self, namespace: str, revns: list[int]) -> dict[int, tuple[int, float]]:
        around = {revn: await self.neighbours(namespace, revn, len(self.edges)) for revn in revns}
        return {revn: (len(found), found[-1].score) for revn, found in around.items() if found}

    async def digest(self, namespace: str, revn: int) -> tuple[int, str]:
        if (namespace, revn) not in self.nodes:
            return 0, ""
        ends = {(ns, i): (e.revn_a, e.revn_b) for (ns, i), e in self.edges.items()}
        return graph_digest(
            revn, [i for (ns, i), e in ends.items() if ns == namespace and revn in e]
        )

    async def around(
        self, namespace: str, nodes: Sequence[GraphNode], minimum_shared: int, limit: int
    ) -> list[Around]:
        return [await self._around(namespace, node, minimum_shared, limit) for node in nodes]

    async def _around(
        self, namespace: str, node: GraphNode, minimum_shared: int, limit: int
    ) -> Around:
        few = len(node.keywords) < minimum_shared
        near = await self.candidates(namespace, node.keywords, minimum_shared, limit)
        joined = await self.neighbours(namespace, node.revn, limit)
        return Around([] if few else near, joined, await self.digest(namespace, node.revn))

    async def page(self, namespace: str, after: int, limit: int) -> list[NodeEdges]:
        revns = sorted(revn for ns, revn in self.nodes if ns == namespace and revn > after)
        ends = {(e.revn_a, e.revn_b): e for (ns, _), e in self.edges.items() if ns == namespace}
        return [
            NodeEdges(
                self.nodes[namespace, revn],
                tuple(
                    GraphEdge(min(pair), max(pair), edge.score, edge.shared)
                    for pair, edge in sorted(ends.items(), key=lambda item: max(item[0]))
                    if min(pair) == revn
                ),
            )
            for revn in revns[:limit]
        ]

    async def remove(self, namespace: str, revns: list[int]) -> int:
        self._cut(namespace, revns)
        return sum(self.nodes.pop((namespace, revn), None) is not None for revn in revns)


class Embedder:
    """Unit vectors of four numbers that follow from the text."""

    model = "fake-v1"
    dimension = 4

    def __init__(self) -> None:
        self.embedded: list[str] = []

    async def embed_passages(self, texts: list[str]) -> Vectors:
        self.embedded += texts
        raw = [list(hashlib.sha256(text.encode()).digest()[:4]) for text in texts]
        vectors = np.array(raw, np.float32) + 1
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


class Bus:
    """Remembers what was announced, once for each message id."""

    def __init__(self) -> None:
        self.announced: dict[str, JobEvent] = {}

    async def announce(self, event: JobEvent) -> bool:
        self.announced.setdefault(message_id(event), event)
        return True


class World:
    """All stores and the bus of a test."""

    def __init__(self, *, embedder: Embedder | None = None) -> None:
        self.objects, self.index, self.graph = Objects(), Index(), Graph()
        self.chunks, self.runs, self.bus = Chunks(), Runs(), Bus()
        self.documents = Documents(self.chunks)
        self.embedder = embedder

    def stores(self, crash: "Crash | None" = None) -> Any:
        """The stores as a service sees them; with `crash`, one call of all is the last."""

        def part(store: Any) -> Any:
            return store if crash is None else Crashing(store, crash)

        catalog = SimpleNamespace(
            documents=part(self.documents), chunks=part(self.chunks), runs=part(self.runs),
            corpus=part(Corpus(self.documents, self.runs)),
        )  # fmt: skip
        return SimpleNamespace(
            objects=part(self.objects), index=part(self.index), graph=part(self.graph),
            catalog=catalog, embedder=self.embedder,
        )  # fmt: skip


class Killed(BaseException):
    """The process is gone."""


@dataclasses.dataclass
class Crash:
    """Kills at the `at`-th call (0: never), before it is done or after, and counts the calls,
    each kind by store and method."""

    at: int
    done: bool
    calls: int = 0
    kinds: Counter[str] = dataclasses.field(default_factory=Counter)


class Crashing:
    """A store whose calls count towards a crash."""

    def __init__(self, store: Any, crash: Crash) -> None:
        self._store, self._crash = store, crash

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if not inspect.iscoroutinefunction(method):
            return method

        async def call(*args: Any, **kwargs: Any) -> Any:
            self._crash.calls += 1
            self._crash.kinds[f"{type(self._store).__name__}.{name}".lower()] += 1
            last = self._crash.calls == self._crash.at
            if last and not self._crash.done:
                raise Killed
            answer = await method(*args, **kwargs)
            if last:
                raise Killed
            return answer

        return call
