"""Removal of graph nodes, shared by the graph store and erasure."""

import orjson
from sqlalchemy import BindParameter, Connection, bindparam, delete, select

from libs.runtime.catalog.sql.graph_schema import graph_edge, graph_keyword, graph_node

_OF: BindParameter[str] = bindparam("namespace")
_REVNS: BindParameter[list[int]] = bindparam("revns", expanding=True)
_NODES = select(graph_node).where(graph_node.c.namespace == _OF, graph_node.c.revn.in_(_REVNS))
_REMOVE_KEYWORDS = delete(graph_keyword).where(
    graph_keyword.c.namespace == _OF,
    graph_keyword.c.keyword.in_(bindparam("keywords", expanding=True)),
    graph_keyword.c.revn == bindparam("revn"),
)
_REMOVE_EDGES = tuple(
    delete(graph_edge).where(graph_edge.c.namespace == _OF, end.in_(_REVNS))
    for end in (graph_edge.c.revn_a, graph_edge.c.revn_b)
)
_REMOVE_NODES = delete(graph_node).where(
    graph_node.c.namespace == _OF, graph_node.c.revn.in_(_REVNS)
)


def clear_nodes(connection: Connection, namespace: str, revns: list[int]) -> int:
    """Remove nodes, their keywords and edges; how many nodes went."""
    these = {"namespace": namespace, "revns": revns}
    nodes = connection.execute(_NODES, these).all()
    if not nodes:
        return 0
    for node in nodes:
        keywords = orjson.loads(node.keywords)
        connection.execute(
            _REMOVE_KEYWORDS, {"namespace": namespace, "keywords": keywords, "revn": node.revn}
        )
    for statement in (*_REMOVE_EDGES, _REMOVE_NODES):
        connection.execute(statement, these)
    return len(nodes)
