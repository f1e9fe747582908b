"""The graph step of a publish: nodes and their edges, at most 20 a node, proved.

Revisions that are published at the same time are joined together, in their order: one look,
one write and one look for all of them.
"""

from libs.runtime.graph.port import (
    Around,
    GraphEdge,
    GraphNode,
    GraphStore,
    Neighbour,
    graph_digest,
)
from services.indexer.edges import MAX_EDGES, MINIMUM_SHARED, possible_edges
from services.indexer.parity import Held

CANDIDATES = 400
LOOKS = 3 * MAX_EDGES
TRIES = 4

_Loads = dict[int, tuple[int, float]]
"""By revn: how many edges, and the lowest score among them."""


async def link(graph: GraphStore, namespace: str, node: GraphNode) -> Held:
    """`link_all` of one node."""
    (held,) = await link_all(graph, namespace, [node])
    return held


async def link_all(graph: GraphStore, namespace: str, nodes: list[GraphNode]) -> list[Held]:
    """Write different nodes with their edges; returns what the graph should hold of each and
    what it does.

    A node is joined to those that are stored and to those before it in the list. Documents
    that another process publishes at the same moment are seen on the second look, so the
    edges are chosen again until they stand. Edges that other nodes made to one of these are
    theirs and stay.
    """
    choice = _Choice(graph, namespace, nodes)
    held: dict[int, Held] = {}
    left = nodes
    for _ in range(TRIES):
        views = await graph.around(namespace, left, MINIMUM_SHARED, CANDIDATES)
        around = dict(zip((node.revn for node in left), views, strict=True))
        await choice.see(left, around)
        for node in left:
            held[node.revn] = choice.held(node, around[node.revn])
        left = [n for n in left if held[n.revn].found != held[n.revn].expected]
        if not left:
            break
        await graph.write_all(
            namespace, [(node, choice.edges(node, around[node.revn])) for node in left]
        )
    return [held[node.revn] for node in nodes]


class _Choice:
    """The edges that the nodes of one group are given.

    `_made` holds them by edge id, each with the node that chose it, whether stored yet or not.
    """

    def __init__(self, graph: GraphStore, namespace: str, nodes: list[GraphNode]) -> None:
        self._graph = graph
        self._namespace = namespace
        self._group = {node.revn for node in nodes}
        self._near: dict[int, dict[int, GraphNode]] = {}
        self._made: dict[str, tuple[int, GraphEdge]] = {}

    async def see(self, nodes: list[GraphNode], around: dict[int, Around]) -> None:
        """Choose edges of those nodes whose surroundings are not those that were known."""
        anew: list[GraphNode] = []
        for place, node in enumerate(nodes):
            near = {one.revn: one for one in around[node.revn].candidates}
            if self._is_known(node.revn, near):
                continue
            near |= {
                one.revn: one
                for one in nodes[:place]
                if len(one.keywords & node.keywords) >= MINIMUM_SHARED
            }
            near.pop(node.revn, None)
            self._near[node.revn] = near
            anew.append(node)
        if anew:
            await self._choose_all(anew, around)

    def edges(self, node: GraphNode, around: Around) -> list[GraphEdge]:
        """All edges of a node: those of this group, and what others had made."""
        made = self._of(node.revn)
        there = (_edge(node.revn, other) for other in around.neighbours)
        return [*made.values(), *(edge for edge in there if edge.edge_id not in made)]

    def held(self, node: GraphNode, around: Around) -> Held:
        """What the graph should hold of a node, and what it did when it was looked at."""
        ids = {edge.edge_id for edge in self.edges(node, around)}
        return Held("graph", graph_digest(node.revn, sorted(ids)), around.digest, "edges")

    def _is_known(self, revn: int, near: dict[int, GraphNode]) -> bool:
        """Whether nobody else came near, and no other end has gone."""
        known = self._near.get(revn)
        if known is None or near.keys() - known.keys() - self._group:
            return False
        own = (edge for chooser, edge in self._made.values() if chooser == revn)
        return all(edge.revn_b in near for edge in own)

    def _of(self, revn: int) -> dict[str, GraphEdge]:
        return {i: e for i, (_, e) in self._made.items() if revn in (e.revn_a, e.revn_b)}

    async def _choose_all(self, anew: list[GraphNode], around: dict[int, Around]) -> None:
        choosers = {node.revn for node in anew}
        self._made = {i: one for i, one in self._made.items() if one[0] not in choosers}
        possible = {
            node.revn: possible_edges(node, self._near[node.revn].values())[:LOOKS] for node in anew
        }
        ends = {edge.revn_b for edges in possible.values() for edge in edges}
        if not ends:
            return
        loads = await self._graph.loads(self._namespace, sorted(ends | choosers))
        for node in anew:
            joined = {other.revn for other in around[node.revn].neighbours}
            await self._choose(node.revn, possible[node.revn], loads, joined)

    async def _choose(
        self, revn: int, possible: list[GraphEdge], loads: _Loads, joined: set[int]
    ) -> None:
        """The best edges whose other ends have room; a better edge takes the place of the worst
        one of a node that is full. `joined` are the nodes that have an edge to this one."""
        chosen = 0
        for edge in possible:
            end = edge.revn_b
            there = end in joined or edge.edge_id in self._made
            load, lowest = loads.get(end, (0, 0.0))
            if load - there >= MAX_EDGES:
                if lowest >= edge.score:
                    continue
                await self._make_room(self._near[revn][end], revn, loads)
            self._made.setdefault(edge.edge_id, (revn, edge))
            if not there:
                for one in (revn, end):
                    count, worst = loads.get(one, (0, edge.score))
                    loads[one] = count + 1, min(worst, edge.score)
            chosen += 1
            if chosen == MAX_EDGES:
                break

    async def _make_room(self, full: GraphNode, wanted: int, loads: _Loads) -> None:
        """Cut the worst edges of a full node, so that it has room for one to `wanted`."""
        around = await self._graph.neighbours(self._namespace, full.revn, MAX_EDGES)
        stored = {edge.edge_id: edge for edge in (_edge(full.revn, other) for other in around)}
        wanted_id = GraphEdge(full.revn, wanted, 1.0, ()).edge_id
        every = {i: e for i, e in (stored | self._of(full.revn)).items() if i != wanted_id}
        best = sorted(every.values(), key=lambda edge: (-edge.score, edge.revn_a, edge.revn_b))
        kept = {edge.edge_id for edge in best[: MAX_EDGES - 1]}
        for edge_id in every.keys() - kept:
            self._made.pop(edge_id, None)
        if stored.keys() - kept - {wanted_id}:
            left = [edge for edge_id, edge in stored.items() if edge_id in kept]
            await self._graph.write(self._namespace, full, left)
        loads[full.revn] = len(kept), min((every[i].score for i in kept), default=1.0)


def _edge(revn: int, other: Neighbour) -> GraphEdge:
    return GraphEdge(revn, other.revn, other.score, other.shared)
