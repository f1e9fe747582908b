from typing import Any, cast

from libs.runtime.graph.port import GraphNode
from services.indexer.linking import link
from tests.support.fakes import Graph

NS = "team"
WORDS = [f"word{i:02}" for i in range(20)]


def node(revn: int, *, without: int = 0) -> GraphNode:
    return GraphNode(revn, f"doc-{revn}", frozenset(WORDS[without:]) | {f"own{revn:03}"})


async def linked(graph: Graph, *nodes: GraphNode) -> None:
    for one in nodes:
        held = await link(cast(Any, graph), NS, one)
        assert held.found == held.expected


async def test_a_better_edge_takes_the_place_of_the_worst_of_a_full_node() -> None:
    graph = Graph()
    hub = GraphNode(1, "hub", frozenset(WORDS))
    await linked(graph, hub)
    for revn in range(2, 22):
        graph.nodes[NS, revn] = node(revn, without=2)
    await linked(graph, *(node(revn, without=2) for revn in range(2, 22)))
    before = await graph.neighbours(NS, 1, 100)
    assert len(before) == 20
    await linked(graph, GraphNode(50, "twin", frozenset(WORDS)))
    after = await graph.neighbours(NS, 1, 100)
    assert len(after) == 20
    assert (after[0].document_id, after[0].score) == ("twin", 1.0)
    assert {n.revn for n in before} - {n.revn for n in after} == {before[-1].revn}


async def test_linking_again_changes_nothing() -> None:
    graph = Graph()
    await linked(graph, node(1), node(2), node(3))
    edges = dict(graph.edges)
    await linked(graph, node(2))
    assert graph.edges == edges
    assert len(edges) == 3


async def test_too_few_keywords_make_a_node_without_edges() -> None:
    graph = Graph()
    await linked(graph, node(1), GraphNode(2, "doc-2", frozenset(WORDS[:2])))
    assert not graph.edges
    assert (NS, 2) in graph.nodes
