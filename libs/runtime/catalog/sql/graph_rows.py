"""Removal of graph nodes, shared by the graph store and erasure."""

import orjson
from sqlalchemy import Connection, delete, select

from libs.runtime.catalog.sql.graph_schema import graph_edge, graph_keyword, graph_node


def clear_nodes(connection: Connection, namespace: str, revns: list[int]) -> int:
    """Remove nodes, their keywords and edges; how many nodes went."""
    these = (graph_node.c.namespace == namespace, graph_node.c.revn.in_(revns))
    nodes = connection.execute(select(graph_node).where(*these)).all()
    for node in nodes:
        connection.execute(
            delete(graph_keyword).where(
                graph_keyword.c.namespace == namespace,
                graph_keyword.c.keyword.in_(orjson.loads(node.keywords)),
                graph_keyword.c.revn == node.revn,
            )
        )
    for end in (graph_edge.c.revn_a, graph_edge.c.revn_b):
        connection.execute(
            delete(graph_edge).where(graph_edge.c.namespace == namespace, end.in_(revns))
        )
    connection.execute(delete(graph_node).where(*these))
    return len(nodes)
