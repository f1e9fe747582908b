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
        view = await graph.around(namespace, node, MINIMUM_SHARED, CANDIDATES)
        seen = {other.revn: other for other in view.candidates if other.revn != node.revn}
        found, around = view.digest, view.neighbours
        if seen != near:
            joined = {other.revn for other in around}
            near, own = seen, await _choose(graph, namespace, node, seen, joined)
        made = {_edge(node.revn, other).edge_id for other in around}
        ids = {edge.edge_id for edge in own}
        expected = graph_digest(node.revn, sorted(ids | made))
        held = Held("graph", expected, found, "edges")
        if held.found == held.expected:
            break
        kept = [_edge(node.revn, other) for other in around]
        await graph.write(namespace, node, [*own, *(e for e in kept if e.edge_id not in ids)])
    return held


async def _choose(
    graph: GraphStore,
    namespace: str,
    node: GraphNode,
    near: dict[int, GraphNode],
    joined: set[int],
) -> list[GraphEdge]:
    """The best edges whose other ends have room; a better edge takes the place of the worst
    one of a node that is full. `joined` are the nodes that have an edge to this one."""
    chosen: list[GraphEdge] = []
    possible = possible_edges(node, near.values())[:LOOKS]
    loads = await graph.loads(namespace, [edge.revn_b for edge in possible]) if possible else {}
    for edge in possible:
        load, lowest = loads.get(edge.revn_b, (0, 0.0))
        if load - (edge.revn_b in joined) >= MAX_EDGES:
            if lowest >= edge.score:
                continue
            await _make_room(graph, namespace, near[edge.revn_b], node.revn)
        chosen.append(edge)
        if len(chosen) == MAX_EDGES:
            break
    return chosen


async def _make_room(graph: GraphStore, namespace: str, full: GraphNode, wanted: int) -> None:
    """Cut the worst edges of a full node, so that it has room for one to `wanted`."""
    around = await graph.neighbours(namespace, full.revn, MAX_EDGES)
    others = [_edge(full.revn, other) for other in around if other.revn != wanted]
    await graph.write(namespace, full, others[: MAX_EDGES - 1])


def _edge(revn: int, other: Neighbour) -> GraphEdge:
    return GraphEdge(revn, other.revn, other.score, other.shared)
