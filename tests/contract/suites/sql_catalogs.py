"""What the catalog's suites need over any SQL database that a fixture `url` names."""

from collections.abc import AsyncIterator

import pytest

from libs.runtime.catalog.sql import SqlCatalog, open_catalog


class TwoCatalogs:
    """Two catalogs over one database, as two services would have them."""

    @pytest.fixture
    def opening(self, url: str) -> str:
        return (
            "from libs.runtime.catalog.sql import open_catalog\n"
            f"def open_one(): return open_catalog({url!r})\n"
        )

    @pytest.fixture
    async def catalog(self, url: str) -> AsyncIterator[SqlCatalog]:
        catalog = open_catalog(url)
        yield catalog
        await catalog.close()

    @pytest.fixture
    async def other(self, url: str) -> AsyncIterator[SqlCatalog]:
        catalog = open_catalog(url)
        yield catalog
        await catalog.close()

    @pytest.fixture
    async def empty(self, empty_url: str) -> AsyncIterator[SqlCatalog]:
        """A catalog over a database of its own, without rows."""
        catalog = open_catalog(empty_url)
        yield catalog
        await catalog.close()
