"""What is done within a transaction of Neo4j, and how rows become what the port speaks of."""

import hashlib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from libs.runtime.graph import neo4j_statements as cypher
from libs.runtime.graph.port import GraphEdge, GraphNode, Neighbour, graph_digest

if TYPE_CHECKING:
    from neo4j import AsyncManagedTransaction

MAX_ROWS = 10_000
BATCH = 500

R = TypeVar("R")
Row = dict[str, Any]
Work = Callable[["AsyncManagedTransaction"], Awaitable[R]]


def looking(
    asked: dict[str, Any], keys: list[str]
) -> Work[tuple[list[list[GraphNode]], list[Row]]]:
    """The candidates of each node that `CANDIDATES` is asked about, and the edges of `keys`."""

    async def work(tx: "AsyncManagedTransaction") -> tuple[list[list[GraphNode]], list[Row]]:
        places = await rows_of(tx, cypher.CANDIDATES, asked)
        wanted = sorted({row["key"] for row in places})
        rows = await rows_of(tx, cypher.NODES, {"keys": wanted}) if wanted else []
        nodes = {row["key"]: node_of(row) for row in rows}
        near: list[list[GraphNode]] = [[] for _ in asked["nodes"]]
        for row in places:
            if row["key"] in nodes:
                near[row["place"]].append(nodes[row["key"]])
        return near, await rows_of(tx, cypher.EDGES, {"keys": keys}) if keys else []

    return work


def writing(namespace: str, nodes: Sequence[tuple[GraphNode, list[GraphEdge]]]) -> Work[None]:
    """Make nodes and their edges exactly these; keywords that nothing has any more go."""
    rows = sorted(
        (
            {
                "key": key_of(namespace, node.revn),
                "namespace": namespace,
                "revn": node.revn,
                "document_id": node.document_id,
                "keywords": sorted(node.keywords),
            }
            for node, _ in nodes
        ),
        key=lambda row: str(row["key"]),
    )
    keys = [row["key"] for row in rows]
    words = sorted(
        (word, key_of(namespace, node.revn))
        for node, _ in nodes
        for word in _words(namespace, node.keywords)
    )
    having = [{"word": word, "key": key} for word, key in words]
    edges = _edge_rows(namespace, [edge for _, given in nodes for edge in given])

    async def work(tx: "AsyncManagedTransaction") -> None:
        before = await _column(tx, cypher.KEYWORDS_OF, "word", keys=keys)
        await run(tx, cypher.PUT_NODES, nodes=rows)
        for some in batches(having):
            await run(tx, cypher.PUT_KEYWORDS, words=some)
        for part in batches(edges):
            await run(tx, cypher.PUT_EDGES, edges=part)
        await _sweep(tx, set(before) - {word for word, _ in words})

    return work


def removal(keys: list[str]) -> Work[int]:
    """Remove nodes with their edges; how many there were."""

    async def work(tx: "AsyncManagedTransaction") -> int:
        words = await _column(tx, cypher.KEYWORDS_OF, "word", keys=keys)
        gone = await _column(tx, cypher.REMOVE, "gone", keys=keys)
        await _sweep(tx, words)
        return int(gone[0])

    return work


async def _sweep(tx: "AsyncManagedTransaction", words: Iterable[str]) -> None:
    for some in batches(sorted(words)):
        await run(tx, cypher.SWEEP_KEYWORDS, words=some)


async def run(tx: "AsyncManagedTransaction", /, statement: str, **parameters: Any) -> None:
    """Run a statement whose rows nobody needs."""
    await (await tx.run(statement, parameters)).consume()


async def rows_of(
    tx: "AsyncManagedTransaction", statement: str, asked: dict[str, Any]
) -> list[Row]:
    """The rows of a statement."""
    return await (await tx.run(statement, asked)).data()


async def _column(
    tx: "AsyncManagedTransaction", statement: str, name: str, **parameters: Any
) -> list[Any]:
    return await (await tx.run(statement, parameters)).value(name)


def key_of(namespace: str, revn: int) -> str:
    """The key of a node."""
    return f"{namespace}/{revn}"


def _words(namespace: str, keywords: Iterable[str]) -> list[str]:
    """Keys of keywords, sorted, so that two writers lock them in the same order."""
    return sorted(
        hashlib.sha256(f"{namespace}\0{word}".encode("utf-8", "replace")).hexdigest()
        for word in keywords
    )


def _edge_rows(namespace: str, edges: list[GraphEdge]) -> list[dict[str, Any]]:
    rows = {
        edge.edge_id: {
            "a": key_of(namespace, min(edge.revn_a, edge.revn_b)),
            "b": key_of(namespace, max(edge.revn_a, edge.revn_b)),
            "score": edge.score,
            "shared": list(edge.shared),
        }
        for edge in edges
    }
    return [rows[edge_id] for edge_id in sorted(rows)]


def batches(rows: list[R]) -> Iterator[list[R]]:
    """The rows, at most `BATCH` at a time."""
    for start in range(0, len(rows), BATCH):
        yield rows[start : start + BATCH]


def sharing(
    namespace: str, wanted: Sequence[frozenset[str]], minimum: int, limit: int
) -> dict[str, Any]:
    """What `CANDIDATES` is asked with; of no keywords there are none."""
    words = [_words(namespace, keywords) for keywords in wanted]
    return {"nodes": words, "minimum": minimum, "limit": bounded(limit)}


def node_of(row: Row) -> GraphNode:
    """The node of a row that has all of it."""
    return GraphNode(row["revn"], row["document_id"], frozenset(row["keywords"]))


def neighbour_of(row: Row) -> Neighbour:
    """The other end of an edge, of a row that has all of it."""
    return Neighbour(row["revn"], row["document_id"], row["score"], tuple(row["shared"]))


def digest_of(revn: int, rows: list[Row]) -> tuple[int, str]:
    """Of the rows that `EDGES` gives for the node."""
    if not rows:
        return 0, ""
    others = [row["revn"] for row in rows if row["revn"] is not None]
    return graph_digest(revn, [f"{min(revn, one)}:{max(revn, one)}" for one in others])


def bounded(limit: int) -> int:
    """A limit as the database may be asked with."""
    return max(0, min(limit, MAX_ROWS))
