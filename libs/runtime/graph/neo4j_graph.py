"""The graph on Neo4j."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterable, Iterator
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
        check_keywords(node.keywords)
        check_edges(node, edges)
        key = _key(namespace, node.revn)
        words = _words(namespace, node.keywords)
        rows = _edge_rows(namespace, edges)

        async def work(tx: "AsyncManagedTransaction") -> None:
            before = await _column(tx, cypher.KEYWORDS_OF, "word", keys=[key])
            await _run(
                tx,
                cypher.PUT_NODE,
                key=key,
                namespace=namespace,
                revn=node.revn,
                document_id=node.document_id,
                keywords=sorted(node.keywords),
            )
            for some in _batches(words):
                await _run(tx, cypher.PUT_KEYWORDS, key=key, words=some)
            for part in _batches(rows):
                await _run(tx, cypher.PUT_EDGES, edges=part)
            await _sweep(tx, set(before) - set(words))

        await self._write(work)

    async def candidates(
        self, namespace: str, keywords: frozenset[str], minimum_shared: int, limit: int
    ) -> list[GraphNode]:
        """See the port."""
        check_keywords(keywords)
        rows = await self._read(
            cypher.CANDIDATES,
            words=_words(namespace, keywords),
            minimum=minimum_shared,
            limit=_bounded(limit),
        )
        return [
            GraphNode(row["revn"], row["document_id"], frozenset(row["keywords"])) for row in rows
        ]

    async def neighbours(self, namespace: str, revn: int, limit: int) -> list[Neighbour]:
        """See the port."""
        rows = await self._read(cypher.NEIGHBOURS, key=_key(namespace, revn), limit=_bounded(limit))
        return [
            Neighbour(row["revn"], row["document_id"], row["score"], tuple(row["shared"]))
            for row in rows
        ]

    async def loads(self, namespace: str, revns: list[int]) -> dict[int, tuple[int, float]]:
        """See the port."""
        found: dict[int, tuple[int, float]] = {}
        for some in _batches([_key(namespace, revn) for revn in sorted(set(revns))]):
            rows = await self._read(cypher.LOADS, keys=some)
            found |= {row["revn"]: (row["edges"], row["lowest"]) for row in rows}
        return found

    async def digest(self, namespace: str, revn: int) -> tuple[int, str]:
        """See the port."""
        rows = await self._read(cypher.DIGEST, key=_key(namespace, revn))
        if not rows:
            return 0, ""
        others = [row["revn"] for row in rows if row["revn"] is not None]
        return graph_digest(revn, [f"{min(revn, one)}:{max(revn, one)}" for one in others])

    async def around(
        self, namespace: str, node: GraphNode, minimum_shared: int, limit: int
    ) -> Around:
        """See the port; three requests, of which a node without edges needs two."""
        near: list[GraphNode] = []
        if len(node.keywords) >= minimum_shared:
            near = await self.candidates(namespace, node.keywords, minimum_shared, limit)
        digest = await self.digest(namespace, node.revn)
        joined = await self.neighbours(namespace, node.revn, limit) if digest[0] else []
        return Around(near, joined, digest)

    async def page(self, namespace: str, after: int, limit: int) -> list[NodeEdges]:
        """See the port."""
        rows = await self._read(
            cypher.PAGE, namespace=namespace, after=after, limit=page_size(limit)
        )
        return [
            NodeEdges(
                GraphNode(row["revn"], row["document_id"], frozenset(row["keywords"])),
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

    async def _read(self, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        from neo4j import unit_of_work

        async def work(tx: "AsyncManagedTransaction") -> list[dict[str, Any]]:
            return await (await tx.run(statement, parameters)).data()

        timed = unit_of_work(timeout=CALL_SECONDS)(work)
        async with (
            faults(self._address),
            self._driver.session(database=self._address.database) as session,
        ):
            return await session.execute_read(timed)


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


def _bounded(limit: int) -> int:
    return max(0, min(limit, MAX_ROWS))
