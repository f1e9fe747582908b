"""The graph on Neo4j."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from libs.contracts.faults import Code, WorldFault
from libs.runtime.graph import neo4j_statements as cypher
from libs.runtime.graph.neo4j_client import CALL_SECONDS, address_of, connect, faults
from libs.runtime.graph.neo4j_work import (
    Row,
    Work,
    batches,
    bounded,
    digest_of,
    key_of,
    looking,
    neighbour_of,
    node_of,
    removal,
    rows_of,
    run,
    sharing,
    writing,
)
from libs.runtime.graph.port import (
    Around,
    GraphEdge,
    GraphNode,
    Neighbour,
    NodeEdges,
    check_keywords,
    check_written,
    page_size,
)

if TYPE_CHECKING:
    from neo4j import AsyncManagedTransaction

_SWEPT_MEANWHILE = "Neo.ClientError.Statement.EntityNotFound"
_TRIES = 5

R = TypeVar("R")


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
                    await session.execute_write(run, statement)
            self._prepared = True

    async def write(self, namespace: str, node: GraphNode, edges: list[GraphEdge]) -> None:
        """See the port; more than `MAX_KEYWORDS` keywords raise `ValueError`."""
        await self.write_all(namespace, [(node, edges)])

    async def write_all(
        self, namespace: str, nodes: Sequence[tuple[GraphNode, list[GraphEdge]]]
    ) -> None:
        """See the port."""
        check_written(nodes)
        if nodes:
            await self._write(writing(namespace, nodes))

    async def candidates(
        self, namespace: str, keywords: frozenset[str], minimum_shared: int, limit: int
    ) -> list[GraphNode]:
        """See the port."""
        check_keywords(keywords)
        asked = sharing(namespace, [keywords], minimum_shared, limit)
        ((found,), _) = await self._transact(looking(asked, []))
        return found

    async def neighbours(self, namespace: str, revn: int, limit: int) -> list[Neighbour]:
        """See the port."""
        asked = {"key": key_of(namespace, revn), "limit": bounded(limit)}
        rows = await self._read(cypher.NEIGHBOURS, asked)
        return [neighbour_of(row) for row in rows]

    async def loads(self, namespace: str, revns: list[int]) -> dict[int, tuple[int, float]]:
        """See the port."""
        found: dict[int, tuple[int, float]] = {}
        for some in batches([key_of(namespace, revn) for revn in sorted(set(revns))]):
            rows = await self._read(cypher.LOADS, {"keys": some})
            found |= {row["revn"]: (row["edges"], row["lowest"]) for row in rows}
        return found

    async def digest(self, namespace: str, revn: int) -> tuple[int, str]:
        """See the port."""
        rows = await self._read(cypher.EDGES, {"keys": [key_of(namespace, revn)]})
        return digest_of(revn, rows)

    async def around(
        self, namespace: str, nodes: Sequence[GraphNode], minimum_shared: int, limit: int
    ) -> list[Around]:
        """See the port; three statements in one transaction, however many nodes there are."""
        for node in nodes:
            check_keywords(node.keywords)
        few = [len(node.keywords) < minimum_shared for node in nodes]
        wanted = [frozenset() if less else n.keywords for n, less in zip(nodes, few, strict=True)]
        keys = [key_of(namespace, node.revn) for node in nodes]
        asked = sharing(namespace, wanted, minimum_shared, limit)
        near, edges = await self._transact(looking(asked, keys))
        found = []
        for node, key, candidates in zip(nodes, keys, near, strict=True):
            own = [row for row in edges if row["key"] == key]
            joined = [neighbour_of(row) for row in own if row["revn"] is not None]
            found.append(Around(candidates, joined[: bounded(limit)], digest_of(node.revn, own)))
        return found

    async def page(self, namespace: str, after: int, limit: int) -> list[NodeEdges]:
        """See the port."""
        asked = {"namespace": namespace, "after": after, "limit": page_size(limit)}
        rows = await self._read(cypher.PAGE, asked)
        return [
            NodeEdges(
                node_of(row),
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
        for some in batches([key_of(namespace, revn) for revn in sorted(set(revns))]):
            gone += await self._write(removal(some))
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

    async def _read(self, statement: str, asked: dict[str, Any]) -> list[Row]:
        async def work(tx: "AsyncManagedTransaction") -> list[Row]:
            return await rows_of(tx, statement, asked)

        return await self._transact(work)

    async def _transact(self, work: Work[R]) -> R:
        """Run `work`, which only reads, in a transaction."""
        from neo4j import unit_of_work

        timed = unit_of_work(timeout=CALL_SECONDS)(work)
        async with (
            faults(self._address),
            self._driver.session(database=self._address.database) as session,
        ):
            return await session.execute_read(timed)
