"""The catalog's conformance suites over Postgres."""

import asyncio
import itertools
import traceback
from collections.abc import AsyncIterator
from typing import Any

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from psycopg.rows import dict_row
from sqlalchemy import Connection, exc, func, insert, inspect, select, update

from libs.contracts.events.base import now
from libs.contracts.faults import Code, WorldFault
from libs.runtime.catalog.sql import SqlCatalog, open_catalog, upgrade
from libs.runtime.catalog.sql.graph_schema import graph_node
from libs.runtime.catalog.sql.postgres import postgres_engine
from libs.runtime.catalog.sql.schema import namespace
from libs.runtime.catalog.sql.upgrade import downgrade
from libs.runtime.graph.port import GraphNode
from libs.runtime.graph.sql import CatalogGraph
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
from tests.contract.suites.graph import GraphStoreSuite
from tests.contract.suites.sql_catalogs import TwoCatalogs
from tests.support.catalogs import NS, chunks, flipped, ready, running, tree
from tests.support.postgres import empty_database, migrated_template, url_of
from tests.support.servers import Servers, servers_in_a_folder


class Postgres(TwoCatalogs):
    """A database a test."""

    @pytest.fixture
    async def url(self, servers: Servers) -> AsyncIterator[str]:
        server = servers["postgres"]
        with empty_database(server, await migrated_template(server)) as url:
            yield url

    @pytest.fixture
    async def empty_url(self, servers: Servers) -> AsyncIterator[str]:
        server = servers["postgres"]
        with empty_database(server, await migrated_template(server)) as url:
            yield url


class TestKeys(Postgres, KeyStoreSuite):
    pass


class TestAudit(Postgres, AuditStoreSuite):
    pass


class TestAdmission(Postgres, JobAdmissionSuite):
    pass


class TestLedger(Postgres, JobLedgerSuite):
    pass


class TestDocuments(Postgres, DocumentStoreSuite):
    pass


class TestErasure(Postgres, ErasureSuite):
    pass


class TestChunks(Postgres, ChunkStoreSuite):
    pass


class TestRuns(Postgres, RunStoreSuite):
    pass


class TestCorpus(Postgres, CorpusStoreSuite):
    pass


class TestDump(Postgres, CatalogDumpSuite):
    pass


class TestRaces(Postgres, CatalogRaceSuite):
    pass


class TestGraph(Postgres, GraphStoreSuite):
    @pytest.fixture
    async def graph(self, url: str) -> AsyncIterator[CatalogGraph]:
        graph = CatalogGraph(open_catalog(url))
        yield graph
        await graph.close()


class TestDatabase(Postgres):
    async def test_a_broken_rule_is_a_bug_and_never_shows_values(self, catalog: SqlCatalog) -> None:
        def add(connection: Connection) -> None:
            connection.execute(
                insert(namespace).values(name="a-secret-name", corpus_version=0, created_at=now())
            )

        await catalog.database.write(add)
        with pytest.raises(exc.IntegrityError, match="pk_namespace") as caught:
            await catalog.database.write(add)
        shown = "".join(traceback.format_exception(caught.value))
        assert "a-secret-name" not in shown

    async def test_colliding_writes_are_run_again(
        self, catalog: SqlCatalog, other: SqlCatalog
    ) -> None:
        await catalog.keys.create_namespace(NS)
        runs = itertools.count()

        def grow(connection: Connection) -> None:
            next(runs)
            seen = connection.execute(select(namespace.c.corpus_version)).scalar_one()
            connection.execute(update(namespace).values(corpus_version=seen + 1))

        await asyncio.gather(*(each.database.write(grow) for each in (catalog, other) * 10))
        assert await catalog.documents.corpus_version(NS) == 20
        assert next(runs) >= 20

    async def test_a_read_may_not_write(self, catalog: SqlCatalog) -> None:
        def write(connection: Connection) -> None:
            connection.execute(update(namespace).values(corpus_version=1))

        with pytest.raises(WorldFault, match="25006"):
            await catalog.database.read(write)

    async def test_a_read_whose_connection_is_lost_is_run_again(
        self, catalog: SqlCatalog, url: str
    ) -> None:
        runs = itertools.count()

        def look(connection: Connection) -> int:
            pid = connection.execute(select(func.pg_backend_pid())).scalar_one()
            if next(runs) == 0:
                with psycopg.connect(url) as other:
                    other.execute("SELECT pg_terminate_backend(%s)", [pid])
            return connection.execute(select(7)).scalar_one()

        assert await catalog.database.read(look) == 7
        assert next(runs) == 2

    async def test_a_write_whose_connection_is_lost_before_its_commit_is_run_again(
        self, catalog: SqlCatalog, url: str
    ) -> None:
        runs = itertools.count()

        def add(connection: Connection) -> None:
            connection.execute(
                insert(namespace).values(name=NS, corpus_version=0, created_at=now())
            )
            pid = connection.execute(select(func.pg_backend_pid())).scalar_one()
            if next(runs) == 0:
                with psycopg.connect(url) as other:
                    other.execute("SELECT pg_terminate_backend(%s)", [pid])
            connection.execute(select(7))

        await catalog.database.write(add)
        assert await catalog.keys.list_namespaces() == [NS]
        assert next(runs) == 2

    async def test_a_write_that_loses_its_connection_again_and_again_is_a_fault(
        self, catalog: SqlCatalog, url: str
    ) -> None:
        def never(connection: Connection) -> None:
            pid = connection.execute(select(func.pg_backend_pid())).scalar_one()
            with psycopg.connect(url) as other:
                other.execute("SELECT pg_terminate_backend(%s)", [pid])
            connection.execute(select(7))

        with pytest.raises(WorldFault):
            await catalog.database.write(never)

    async def test_a_password_may_come_apart_from_the_url(self, url: str) -> None:
        user, _, rest = url.removeprefix("postgresql://").partition(":")
        password, _, place = rest.partition("@")
        for given, fine in ((password, True), ("not-the-right-one", False)):
            catalog = open_catalog(f"postgresql://{user}@{place}", given)
            if fine:
                await catalog.ping()
            else:
                with pytest.raises(WorldFault) as fault:
                    await catalog.ping()
                assert fault.value.code is Code.STORE_AWAY
                assert given not in str(fault.value)
            await catalog.close()

    async def test_without_tables_the_fault_says_what_to_run(self, servers: Servers) -> None:
        with empty_database(servers["postgres"]) as url:
            catalog = open_catalog(url)
            with pytest.raises(WorldFault, match="groundwire bootstrap"):
                await catalog.ping()
            await catalog.close()

    async def test_a_server_that_was_killed_comes_back_with_what_it_acknowledged(self) -> None:
        with servers_in_a_folder() as own:
            url = url_of(own["postgres"], "groundwire")
            await upgrade(url)
            catalog = open_catalog(url)
            assert await catalog.keys.create_namespace(NS)
            own["postgres"].kill()
            with pytest.raises(WorldFault):
                await catalog.keys.create_namespace("lost")
            own.start("postgres")
            assert await catalog.keys.list_namespaces() == [NS]
            await catalog.close()


def contents(url: str) -> dict[str, list[dict[str, Any]]]:
    """The rows of every table, but for the version of the schema."""
    with psycopg.connect(url, row_factory=dict_row) as connection:
        listed = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        names = sorted({row["tablename"] for row in listed} - {"alembic_version"})
        return {
            name: connection.execute(f'SELECT * FROM "{name}" ORDER BY 1, 2').fetchall()
            for name in names
        }


class TestMigrations:
    async def test_they_make_exactly_the_tables(self, servers: Servers) -> None:
        with empty_database(servers["postgres"]) as url:
            await upgrade(url)
            await upgrade(url)
            engine = postgres_engine(url, None, 1)
            with engine.begin() as connection:
                context = MigrationContext.configure(connection, opts={"compare_type": True})
                assert compare_metadata(context, graph_node.metadata) == []
            engine.dispose()

    async def test_up_from_the_previous_version_and_down_again_keep_the_rows(
        self, servers: Servers
    ) -> None:
        with empty_database(servers["postgres"]) as url:
            await upgrade(url, target="0001")
            catalog = open_catalog(url)
            job = await ready(catalog, "doc")
            await upgrade(url)
            assert await catalog.jobs.get(NS, job.job_id) == job
            await downgrade(url, "0001")
            assert await catalog.jobs.get(NS, job.job_id) == job
            await upgrade(url)
            await catalog.close()
            await downgrade(url, "base")
            engine = postgres_engine(url, None, 1)
            assert inspect(engine).get_table_names() == ["alembic_version"]
            engine.dispose()
            await upgrade(url)

    async def test_a_step_down_and_up_again_loses_only_what_is_of_that_step(
        self, servers: Servers
    ) -> None:
        with empty_database(servers["postgres"]) as url:
            await upgrade(url)
            catalog, graph = open_catalog(url), CatalogGraph(open_catalog(url))
            first = await running(catalog, "doc", source="first")
            await catalog.chunks.stage(1, chunks("one", "two"), tree("Part"))
            assert await flipped(catalog, first) == "flipped"
            job = await ready(catalog, "doc", source="second")
            await graph.write(NS, GraphNode(1, "doc", frozenset({"one", "two"})), [])
            assert await catalog.keys.pause(NS, True)
            before = contents(url)
            steps = ["0003", "0002", "0001"]
            for version in steps:
                await downgrade(url, version)
                below = contents(url)
                for table, rows in below.items():
                    for row, kept in zip(rows, before[table], strict=True):
                        assert row.items() <= kept.items(), (version, table)
                await upgrade(url)
                assert {name: len(rows) for name, rows in contents(url).items()} == {
                    name: len(below.get(name, [])) for name in before
                }
                assert (await catalog.jobs.get(NS, job.job_id)) == job
                assert (NS in await catalog.keys.paused()) == (version == "0003")
            assert await catalog.keys.pause(NS, True)
            await graph.write(NS, GraphNode(1, "doc", frozenset({"one", "two"})), [])
            assert contents(url).keys() == before.keys()
            await graph.close()
            await catalog.close()

    async def test_they_may_race(self, servers: Servers) -> None:
        with empty_database(servers["postgres"]) as url:
            await asyncio.gather(*(upgrade(url) for _ in range(4)))
            catalog = open_catalog(url)
            await catalog.ping()
            await catalog.close()

    async def test_a_newer_schema_is_left_alone(self, servers: Servers) -> None:
        with empty_database(servers["postgres"]) as url:
            await upgrade(url)
            with psycopg.connect(url) as connection:
                connection.execute("UPDATE alembic_version SET version_num = '9999'")
            await upgrade(url)
            with psycopg.connect(url) as connection:
                kept = connection.execute("SELECT version_num FROM alembic_version").fetchall()
            assert kept == [("9999",)]
