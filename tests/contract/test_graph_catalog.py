"""The graph's conformance suite over the catalog's tables."""

from collections.abc import AsyncIterator

import pytest

from libs.runtime.catalog.sql import open_catalog
from libs.runtime.graph.port import MAX_KEYWORDS
from libs.runtime.graph.sql import CatalogGraph
from tests.contract.suites.graph import GraphStoreSuite, node
from tests.support.catalogs import NS, fast_folder, fresh_database


class TestCatalogGraph(GraphStoreSuite):
    @pytest.fixture
    async def graph(self) -> AsyncIterator[CatalogGraph]:
        with fast_folder() as folder:
            graph = CatalogGraph(open_catalog(await fresh_database(folder)))
            yield graph
            await graph.close()

    async def test_too_many_keywords_are_refused(self, graph: CatalogGraph) -> None:
        crowd = [str(number) for number in range(MAX_KEYWORDS + 1)]
        with pytest.raises(ValueError, match=str(MAX_KEYWORDS)):
            await graph.write(NS, node(1, *crowd), [])
        with pytest.raises(ValueError, match=str(MAX_KEYWORDS)):
            await graph.candidates(NS, frozenset(crowd), 1, 1)
