"""The graph step of a publish: a node and its edges, at most 20 a node, proved."""

from libs.runtime.graph.port import GraphEdge, GraphNode, GraphStore, Neighbour, graph_digest
from services.indexer.edges import MAX_EDGES, MINIMUM_SHARED, possible_edges
from services.indexer.parity import Held

CANDIDATES = 400
LOOKS = 3 * MAX_EDGES
TRIES = 4


async def link(graph: GraphStore, namespace: str, node: GraphNode) -> Held:
    """Write the node with its edges; returns what the graph should hold and what it does.

    Documents that are published at the same moment see each other on the second look, so
    the edges are chosen again until they stand. Edges that other nodes made to this one
    are theirs and stay.
    """
    near: dict[int, GraphNode] | None = None
    own: list[GraphEdge] = []
    for _ in range(TRIES):
        seen = await _candidates(graph, namespace, node)
        if seen != near:
            near, own = seen, await _choose(graph, namespace, node, seen)
        around = await graph.neighbours(namespace, node.revn, CANDIDATES)
        made = {_edge(node.revn, other).edge_id for other in around}
        ids = {edge.edge_id for edge in own}
        expected = graph_digest(node.revn, sorted(ids | made))
        held = Held("graph", expected, await graph.digest(namespace, node.revn), "edges")
        if held.found == held.expected:
            break
        kept = [_edge(node.revn, other) for other in around]
        await graph.write(namespace, node, [*own, *(e for e in kept if e.edge_id not in ids)])
    return held


async def _candidates(graph: GraphStore, namespace: str, node: GraphNode) -> dict[int, GraphNode]:
    if len(node.keywords) < MINIMUM_SHARED:
        return {}
    near = await graph.candidates(namespace, node.keywords, MINIMUM_SHARED, CANDIDATES)
    return {other.revn: other for other in near if other.revn != node.revn}


async def _choose(
    graph: GraphStore, namespace: str, node: GraphNode, near: dict[int, GraphNode]
) -> list[GraphEdge]:
    """The best edges whose other ends have room; a better edge takes the place of the worst
    one of a node that is full."""
    chosen: list[GraphEdge] = []
    for edge in possible_edges(node, near.values())[:LOOKS]:
        around = await graph.neighbours(namespace, edge.revn_b, MAX_EDGES + 1)
        others = [other for other in around if other.revn != node.revn]
        if len(others) >= MAX_EDGES:
            if others[MAX_EDGES - 1].score >= edge.score:
                continue
            kept = [_edge(edge.revn_b, other) for other in others[: MAX_EDGES - 1]]
            await graph.write(namespace, near[edge.revn_b], kept)
        chosen.append(edge)
        if len(chosen) == MAX_EDGES:
            break
    return chosen


def _edge(revn: int, other: Neighbour) -> GraphEdge:
    return GraphEdge(revn, other.revn, other.score, other.shared)
