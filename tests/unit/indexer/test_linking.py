from typing import Any, cast

from libs.runtime.graph.port import GraphNode
from services.indexer.handlers import on_chunked
from services.indexer.linking import link
from tests.support.fakes import Graph, World
from tests.unit.indexer.making import NS, chunked, deps, work

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


async def test_similar_documents_are_joined_and_no_node_has_more_than_twenty_edges() -> None:
    world = World()
    for number in range(24):
        event = await chunked(world, f"doc-{number:02}")
        await on_chunked(deps(world), event, work(event))
    for namespace, revn in world.graph.nodes:
        around = await world.graph.neighbours(namespace, revn, 100)
        assert len(around) <= 20
    assert len(await world.graph.neighbours(NS, 100, 100)) == 20


async def test_documents_published_together_see_each_other() -> None:
    world = World()
    one, other = await chunked(world, "doc-1"), await chunked(world, "doc-2")
    write, late = world.graph.write, []

    async def write_after_the_other(namespace: str, node, edges) -> None:
        if not late:
            late.append(node)
            await on_chunked(deps(world), other, work(other))
        await write(namespace, node, edges)

    world.graph.write = write_after_the_other  # type: ignore[method-assign]
    await on_chunked(deps(world), one, work(one))
    assert list(world.graph.edges) == [(NS, "100:101")]
