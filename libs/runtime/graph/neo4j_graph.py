"""The graph on Neo4j."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from libs.contracts.faults import Code, WorldFault
from libs.runtime.graph import neo4j_statements as cypher
from libs.runtime.graph.neo4j_client import CALL_SECONDS, address_of, connect, faults
from libs.runtime.graph.port import (
    Around,
    GraphEdge,
    GraphNode,
    Neighbour,
    NodeEdges,
    check_edges,
    check_keywords,
    graph_digest,
    page_size,
)

if TYPE_CHECKING:
    from neo4j import AsyncManagedTransaction

MAX_ROWS = 10_000
BATCH = 500
_SWEPT_MEANWHILE = "Neo.ClientError.Statement.EntityNotFound"
_TRIES = 5

R = TypeVar("R")
_Row = dict[str, Any]
Work = Callable[["AsyncManagedTransaction"], Awaitable[R]]


class Neo4jGraph:
    """`GraphStore` on a database of a server or cluster; any number of processes may use it.

    A write is one transaction, which the driver runs again after a deadlock. `prepare` makes
    the constraints; the first write does so too.
    """

    def __init__(self, url: str, password: str | None = None) -> None:
        self._address = address_of(url)
        self._driver = connect(self._address, password)
        self._preparing = asyncio.Lock()
        self._prepared = False

    async def prepare(self) -> None:
        """Make the constraints, which are the indices too; idempotent."""
        async with self._preparing:
            if self._prepared:
                return
            async with (
                faults(self._address),
                self._driver.session(database=self._address.database) as session,
            ):
                for statement in cypher.CONSTRAINTS:
                    await session.execute_write(_run, statement)
            self._prepared = True

    async def write(self, namespace: str, node: GraphNode, edges: list[GraphEdge]) -> None:
        """See the port; more than `MAX_KEYWORDS` keywords raise `ValueError`."""
        await self.write_all(namespace, [(node, edges)])

    async def write_all(
        self, namespace: str, nodes: Sequence[tuple[GraphNode, list[GraphEdge]]]
    ) -> None:
        """See the port."""
        for node, edges in nodes:
            check_keywords(node.keywords)
            check_edges(node, edges)
        if nodes:
            await self._write(_writing(namespace, nodes))

    async def candidates(
        self, namespace: str, keywords: frozenset[str], minimum_shared: int, limit: int
    ) -> list[GraphNode]:
        """See the port."""
        check_keywords(keywords)
        asked = _sharing(namespace, [keywords], minimum_shared, limit)
        (rows,) = await self._read((cypher.CANDIDATES, asked))
        return [_node(row) for row in rows]

    async def neighbours(self, namespace: str, revn: int, limit: int) -> list[Neighbour]:
        """See the port."""
        asked = {"key": _key(namespace, revn), "limit": _bounded(limit)}
        (rows,) = await self._read((cypher.NEIGHBOURS, asked))
        return [_neighbour(row) for row in rows]

    async def loads(self, namespace: str, revns: list[int]) -> dict[int, tuple[int, float]]:
        """See the port."""
        found: dict[int, tuple[int, float]] = {}
        for some in _batches([_key(namespace, revn) for revn in sorted(set(revns))]):
            (rows,) = await self._read((cypher.LOADS, {"keys": some}))
            found |= {row["revn"]: (row["edges"], row["lowest"]) for row in rows}
        return found

    async def digest(self, namespace: str, revn: int) -> tuple[int, str]:
        """See the port."""
        (rows,) = await self._read((cypher.EDGES, {"keys": [_key(namespace, revn)]}))
        return _digest(revn, rows)

    async def around(
        self, namespace: str, nodes: Sequence[GraphNode], minimum_shared: int, limit: int
    ) -> list[Around]:
        """See the port; two statements in one transaction, however many nodes there are."""
        for node in nodes:
            check_keywords(node.keywords)
        few = [len(node.keywords) < minimum_shared for node in nodes]
        wanted = [frozenset() if less else n.keywords for n, less in zip(nodes, few, strict=True)]
        keys = [_key(namespace, node.revn) for node in nodes]
        near, edges = await self._read(
            (cypher.CANDIDATES, _sharing(namespace, wanted, minimum_shared, limit)),
            (cypher.EDGES, {"keys": keys}),
        )
        found = []
        for place, (node, key) in enumerate(zip(nodes, keys, strict=True)):
            own = [row for row in edges if row["key"] == key]
            joined = [_neighbour(row) for row in own if row["revn"] is not None]
            candidates = [_node(row) for row in near if row["place"] == place]
            found.append(Around(candidates, joined[: _bounded(limit)], _digest(node.revn, own)))
        return found

    async def page(self, namespace: str, after: int, limit: int) -> list[NodeEdges]:
        """See the port."""
        asked = {"namespace": namespace, "after": after, "limit": page_size(limit)}
        (rows,) = await self._read((cypher.PAGE, asked))
        return [
            NodeEdges(
                _node(row),
                tuple(
                    GraphEdge(row["revn"], revn, score, tuple(shared))
                    for revn, score, shared in sorted(row["edges"], key=lambda edge: edge[0])
                ),
            )
            for row in rows
        ]

    async def remove(self, namespace: str, revns: list[int]) -> int:
        """See the port; keywords that nothing has any more go too."""
        gone = 0
        for some in _batches([_key(namespace, revn) for revn in sorted(set(revns))]):
            gone += await self._write(_removal(some))
        return gone

    async def close(self) -> None:
        """See the port."""
        await self._driver.close()

    async def _write(self, work: Work[R]) -> R:
        """Run `work` in a transaction; again when a keyword that it found was swept away
        before it could lock it."""
        from neo4j import exceptions, unit_of_work

        await self.prepare()
        timed = unit_of_work(timeout=CALL_SECONDS)(work)
        async with faults(self._address):
            for _ in range(_TRIES):
                try:
                    async with self._driver.session(database=self._address.database) as session:
                        return await session.execute_write(timed)
                except exceptions.ClientError as error:
                    if error.code != _SWEPT_MEANWHILE:
                        raise
        raise WorldFault(Code.STORE_AWAY, f"{self._address} is busy: keywords come and go")

    async def _read(self, *statements: tuple[str, dict[str, Any]]) -> list[list[_Row]]:
        """The rows of each statement, all in one transaction."""
        from neo4j import unit_of_work

        async def work(tx: "AsyncManagedTransaction") -> list[list[_Row]]:
            return [await (await tx.run(text, given)).data() for text, given in statements]

        timed = unit_of_work(timeout=CALL_SECONDS)(work)
        async with (
            faults(self._address),
            self._driver.session(database=self._address.database) as session,
        ):
            return await session.execute_read(timed)


def _writing(namespace: str, nodes: Sequence[tuple[GraphNode, list[GraphEdge]]]) -> Work[None]:
    rows = sorted(
        (
            {
                "key": _key(namespace, node.revn),
                "namespace": namespace,
                "revn": node.revn,
                "document_id": node.document_id,
                "keywords": sorted(node.keywords),
            }
            for node, _ in nodes
        ),
        key=lambda row: str(row["key"]),
    )
    keys = [row["key"] for row in rows]
    words = sorted(
        (word, _key(namespace, node.revn))
        for node, _ in nodes
        for word in _words(namespace, node.keywords)
    )
    having = [{"word": word, "key": key} for word, key in words]
    edges = _edge_rows(namespace, [edge for _, given in nodes for edge in given])

    async def work(tx: "AsyncManagedTransaction") -> None:
        before = await _column(tx, cypher.KEYWORDS_OF, "word", keys=keys)
        await _run(tx, cypher.PUT_NODES, nodes=rows)
        for some in _batches(having):
            await _run(tx, cypher.PUT_KEYWORDS, words=some)
        for part in _batches(edges):
            await _run(tx, cypher.PUT_EDGES, edges=part)
        await _sweep(tx, set(before) - {word for word, _ in words})

    return work


def _removal(keys: list[str]) -> Work[int]:
    async def work(tx: "AsyncManagedTransaction") -> int:
        words = await _column(tx, cypher.KEYWORDS_OF, "word", keys=keys)
        gone = await _column(tx, cypher.REMOVE, "gone", keys=keys)
        await _sweep(tx, words)
        return int(gone[0])

    return work


async def _sweep(tx: "AsyncManagedTransaction", words: Iterable[str]) -> None:
    for some in _batches(sorted(words)):
        await _run(tx, cypher.SWEEP_KEYWORDS, words=some)


async def _run(tx: "AsyncManagedTransaction", /, statement: str, **parameters: Any) -> None:
    await (await tx.run(statement, parameters)).consume()


async def _column(
    tx: "AsyncManagedTransaction", statement: str, name: str, **parameters: Any
) -> list[Any]:
    return await (await tx.run(statement, parameters)).value(name)


def _key(namespace: str, revn: int) -> str:
    return f"{namespace}/{revn}"


def _words(namespace: str, keywords: Iterable[str]) -> list[str]:
    """Keys of keywords, sorted, so that two writers lock them in the same order."""
    return sorted(
        hashlib.sha256(f"{namespace}\0{word}".encode("utf-8", "replace")).hexdigest()
        for word in keywords
    )


def _edge_rows(namespace: str, edges: list[GraphEdge]) -> list[dict[str, Any]]:
    rows = {
        edge.edge_id: {
            "a": _key(namespace, min(edge.revn_a, edge.revn_b)),
            "b": _key(namespace, max(edge.revn_a, edge.revn_b)),
            "score": edge.score,
            "shared": list(edge.shared),
        }
        for edge in edges
    }
    return [rows[edge_id] for edge_id in sorted(rows)]


def _batches(rows: list[R]) -> Iterator[list[R]]:
    for start in range(0, len(rows), BATCH):
        yield rows[start : start + BATCH]


def _sharing(
    namespace: str, wanted: Sequence[frozenset[str]], minimum: int, limit: int
) -> dict[str, Any]:
    """What `CANDIDATES` is asked with; of no keywords there are none."""
    words = [_words(namespace, keywords) for keywords in wanted]
    return {"nodes": words, "minimum": minimum, "limit": _bounded(limit)}


def _node(row: _Row) -> GraphNode:
    return GraphNode(row["revn"], row["document_id"], frozenset(row["keywords"]))


def _neighbour(row: _Row) -> Neighbour:
    return Neighbour(row["revn"], row["document_id"], row["score"], tuple(row["shared"]))


def _digest(revn: int, rows: list[_Row]) -> tuple[int, str]:
    """Of the rows that `EDGES` gives for the node."""
    if not rows:
        return 0, ""
    others = [row["revn"] for row in rows if row["revn"] is not None]
    return graph_digest(revn, [f"{min(revn, one)}:{max(revn, one)}" for one in others])


def _bounded(limit: int) -> int:
    return max(0, min(limit, MAX_ROWS))
