"""Which documents of a namespace are joined by what their keywords share (decision 12)."""

from collections.abc import Iterable
from functools import lru_cache

from libs.runtime.graph.port import GraphEdge, GraphNode

MINIMUM_SHARED = 3
MINIMUM_SCORE = 0.8
MAX_EDGES = 20


def overlap_score(one: frozenset[str], other: frozenset[str]) -> float:
    """Total length of the shared keywords over the smaller of both totals, in characters."""
    smaller = min(_length(one), _length(other))
    return sum(map(len, one & other)) / smaller if smaller else 0.0


@lru_cache(maxsize=1024)
def _length(keywords: frozenset[str]) -> int:
    return sum(map(len, keywords))


def possible_edges(node: GraphNode, candidates: Iterable[GraphNode]) -> list[GraphEdge]:
    """Edges to the newest known revision of every other document that shares at least three
    keywords and scores at least 0.8; best first, ties by revn. `revn_b` is the other end."""
    newest: dict[str, GraphNode] = {}
    for candidate in candidates:
        known = newest.get(candidate.document_id)
        if known is None or candidate.revn > known.revn:
            newest[candidate.document_id] = candidate
    newest.pop(node.document_id, None)
    found: list[GraphEdge] = []
    for other in newest.values():
        shared = node.keywords & other.keywords
        if len(shared) < MINIMUM_SHARED:
            continue
        score = overlap_score(node.keywords, other.keywords)
        if score >= MINIMUM_SCORE:
            found.append(GraphEdge(node.revn, other.revn, score, tuple(sorted(shared))))
    return sorted(found, key=lambda edge: (-edge.score, edge.revn_b))
