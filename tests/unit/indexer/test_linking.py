from collections import Counter
from typing import Any, cast

from libs.runtime.graph.port import Around, GraphNode
from services.indexer.handlers import on_chunked
from services.indexer.linking import link, link_all
from tests.support.fakes import Graph, World
from tests.unit.indexer.making import NS, chunked, deps, work


class Counting(Graph):
    """Counts what is asked of it from outside."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: Counter[str] = Counter()

    async def around(self, *args: Any) -> list[Around]:
        self.calls["around"] += 1
        return await super().around(*args)

    async def loads(self, *args: Any) -> dict[int, tuple[int, float]]:
        self.calls["loads"] += 1
        return await super().loads(*args)

    async def write_all(self, *args: Any) -> None:
        self.calls["write_all"] += 1
        await super().write_all(*args)


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


async def test_nodes_joined_together_are_joined_as_one_after_the_other() -> None:
    nodes = [node(revn, without=revn % 3) for revn in range(1, 16)]
    apart, together = Graph(), Graph()
    await linked(apart, *nodes)
    await linked(together, *nodes[:4])
    for held in await link_all(cast(Any, together), NS, nodes[4:]):
        assert held.found == held.expected
    assert together.edges == apart.edges
    assert together.nodes == apart.nodes


async def test_many_nodes_take_one_write_and_no_more_looks_than_one() -> None:
    graph = Counting()
    await link(cast(Any, graph), NS, node(1))
    alone = dict(graph.calls)
    assert alone == {"around": 2, "write_all": 1}
    graph.calls.clear()
    await link_all(cast(Any, graph), NS, [node(revn) for revn in range(2, 12)])
    assert graph.calls == {"around": 2, "loads": 1, "write_all": 1}
    graph.calls.clear()
    await link_all(cast(Any, graph), NS, [node(revn) for revn in range(2, 12)])
    assert graph.calls == {"around": 1, "loads": 1}


async def test_in_a_group_too_no_node_has_more_than_twenty_and_the_best_stay() -> None:
    graph = Graph()
    weak = [node(revn, without=2) for revn in range(1, 31)]
    for held in await link_all(cast(Any, graph), NS, weak):
        assert held.found == held.expected
    twins = [GraphNode(revn, f"twin-{revn}", frozenset(WORDS)) for revn in (50, 51)]
    for held in await link_all(cast(Any, graph), NS, twins):
        assert held.found == held.expected
    for revn in (*range(1, 31), 50, 51):
        assert len(await graph.neighbours(NS, revn, 100)) <= 20
    best = (await graph.neighbours(NS, 51, 1))[0]
    assert (best.document_id, best.score) == ("twin-50", 1.0)


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
    write, late = world.graph.write_all, []

    async def write_after_the_other(namespace: str, nodes) -> None:
        if not late:
            late.append(nodes)
            await on_chunked(deps(world), other, work(other))
        await write(namespace, nodes)

    world.graph.write_all = write_after_the_other  # type: ignore[method-assign]
    await on_chunked(deps(world), one, work(one))
    assert list(world.graph.edges) == [(NS, "100:101")]
