"""What the stores hold of revisions that nobody knows: left behind, and never found by a search."""

from collections.abc import AsyncIterator

from libs.runtime.catalog.port import Catalog
from libs.runtime.corpusfiles import PAGE, Corpus
from libs.runtime.index.port import SearchIndex


async def strangers(corpus: Corpus, index: SearchIndex, name: str) -> set[tuple[str, int]]:
    """Stores and revns of which they hold something in a namespace, though the revision was
    collected, its document erased, or there never was one."""
    strange = await _unknown(corpus, name, "search", sorted(await index.revisions(name)))
    async for page in _nodes(corpus, name):
        strange |= await _unknown(corpus, name, "graph", page)
    async for page in _rows(corpus, name):
        strange |= await _unknown(corpus, name, "catalog", page)
    return strange


async def forget_strangers(catalog: Catalog, index: SearchIndex, name: str) -> None:
    """Remove from the index what it holds of them."""
    held = await index.revisions(name)
    strange = sorted(held - await catalog.corpus.living(name, sorted(held)))
    for start in range(0, len(strange), PAGE):
        await index.remove(name, strange[start : start + PAGE])


async def _unknown(corpus: Corpus, name: str, store: str, revns: list[int]) -> set[tuple[str, int]]:
    living = await corpus.catalog.corpus.living(name, revns)
    return {(store, revn) for revn in revns if revn not in living}


async def _nodes(corpus: Corpus, name: str) -> AsyncIterator[list[int]]:
    after = 0
    while page := await corpus.graph.page(name, after, PAGE):
        after = page[-1].node.revn
        yield [one.node.revn for one in page]


async def _rows(corpus: Corpus, name: str) -> AsyncIterator[list[int]]:
    after = 0
    while page := await corpus.catalog.corpus.staged(name, after, PAGE):
        after = page[-1]
        yield page
