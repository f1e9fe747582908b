"""The catalog's conformance suites over SQLite."""

from collections.abc import AsyncIterator

import pytest

from libs.runtime.catalog.sql import SqlCatalog, open_catalog
from tests.contract.suites.catalog_chunks import ChunkStoreSuite
from tests.contract.suites.catalog_documents import DocumentStoreSuite
from tests.contract.suites.catalog_erasure import ErasureSuite
from tests.contract.suites.catalog_jobs import JobAdmissionSuite
from tests.contract.suites.catalog_keys import KeyStoreSuite
from tests.contract.suites.catalog_ledger import JobLedgerSuite
from tests.contract.suites.catalog_races import CatalogRaceSuite
from tests.contract.suites.catalog_runs import RunStoreSuite
from tests.support.catalogs import fast_folder, fresh_database


class Sqlite:
    """A database a test, and two catalogs over it, as two services would have them."""

    @pytest.fixture
    async def url(self) -> AsyncIterator[str]:
        with fast_folder() as folder:
            yield await fresh_database(folder)

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


class TestKeys(Sqlite, KeyStoreSuite):
    pass


class TestAdmission(Sqlite, JobAdmissionSuite):
    pass


class TestLedger(Sqlite, JobLedgerSuite):
    pass


class TestDocuments(Sqlite, DocumentStoreSuite):
    pass


class TestErasure(Sqlite, ErasureSuite):
    pass


class TestChunks(Sqlite, ChunkStoreSuite):
    pass


class TestRuns(Sqlite, RunStoreSuite):
    pass


class TestRaces(Sqlite, CatalogRaceSuite):
    pass
