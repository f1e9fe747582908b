"""The graph in the catalog's own tables."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import orjson
from sqlalchemy import (
    BindParameter,
    Connection,
    Row,
    bindparam,
    func,
    insert,
    select,
    union_all,
)

from libs.runtime.catalog.sql.catalog import SqlCatalog
from libs.runtime.catalog.sql.graph_rows import clear_nodes
from libs.runtime.catalog.sql.graph_schema import graph_edge, graph_keyword, graph_node
from libs.runtime.catalog.sql.records import dump
from libs.runtime.graph.port import (
    Around,
    GraphEdge,
    GraphNode,
    Neighbour,
    NodeEdges,
    check_keywords,
    check_written,
    graph_digest,
    page_size,
)

BATCH = 500

_OF: BindParameter[str] = bindparam("namespace")
_ADD_NODE = insert(graph_node)
_ADD_KEYWORDS = insert(graph_keyword)
_ADD_EDGES = insert(graph_edge)
_PRESENT = select(graph_node.c.revn).where(
    graph_node.c.namespace == _OF, graph_node.c.revn.in_(bindparam("revns", expanding=True))
)
_NODE = select(graph_node.c.revn).where(
    graph_node.c.namespace == _OF, graph_node.c.revn == bindparam("revn")
)
_NODES = select(graph_node).where(
    graph_node.c.namespace == _OF, graph_node.c.revn.in_(bindparam("revns", expanding=True))
)
_SHARING = (
    select(graph_keyword.c.revn)
    .where(
        graph_keyword.c.namespace == _OF,
        graph_keyword.c.keyword.in_(bindparam("keywords", expanding=True)),
    )
    .group_by(graph_keyword.c.revn)
    .having(func.count() >= bindparam("minimum"))
    .order_by(func.count().desc(), graph_keyword.c.revn)
    .limit(bindparam("many"))
)
# From both sides; an OR would read every edge of the namespace.
_SIDES = union_all(
    *(
        select(
            here.label("here"), other.label("other"), graph_edge.c.score, graph_edge.c.shared
        ).where(graph_edge.c.namespace == _OF, here.in_(bindparam("revns", expanding=True)))
        for here, other in (
            (graph_edge.c.revn_a, graph_edge.c.revn_b),
            (graph_edge.c.revn_b, graph_edge.c.revn_a),
        )
    )
).subquery()
_OTHERS = select(_SIDES.c.other)
_LOADS = select(_SIDES.c.here, func.count(), func.min(_SIDES.c.score)).group_by(_SIDES.c.here)
_NEIGHBOURS = (
    select(_SIDES.c.other, graph_node.c.document_id, _SIDES.c.score, _SIDES.c.shared)
    .join(graph_node, (graph_node.c.namespace == _OF) & (graph_node.c.revn == _SIDES.c.other))
    .order_by(_SIDES.c.score.desc(), _SIDES.c.other)
    .limit(bindparam("many"))
)


def _write_nodes(
    connection: Connection, namespace: str, nodes: Sequence[tuple[GraphNode, list[GraphEdge]]]
) -> None:
    clear_nodes(connection, namespace, [node.revn for node, _ in nodes])
    stored = [
        {
            "namespace": namespace,
            "revn": node.revn,
            "document_id": node.document_id,
            "keywords": dump(sorted(node.keywords)),
        }
        for node, _ in nodes
    ]
    connection.execute(_ADD_NODE, stored)
    words = [
        {"namespace": namespace, "keyword": word, "revn": node.revn}
        for node, _ in nodes
        for word in sorted(node.keywords)
    ]
    if words:
        connection.execute(_ADD_KEYWORDS, words)
    edges = [edge for _, given in nodes for edge in given]
    ends = sorted({revn for edge in edges for revn in (edge.revn_a, edge.revn_b)})
    present: set[int] = set()
    if ends:
        found = connection.execute(_PRESENT, {"namespace": namespace, "revns": ends})
        present.update(found.scalars())
    rows = {
        edge.edge_id: _edge_row(namespace, edge)
        for edge in edges
        if {edge.revn_a, edge.revn_b} <= present
    }
    if rows:
        connection.execute(_ADD_EDGES, list(rows.values()))


def _edge_row(namespace: str, edge: GraphEdge) -> dict[str, Any]:
    return {
        "namespace": namespace,
        "revn_a": min(edge.revn_a, edge.revn_b),
        "revn_b": max(edge.revn_a, edge.revn_b),
        "score": edge.score,
        "shared": dump(list(edge.shared)),
    }


def _candidates(
    connection: Connection, namespace: str, keywords: frozenset[str], minimum: int, limit: int
) -> list[GraphNode]:
    asked = {"keywords": sorted(keywords), "minimum": minimum, "many": limit}
    found = connection.execute(_SHARING, {"namespace": namespace, **asked})
    revns = list(found.scalars())
    rows = connection.execute(_NODES, {"namespace": namespace, "revns": revns})
    nodes = {row.revn: _node(row) for row in rows}
    return [nodes[revn] for revn in revns]


def _neighbours(connection: Connection, namespace: str, revn: int, limit: int) -> list[Neighbour]:
    rows = connection.execute(_NEIGHBOURS, {"namespace": namespace, "revns": [revn], "many": limit})
    return [
        Neighbour(other, document_id, score, tuple(orjson.loads(shared)))
        for other, document_id, score, shared in rows
    ]


def _loads(
    connection: Connection, namespace: str, revns: list[int]
) -> dict[int, tuple[int, float]]:
    found = connection.execute(_LOADS, {"namespace": namespace, "revns": revns})
    return {revn: (count, lowest) for revn, count, lowest in found}


def _digest(connection: Connection, namespace: str, revn: int) -> tuple[int, str]:
    if connection.execute(_NODE, {"namespace": namespace, "revn": revn}).first() is None:
        return 0, ""
    others = connection.execute(_OTHERS, {"namespace": namespace, "revns": [revn]}).scalars()
    return graph_digest(revn, [f"{min(revn, one)}:{max(revn, one)}" for one in others])


def _around(
    connection: Connection, namespace: str, nodes: Sequence[GraphNode], minimum: int, limit: int
) -> list[Around]:
    return [_around_one(connection, namespace, node, minimum, limit) for node in nodes]


def _around_one(
    connection: Connection, namespace: str, node: GraphNode, minimum: int, limit: int
) -> Around:
    few = len(node.keywords) < minimum
    near = [] if few else _candidates(connection, namespace, node.keywords, minimum, limit)
    digest = _digest(connection, namespace, node.revn)
    joined = _neighbours(connection, namespace, node.revn, limit) if digest[0] else []
    return Around(near, joined, digest)


def _page(connection: Connection, namespace: str, after: int, limit: int) -> list[NodeEdges]:
    rows = connection.execute(
        select(graph_node)
        .where(graph_node.c.namespace == namespace, graph_node.c.revn > after)
        .order_by(graph_node.c.revn)
        .limit(limit)
    ).all()
    edges: dict[int, list[GraphEdge]] = {row.revn: [] for row in rows}
    for edge in connection.execute(
        select(graph_edge)
        .where(graph_edge.c.namespace == namespace, graph_edge.c.revn_a.in_(edges))
        .order_by(graph_edge.c.revn_a, graph_edge.c.revn_b)
    ):
        shared = tuple(orjson.loads(edge.shared))
        edges[edge.revn_a].append(GraphEdge(edge.revn_a, edge.revn_b, edge.score, shared))
    return [NodeEdges(_node(row), tuple(edges[row.revn])) for row in rows]


def _node(row: Row[Any]) -> GraphNode:
    return GraphNode(row.revn, row.document_id, _keywords(row.keywords))


@lru_cache(maxsize=1024)
def _keywords(text: str) -> frozenset[str]:
    """As stored; documents that are alike are read again and again while more come."""
    return frozenset(orjson.loads(text))


class CatalogGraph:
    """The `GraphStore` over a catalog's database, which it closes with itself."""

    def __init__(self, catalog: SqlCatalog) -> None:
        self._catalog = catalog

    async def write(self, namespace: str, node: GraphNode, edges: list[GraphEdge]) -> None:
        """See the port; more than `MAX_KEYWORDS` keywords raise `ValueError`."""
        await self.write_all(namespace, [(node, edges)])

    async def write_all(
        self, namespace: str, nodes: Sequence[tuple[GraphNode, list[GraphEdge]]]
    ) -> None:
        """See the port."""
        check_written(nodes)
        if nodes:
            await self._catalog.database.write(_write_nodes, namespace, nodes)

    async def candidates(
        self, namespace: str, keywords: frozenset[str], minimum_shared: int, limit: int
    ) -> list[GraphNode]:
        """See the port."""
        check_keywords(keywords)
        return await self._catalog.database.read(
            _candidates, namespace, keywords, minimum_shared, limit
        )

    async def neighbours(self, namespace: str, revn: int, limit: int) -> list[Neighbour]:
        """See the port."""
        return await self._catalog.database.read(_neighbours, namespace, revn, limit)

    async def loads(self, namespace: str, revns: list[int]) -> dict[int, tuple[int, float]]:
        """See the port."""
        found: dict[int, tuple[int, float]] = {}
        for start in range(0, len(revns), BATCH):
            some = revns[start : start + BATCH]
            found |= await self._catalog.database.read(_loads, namespace, some)
        return found

    async def digest(self, namespace: str, revn: int) -> tuple[int, str]:
        """See the port."""
        return await self._catalog.database.read(_digest, namespace, revn)

    async def around(
        self, namespace: str, nodes: Sequence[GraphNode], minimum_shared: int, limit: int
    ) -> list[Around]:
        """See the port."""
        for node in nodes:
            check_keywords(node.keywords)
        return await self._catalog.database.read(_around, namespace, nodes, minimum_shared, limit)

    async def page(self, namespace: str, after: int, limit: int) -> list[NodeEdges]:
        """See the port."""
        many = page_size(limit)
        return await self._catalog.database.read(_page, namespace, after, many) if many else []

    async def remove(self, namespace: str, revns: list[int]) -> int:
        """See the port."""
        gone = 0
        for start in range(0, len(revns), BATCH):
            some = revns[start : start + BATCH]
            gone += await self._catalog.database.write(clear_nodes, namespace, some)
        return gone

    async def close(self) -> None:
        """See the port."""
        await self._catalog.close()
