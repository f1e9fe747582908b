"""What every graph store must do. Give the fixture `graph`."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs.runtime.graph.port import (
    MAX_PAGE,
    GraphEdge,
    GraphNode,
    GraphStore,
    Neighbour,
    NodeEdges,
    graph_digest,
)
from tests.support.catalogs import NS, OTHER

WORDS = ("pump", "seal", "bearing", "valve", "press")


def node(revn: int, *keywords: str) -> GraphNode:
    return GraphNode(revn, f"doc-{revn}", frozenset(keywords or WORDS[:3]))


def edge(one: int, other: int, score: float = 0.9) -> GraphEdge:
    return GraphEdge(one, other, score, WORDS[:3])


class GraphStoreSuite:
    """The MUSTs of `libs/runtime/graph/port.py`."""

    async def test_an_edge_is_seen_from_both_ends(self, graph: GraphStore) -> None:
        await graph.write(NS, node(1), [])
        await graph.write(NS, node(2), [edge(2, 1)])
        assert await graph.neighbours(NS, 1, 10) == [Neighbour(2, "doc-2", 0.9, WORDS[:3])]
        assert await graph.neighbours(NS, 2, 10) == [Neighbour(1, "doc-1", 0.9, WORDS[:3])]
        assert await graph.digest(NS, 1) == graph_digest(1, ["1:2"])
        assert await graph.digest(NS, 2) == graph_digest(2, ["1:2"])

    async def test_neighbours_are_ordered_and_bounded(self, graph: GraphStore) -> None:
        for revn in (1, 2, 3, 5):
            await graph.write(NS, node(revn), [])
        await graph.write(NS, node(4), [edge(4, 1, 0.8), edge(4, 3), edge(2, 4), edge(4, 5, 1.0)])
        found = [one.revn for one in await graph.neighbours(NS, 4, 10)]
        assert found == [5, 2, 3, 1]
        assert [one.revn for one in await graph.neighbours(NS, 4, 2)] == [5, 2]

    async def test_loads_count_the_edges_of_many_nodes(self, graph: GraphStore) -> None:
        for revn in (1, 2, 3, 5):
            await graph.write(NS, node(revn), [])
            await graph.write(OTHER, node(revn), [])
        await graph.write(NS, node(4), [edge(4, 1, 0.8), edge(4, 3), edge(4, 5, 1.0)])
        await graph.write(OTHER, node(6), [edge(6, 1)])
        assert await graph.loads(NS, [1, 2, 4, 5, 6, 99]) == {1: (1, 0.8), 4: (3, 0.8), 5: (1, 1.0)}
        assert await graph.loads(NS, []) == {}

    async def test_what_is_around_a_node_is_told_at_once(self, graph: GraphStore) -> None:
        for revn in (1, 2, 3):
            await graph.write(NS, node(revn), [])
        await graph.write(NS, node(4, "alone"), [])
        await graph.write(OTHER, node(5), [])
        await graph.write(NS, node(2), [edge(2, 1), edge(2, 3, 0.8)])
        for one in (node(2), node(1), node(4, "alone"), node(99)):
            for limit in (1, 10):
                (view,) = await graph.around(NS, [one], 3, limit)
                if len(one.keywords) >= 3:
                    assert view.candidates == await graph.candidates(NS, one.keywords, 3, limit)
                else:
                    assert view.candidates == []
                assert view.neighbours == await graph.neighbours(NS, one.revn, limit)
                assert view.digest == await graph.digest(NS, one.revn)

    async def test_many_nodes_are_looked_at_as_each_alone(self, graph: GraphStore) -> None:
        for revn in (1, 2, 3):
            await graph.write(NS, node(revn, *WORDS), [])
        await graph.write(NS, node(2, *WORDS), [edge(2, 1), edge(2, 3, 0.8)])
        every = [node(2, *WORDS), node(4, "alone"), node(99), node(1, *WORDS)]
        for limit in (1, 10):
            each = [(await graph.around(NS, [one], 3, limit))[0] for one in every]
            assert await graph.around(NS, every, 3, limit) == each
        assert await graph.around(NS, [], 3, 10) == []

    async def test_nodes_written_together_may_be_joined(self, graph: GraphStore) -> None:
        await graph.write(NS, node(1), [])
        await graph.write(NS, node(3, "old", *WORDS), [edge(1, 3)])
        for _ in range(2):
            await graph.write_all(
                NS,
                [
                    (node(3), [edge(3, 2), edge(3, 99)]),
                    (node(2), [edge(2, 3), edge(2, 1, 0.8)]),
                    (GraphNode(4, "doc-4", frozenset()), []),
                ],
            )
            assert await graph.digest(NS, 2) == graph_digest(2, ["1:2", "2:3"])
            assert await graph.digest(NS, 3) == graph_digest(3, ["2:3"])
            assert await graph.digest(NS, 4) == graph_digest(4, [])
            assert await graph.candidates(NS, frozenset({"old"}), 1, 10) == []
        await graph.write_all(NS, [])

    async def test_of_nodes_written_together_all_are_or_none(self, graph: GraphStore) -> None:
        with pytest.raises(ValueError, match="7:8"):
            await graph.write_all(NS, [(node(1), []), (node(2), [edge(7, 8)])])
        assert await graph.digest(NS, 1) == (0, "")

    async def test_writing_again_replaces_node_and_edges(self, graph: GraphStore) -> None:
        for revn in (1, 2):
            await graph.write(NS, node(revn), [])
        await graph.write(NS, node(3, "old", *WORDS), [edge(1, 3), edge(2, 3)])
        for _ in range(2):
            await graph.write(NS, node(3, *WORDS), [edge(2, 3)])
            assert await graph.digest(NS, 3) == graph_digest(3, ["2:3"])
            assert await graph.digest(NS, 1) == graph_digest(1, [])
            assert await graph.candidates(NS, frozenset({"old"}), 1, 10) == []

    async def test_an_edge_stays_within_its_namespace(self, graph: GraphStore) -> None:
        await graph.write(OTHER, node(1), [])
        await graph.write(NS, node(2), [edge(1, 2), edge(2, 99)])
        assert await graph.neighbours(NS, 2, 10) == []
        assert await graph.digest(NS, 2) == graph_digest(2, [])
        assert await graph.neighbours(OTHER, 1, 10) == []

    @pytest.mark.parametrize("wrong", [edge(7, 8), edge(2, 2)])
    async def test_an_edge_must_touch_its_node(self, graph: GraphStore, wrong: GraphEdge) -> None:
        with pytest.raises(ValueError, match=wrong.edge_id):
            await graph.write(NS, node(2), [wrong])
        assert await graph.digest(NS, 2) == (0, "")

    async def test_candidates_share_keywords_most_shared_first(self, graph: GraphStore) -> None:
        await graph.write(NS, node(1, *WORDS[:3]), [])
        await graph.write(NS, node(2, *WORDS), [])
        await graph.write(NS, node(3, *WORDS[:3], "more"), [])
        await graph.write(NS, node(4, *WORDS[:2]), [])
        await graph.write(OTHER, node(5, *WORDS), [])
        wanted = frozenset(WORDS[:4])
        found = await graph.candidates(NS, wanted, 3, 10)
        assert found == [node(2, *WORDS), node(1, *WORDS[:3]), node(3, *WORDS[:3], "more")]
        assert await graph.candidates(NS, wanted, 3, 1) == [node(2, *WORDS)]
        assert await graph.candidates(NS, wanted, 5, 10) == []
        assert await graph.candidates(NS, frozenset(), 1, 10) == []

    async def test_an_absent_node_has_the_empty_digest(self, graph: GraphStore) -> None:
        await graph.write(NS, node(1), [])
        assert await graph.digest(NS, 2) == (0, "")
        assert await graph.digest(OTHER, 1) == (0, "")
        assert await graph.digest(NS, 1) == graph_digest(1, [])

    async def test_a_node_may_have_no_keywords(self, graph: GraphStore) -> None:
        await graph.write(NS, GraphNode(1, "doc-1", frozenset()), [])
        assert await graph.digest(NS, 1) == graph_digest(1, [])

    async def test_pages_hold_all_of_a_namespace_each_edge_once(self, graph: GraphStore) -> None:
        for revn in (1, 2, 3, 5):
            await graph.write(NS, node(revn, *WORDS), [])
        await graph.write(NS, node(4), [edge(4, 1, 0.8), edge(4, 5, 1.0), edge(2, 4)])
        await graph.write(OTHER, node(6), [])
        await graph.write(OTHER, node(7), [edge(6, 7)])
        first = await graph.page(NS, 0, 2)
        assert first == [
            NodeEdges(node(1, *WORDS), (edge(1, 4, 0.8),)),
            NodeEdges(node(2, *WORDS), (edge(2, 4),)),
        ]
        rest = await graph.page(NS, 2, 10)
        assert rest == [
            NodeEdges(node(3, *WORDS), ()),
            NodeEdges(node(4), (edge(4, 5, 1.0),)),
            NodeEdges(node(5, *WORDS), ()),
        ]
        assert await graph.page(NS, 5, 10) == []
        assert await graph.page(NS, 0, 0) == []
        assert [one.node.revn for one in await graph.page(OTHER, 0, 10)] == [6, 7]
        assert [one.node.revn for one in await graph.page(NS, 0, MAX_PAGE + 1)] == [1, 2, 3, 4, 5]

    async def test_removal_takes_nodes_with_their_edges(self, graph: GraphStore) -> None:
        for revn in (1, 2):
            await graph.write(NS, node(revn), [])
        await graph.write(NS, node(3), [edge(1, 3), edge(2, 3)])
        assert await graph.remove(OTHER, [1, 2, 3]) == 0
        assert await graph.remove(NS, [3, 77]) == 1
        assert await graph.digest(NS, 3) == (0, "")
        assert await graph.neighbours(NS, 1, 10) == []
        assert [one.revn for one in await graph.candidates(NS, frozenset(WORDS), 3, 9)] == [1, 2]
        assert await graph.remove(NS, []) == 0

    @settings(
        max_examples=25,
        deadline=None,
        suppress_health_check=[
            HealthCheck.function_scoped_fixture,
            HealthCheck.differing_executors,  # the suite runs over several adapters
        ],
    )
    @given(
        words=st.frozensets(
            st.text(st.characters(exclude_categories=["Cs"]), max_size=6), max_size=5
        )
    )
    async def test_any_word_is_a_keyword(self, graph: GraphStore, words: frozenset[str]) -> None:
        await graph.write(NS, GraphNode(1, "doc-1", words), [])
        found = await graph.candidates(NS, words, max(1, len(words)), 10)
        assert found == ([GraphNode(1, "doc-1", words)] if words else [])
