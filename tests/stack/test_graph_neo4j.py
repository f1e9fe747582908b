"""Neo4j, run through the graph's suite, and what only that adapter promises."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from libs.contracts.faults import Code, WorldFault
from libs.runtime.graph.neo4j_client import address_of, connect
from libs.runtime.graph.neo4j_graph import Neo4jGraph
from libs.runtime.graph.port import MAX_KEYWORDS, GraphNode, graph_digest
from tests.contract.suites.graph import WORDS, GraphStoreSuite, edge, node
from tests.support.catalogs import NS, OTHER
from tests.support.servers import Servers

Ask = Callable[[str], Awaitable[list[Any]]]


@pytest.fixture
async def ask(servers: Servers) -> AsyncIterator[Ask]:
    """Runs a statement by itself and returns the first column; the database begins empty."""
    settings = servers["neo4j"].settings
    address = address_of(settings["GROUNDWIRE_GRAPH_URL"])
    driver = connect(address, settings["GROUNDWIRE_GRAPH_PASSWORD"])

    async def run(statement: str) -> list[Any]:
        async with driver.session(database=address.database) as session:
            return await (await session.run(statement)).value()

    await run("MATCH (n) DETACH DELETE n")
    yield run
    await driver.close()


@pytest.fixture
async def graph(servers: Servers, ask: Ask) -> AsyncIterator[Neo4jGraph]:
    settings = servers["neo4j"].settings
    graph = Neo4jGraph(settings["GROUNDWIRE_GRAPH_URL"], settings["GROUNDWIRE_GRAPH_PASSWORD"])
    yield graph
    await graph.close()


class TestNeo4jGraph(GraphStoreSuite):
    @pytest.fixture
    async def graph(self, graph: Neo4jGraph) -> Neo4jGraph:
        return graph


async def test_the_constraints_are_made_once(graph: Neo4jGraph, ask: Ask) -> None:
    await asyncio.gather(graph.prepare(), graph.prepare())
    names = await ask("SHOW CONSTRAINTS YIELD name RETURN name ORDER BY name")
    assert names == ["groundwire_keyword", "groundwire_revision"]


async def test_removal_leaves_nothing(graph: Neo4jGraph, ask: Ask) -> None:
    await graph.write(NS, node(1), [])
    await graph.write(NS, node(2), [edge(1, 2)])
    await graph.write(OTHER, node(2), [])
    assert await ask("MATCH (k:Keyword) RETURN count(k)") == [6]
    assert await graph.remove(NS, [1, 2]) == 2
    assert await ask("MATCH (k:Keyword) RETURN count(k)") == [3]
    assert await graph.remove(OTHER, [2]) == 1
    assert await ask("MATCH (n) RETURN count(n)") == [0]


async def test_keywords_that_a_rewrite_drops_are_gone(graph: Neo4jGraph, ask: Ask) -> None:
    await graph.write(NS, node(1, "old", "kept"), [])
    await graph.write(NS, node(2, "kept"), [])
    await graph.write(NS, node(1, "new"), [])
    assert await ask("MATCH (k:Keyword) RETURN count(k)") == [2]
    assert await graph.candidates(NS, frozenset({"kept"}), 1, 9) == [node(2, "kept")]


async def test_no_keyword_is_stored_in_the_open_twice(graph: Neo4jGraph, ask: Ask) -> None:
    """Keyword nodes hold hashes: the words are on their revision alone, and go with it."""
    await graph.write(NS, node(1, "xyzzyplugh"), [])
    keys = await ask("MATCH (k:Keyword) RETURN k.key")
    assert len(keys) == 1
    assert "xyzzy" not in keys[0]


async def test_writers_of_the_same_keywords_do_not_fail(graph: Neo4jGraph, ask: Ask) -> None:
    """Deadlocks and keywords swept away meanwhile are run again, and all that counts is kept."""

    async def come_and_go(revn: int) -> None:
        for _ in range(3):
            await graph.write(NS, node(revn, *WORDS), [])
            await graph.remove(NS, [revn])
        await graph.write(NS, node(revn, *WORDS), [])

    await asyncio.gather(*(come_and_go(revn) for revn in range(1, 9)))
    found = await graph.candidates(NS, frozenset(WORDS), len(WORDS), 99)
    assert [one.revn for one in found] == list(range(1, 9))
    assert await ask("MATCH (k:Keyword) RETURN count(k)") == [len(WORDS)]


async def test_edges_written_from_both_ends_at_once_are_one(graph: Neo4jGraph) -> None:
    await graph.write(NS, node(1), [])
    await graph.write(NS, node(2), [])
    await asyncio.gather(
        graph.write(NS, node(1), [edge(1, 2)]), graph.write(NS, node(2), [edge(1, 2)])
    )
    assert await graph.digest(NS, 1) == graph_digest(1, ["1:2"])
    assert await graph.digest(NS, 2) == graph_digest(2, ["1:2"])


async def test_many_keywords_are_written_in_parts(graph: Neo4jGraph, ask: Ask) -> None:
    crowd = frozenset(f"word-{number}" for number in range(1200))
    await graph.write(NS, GraphNode(1, "doc-1", crowd), [])
    assert await ask("MATCH (:Revision)-[h:HAS]->() RETURN count(h)") == [1200]
    too_many = frozenset(str(number) for number in range(MAX_KEYWORDS + 1))
    with pytest.raises(ValueError, match=str(MAX_KEYWORDS)):
        await graph.write(NS, GraphNode(2, "doc-2", too_many), [])
    with pytest.raises(ValueError, match=str(MAX_KEYWORDS)):
        await graph.candidates(NS, too_many, 1, 1)


async def test_a_wrong_password_is_a_store_that_is_away(servers: Servers) -> None:
    url = servers["neo4j"].settings["GROUNDWIRE_GRAPH_URL"]
    stranger = Neo4jGraph(url, "not-the-password")
    with pytest.raises(WorldFault, match="does not let us in") as caught:
        await stranger.digest(NS, 1)
    assert caught.value.code is Code.STORE_AWAY
    assert "not-the-password" not in str(caught.value)
    await stranger.close()
