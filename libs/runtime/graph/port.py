"""The graph port: keyword-overlap edges between documents of a namespace."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

MAX_KEYWORDS = 10_000
MAX_PAGE = 1_000
"""Most nodes of one page."""


@dataclass(frozen=True)
class GraphNode:
    """A document's revision with its keywords; `revn` is the catalog's integer for it."""

    revn: int
    document_id: str
    keywords: frozenset[str]


@dataclass(frozen=True)
class GraphEdge:
    """An undirected edge. `score` is in (0, 1]; `shared` holds at least three keywords.

    Its identity is the pair of revns, the smaller first.
    """

    revn_a: int
    revn_b: int
    score: float
    shared: tuple[str, ...]

    @property
    def edge_id(self) -> str:
        """`<smaller revn>:<larger revn>`."""
        return f"{min(self.revn_a, self.revn_b)}:{max(self.revn_a, self.revn_b)}"


@dataclass(frozen=True)
class Neighbour:
    """The other end of an edge."""

    revn: int
    document_id: str
    score: float
    shared: tuple[str, ...]


@dataclass(frozen=True)
class Around:
    """What a node may be joined to, what it is joined to, and its digest."""

    candidates: list[GraphNode]
    neighbours: list[Neighbour]
    digest: tuple[int, str]


@dataclass(frozen=True)
class NodeEdges:
    """A node with the edges whose smaller end it is, by their larger end."""

    node: GraphNode
    edges: tuple[GraphEdge, ...]


class GraphStore(Protocol):
    """Edges never leave their namespace. Writes MUST be idempotent and whole.

    A store that is away MUST raise `WorldFault(STORE_AWAY)`.
    """

    async def write(self, namespace: str, node: GraphNode, edges: list[GraphEdge]) -> None:
        """Make the node and its edges exactly these, replacing earlier ones of the revision.

        An edge that does not touch the node raises `ValueError`; one whose other end is no
        node of the namespace is not made, and the digest shows it.
        """
        ...

    async def write_all(
        self, namespace: str, nodes: Sequence[tuple[GraphNode, list[GraphEdge]]]
    ) -> None:
        """As `write` for each of these different nodes, all in one transaction; an edge may
        join two of them, and given with both it is one."""
        ...

    async def candidates(
        self, namespace: str, keywords: frozenset[str], minimum_shared: int, limit: int
    ) -> list[GraphNode]:
        """Nodes that share at least `minimum_shared` keywords, most shared first, then by revn."""
        ...

    async def neighbours(self, namespace: str, revn: int, limit: int) -> list[Neighbour]:
        """The node's edges by score, best first, ties by revn."""
        ...

    async def loads(self, namespace: str, revns: list[int]) -> dict[int, tuple[int, float]]:
        """How many edges each of these nodes has, and the lowest score among them; nodes
        without an edge are left out."""
        ...

    async def digest(self, namespace: str, revn: int) -> tuple[int, str]:
        """Count of edges, and sha256 over node id and sorted edge ids, one a line; (0, "")
        when the node is absent."""
        ...

    async def around(
        self, namespace: str, nodes: Sequence[GraphNode], minimum_shared: int, limit: int
    ) -> list[Around]:
        """What `candidates` (none for fewer keywords than `minimum_shared`), `neighbours` and
        `digest` say of each of these different nodes, which need not be stored; each at most
        `limit`.

        One transaction where the store can, since publishing asks it twice. What it says of a
        node MAY be three views.
        """
        ...

    async def page(self, namespace: str, after: int, limit: int) -> list[NodeEdges]:
        """The next nodes of the namespace, by revn, that are above the revn `after` (0 begins).

        MUST return `limit` nodes, at most `MAX_PAGE`, whenever so many follow, and MUST cost
        in proportion to what it returns, however large the graph is. All pages together hold
        every edge once, at its smaller end; only one page is one view.
        """
        ...

    async def remove(self, namespace: str, revns: list[int]) -> int:
        """Remove nodes with their edges; returns how many nodes went."""
        ...

    async def close(self) -> None:
        """Release connections."""
        ...


def graph_digest(revn: int, edge_ids: list[str]) -> tuple[int, str]:
    """The parity digest of one node: what `GraphStore.digest` returns when it is stored."""
    text = "\n".join([str(revn), *sorted(edge_ids)])
    return len(edge_ids), hashlib.sha256(text.encode()).hexdigest()


def page_size(limit: int) -> int:
    """How many nodes a page of at most `limit` may have."""
    return max(0, min(limit, MAX_PAGE))


def check_keywords(keywords: frozenset[str]) -> None:
    """Raise `ValueError` for more keywords than a node or a question may have."""
    if len(keywords) > MAX_KEYWORDS:
        raise ValueError(f"{len(keywords)} keywords of one node: at most {MAX_KEYWORDS}")


def check_written(nodes: Sequence[tuple[GraphNode, list[GraphEdge]]]) -> None:
    """Raise `ValueError` for a node with too many keywords, and for an edge of one that does not
    touch it, or joins it to itself."""
    for node, edges in nodes:
        check_keywords(node.keywords)
        for edge in edges:
            if node.revn not in (edge.revn_a, edge.revn_b) or edge.revn_a == edge.revn_b:
                raise ValueError(
                    f"the edge {edge.edge_id} does not join {node.revn} to another node"
                )
