"""The catalog's conformance suites over SQLite."""

from collections.abc import AsyncIterator

import pytest

from tests.contract.suites.catalog_audit import AuditStoreSuite
from tests.contract.suites.catalog_chunks import ChunkStoreSuite
from tests.contract.suites.catalog_corpus import CorpusStoreSuite
from tests.contract.suites.catalog_documents import DocumentStoreSuite
from tests.contract.suites.catalog_dump import CatalogDumpSuite
from tests.contract.suites.catalog_erasure import ErasureSuite
from tests.contract.suites.catalog_jobs import JobAdmissionSuite
from tests.contract.suites.catalog_keys import KeyStoreSuite
from tests.contract.suites.catalog_ledger import JobLedgerSuite
from tests.contract.suites.catalog_races import CatalogRaceSuite
from tests.contract.suites.catalog_runs import RunStoreSuite
from tests.contract.suites.sql_catalogs import TwoCatalogs
from tests.support.catalogs import fast_folder, fresh_database


class Sqlite(TwoCatalogs):
    """A database a test."""

    @pytest.fixture
    async def url(self) -> AsyncIterator[str]:
        with fast_folder() as folder:
            yield await fresh_database(folder)

    @pytest.fixture
    async def empty_url(self) -> AsyncIterator[str]:
        with fast_folder() as folder:
            yield await fresh_database(folder)


class TestKeys(Sqlite, KeyStoreSuite):
    pass


class TestAudit(Sqlite, AuditStoreSuite):
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


class TestCorpus(Sqlite, CorpusStoreSuite):
    pass


class TestDump(Sqlite, CatalogDumpSuite):
    pass


class TestRaces(Sqlite, CatalogRaceSuite):
    pass
