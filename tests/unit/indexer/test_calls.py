"""How often a small document asks each store: what a publish costs on servers is these calls."""

from collections import Counter

from services.indexer.handlers import on_chunked, on_published
from tests.support.fakes import Crash, World
from tests.unit.indexer.making import TEXT, chunked, deps, published, work

STORES = ("chunks", "documents", "graph", "index", "objects")

BUDGET = {
    "documents.revision": 1,
    "objects.get": 4,  # chunks, manifest, profile, sections
    "objects.put": 5,  # those four at their lasting keys, and the document's file
    "objects.copy": 1,  # each other artefact
    "chunks.stage": 1,
    "chunks.digest": 1,
    "index.write": 1,
    "graph.around": 2,
    "graph.loads": 1,
    "graph.write_all": 1,
    "documents.flip": 1,
    "documents.get": 1,
    "documents.revisions": 1,
    "objects.delete_prefix": 1,
}
"""Of a first revision of five artefacts, beside a document that shares its keywords."""


async def calls_of(text: str) -> tuple[Counter[str], int]:
    """What publishing asks of the stores, by store and method, and of how many chunks."""
    world, counted = World(), Crash(0, done=False)
    first = await chunked(world, "doc-1")
    await on_chunked(deps(world), first, work(first))
    event = await chunked(world, "doc-2", text=text)
    await on_chunked(deps(world, counted), event, work(event))
    await on_published(deps(world, counted), published(event), work(event))
    calls = {kind: n for kind, n in counted.kinds.items() if kind.partition(".")[0] in STORES}
    return Counter(calls), event.chunk_count


async def test_a_small_document_asks_no_more_than_its_budget() -> None:
    assert await calls_of(TEXT) == (BUDGET, 3)


async def test_a_longer_document_asks_no_more_often() -> None:
    calls, chunks = await calls_of(TEXT * 400)
    assert chunks >= 20
    assert calls.total() <= sum(BUDGET.values())
