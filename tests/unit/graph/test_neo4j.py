"""How Neo4j is addressed, and what happens when it is not there."""

import pytest
from neo4j.exceptions import Neo4jError

from deploy.local.ports import free_port
from libs.contracts.faults import Code, WorldFault
from libs.runtime.graph import neo4j_client
from libs.runtime.graph.factory import open_graph
from libs.runtime.graph.neo4j_client import address_of, faults
from libs.runtime.graph.port import GraphNode


def test_a_url_says_where_the_server_is() -> None:
    address = address_of("neo4j://writer@graph.example:7688/docs")
    assert (address.host, address.port, address.database) == ("graph.example", 7688, "docs")
    assert (address.user, address.tls) == ("writer", True)
    assert not address_of("neo4j://localhost/neo4j?tls=false").tls


@pytest.mark.parametrize(
    "url",
    [
        "neo4j:", "neo4j://", "neo4j://host", "neo4j://host/", "bolt://host/db", "neo4j://host:x/db",
        "neo4j://host/db?tls=maybe", "neo4j://host/db?x=1", "neo4j://user:xyzzy@host/db",
    ],
)  # fmt: skip
def test_another_url_is_refused_without_its_secrets(url: str) -> None:
    with pytest.raises(ValueError, match="GROUNDWIRE_GRAPH_URL") as caught:
        address_of(url)
    assert "xyzzy" not in str(caught.value)


def test_the_scheme_chooses_the_graph() -> None:
    with pytest.raises(ValueError, match="use catalog: or neo4j:"):
        open_graph("janus://host", "sqlite:x")


async def test_a_server_that_is_not_there_is_a_store_that_is_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(neo4j_client, "RETRY_SECONDS", 0.2)
    port = free_port()
    graph = open_graph(f"neo4j://127.0.0.1:{port}/neo4j?tls=false", "sqlite:x")
    for call in (
        lambda: graph.digest("ns", 1),
        lambda: graph.write("ns", GraphNode(1, "doc", frozenset({"xyzzy"})), []),
        lambda: graph.remove("ns", [1]),
    ):
        with pytest.raises(WorldFault, match="cannot be reached") as caught:
            await call()
        assert caught.value.code is Code.STORE_AWAY
        assert not any(word in str(caught.value) for word in ("xyzzy", "127.0.0.1", str(port)))
    await graph.close()


@pytest.mark.parametrize(
    "code",
    [
        "Neo.DatabaseError.Transaction.TransactionCommitFailed",
        "Neo.DatabaseError.General.UnknownError",
        "Neo.TransientError.General.MemoryPoolOutOfMemoryError",
        "Neo.ClientError.Transaction.TransactionTimedOut",
        "Neo.ClientError.Database.DatabaseNotFound",
    ],
)
async def test_trouble_of_the_server_is_a_store_that_is_away(code: str) -> None:
    error = Neo4jError._hydrate_neo4j(code=code, message="xyzzy")
    address = address_of("neo4j://localhost/neo4j?tls=false")
    with pytest.raises(WorldFault, match=code) as caught:
        async with faults(address):
            raise error
    assert "xyzzy" not in str(caught.value)


async def test_a_statement_that_is_wrong_is_a_fault_of_ours() -> None:
    error = Neo4jError._hydrate_neo4j(code="Neo.ClientError.Statement.SyntaxError", message="x")
    with pytest.raises(RuntimeError, match="SyntaxError"):
        async with faults(address_of("neo4j://localhost/neo4j?tls=false")):
            raise error
