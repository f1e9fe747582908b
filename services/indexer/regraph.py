"""The graph made again: edges as `graph.json` has them, since they follow the order in which
documents came; what that file does not know is joined as a publish would."""

from collections.abc import Callable

from libs.contracts.artefacts.corpus import CorpusEdge, CorpusGraph
from libs.contracts.artefacts.manifest import Manifest
from libs.runtime.artefacts import load_json
from libs.runtime.corpusfiles import GRAPH, PAGE, load_corpus_file
from libs.runtime.graph.port import GraphEdge, GraphNode, GraphStore
from services.indexer.deps import Deps
from services.indexer.kept import Kept
from services.indexer.linking import link


async def regraph(
    deps: Deps, namespace: str, kept: list[Kept], tell: Callable[[int], None]
) -> tuple[int, int]:
    """Make the namespace's graph exactly that of these revisions, given by rising revn;
    returns how many nodes and edges it has. `tell` hears how many nodes are done."""
    graph = deps.stores.graph
    await _remove_others(graph, namespace, {one.revn for one in kept})
    file = await load_corpus_file(deps.stores.objects, namespace, GRAPH, CorpusGraph)
    lower = _edges_to_lower(file, kept)
    for done, one in enumerate(kept):
        tell(done)
        node, edges = await _node(deps, one), lower.get(one.revn)
        if edges is None:
            await link(graph, namespace, node)
        else:
            await graph.write(namespace, node, edges)
    return len(kept), await _count_edges(graph, namespace)


async def _node(deps: Deps, one: Kept) -> GraphNode:
    manifest = await load_json(deps.stores.objects, one.file.artefacts["manifest.json"], Manifest)
    return GraphNode(one.revn, one.document_id, frozenset(manifest.keywords))


def _edges_to_lower(file: CorpusGraph | None, kept: list[Kept]) -> dict[int, list[GraphEdge]]:
    """Edges of each node that the file knows, at their larger end: written by rising revn, both
    ends are there when an edge comes. The file's revns are those of the documents' files."""
    if file is None:
        return {}
    now = {(one.document_id, one.file.revn): one.revn for one in kept}
    named = {node.revn: now.get((node.document_id, node.revn)) for node in file.nodes}
    lower: dict[int, list[GraphEdge]] = {revn: [] for revn in named.values() if revn is not None}
    for node in file.nodes:
        for edge in node.edges:
            ends = named.get(node.revn), named.get(edge.revn)
            if ends[0] is not None and ends[1] is not None:
                lower[max(ends[0], ends[1])].append(_edge(ends[0], ends[1], edge))
    return lower


def _edge(one: int, other: int, edge: CorpusEdge) -> GraphEdge:
    return GraphEdge(min(one, other), max(one, other), edge.score, tuple(edge.shared))


async def _remove_others(graph: GraphStore, namespace: str, kept: set[int]) -> None:
    after = 0
    while page := await graph.page(namespace, after, PAGE):
        after = page[-1].node.revn
        others = [one.node.revn for one in page if one.node.revn not in kept]
        if others:
            await graph.remove(namespace, others)


async def _count_edges(graph: GraphStore, namespace: str) -> int:
    after, count = 0, 0
    while page := await graph.page(namespace, after, PAGE):
        after = page[-1].node.revn
        count += sum(len(one.edges) for one in page)
    return count
