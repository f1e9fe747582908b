"""`groundwire bootstrap` makes what the stores need, and may be run again."""

import asyncio
from pathlib import Path

import psycopg
import pytest

from deploy.local.bootstrap import bootstrap
from libs.runtime.graph import neo4j_client
from libs.runtime.index import opensearch_client
from libs.runtime.objects import s3_client
from libs.runtime.objects.s3_place import S3Place
from libs.runtime.settings import Settings
from tests.support.nats import nats_server
from tests.support.servers import Servers, own_places


async def made(settings: Settings) -> dict[str, int]:
    """How much each store holds of what bootstrap makes."""
    places = [
        S3Place.of(u) for u in (settings.resolved_objects_url(), settings.resolved_inbox_url())
    ]
    clients = [(s3_client.connect(p, settings.objects_keys(), 1), p.bucket) for p in places]
    found = {"buckets": sum(client.bucket_exists(bucket) for client, bucket in clients)}

    address = opensearch_client.address_of(settings.resolved_index_url())
    index = opensearch_client.connect(address, settings.index_secret())
    found["indices"] = len(await index.indices.get(index=f"{address.prefix}-*"))
    await index.close()

    graph = neo4j_client.address_of(settings.resolved_graph_url())
    async with neo4j_client.connect(graph, settings.graph_secret()) as driver:
        async with driver.session(database=graph.database) as session:
            names = await (await session.run("SHOW CONSTRAINTS YIELD name")).value("name")
    found["constraints"] = sum(name.startswith("groundwire_") for name in names)

    with psycopg.connect(settings.resolved_catalog_url()) as catalog:
        count = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
        found["tables"] = catalog.execute(count).fetchone()[0]
        keys = catalog.execute("SELECT to_regclass('api_key')").fetchone()[0]
        found["keys"] = catalog.execute("SELECT count(*) FROM api_key").fetchone()[0] if keys else 0
    return found


def test_what_the_stores_need_is_made_once(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with own_places(servers) as places, nats_server(tmp_path / "nats") as bus:
        for name, value in places.items():
            monkeypatch.setenv(name, value)
        settings = Settings(nats_url=bus, data_dir=tmp_path / "data")
        assert asyncio.run(made(settings))["buckets"] == 0
        bootstrap(settings)
        first = asyncio.run(made(settings))
        bootstrap(settings)
        assert asyncio.run(made(settings)) == first
    assert first["tables"] > 5
    assert {k: v for k, v in first.items() if k != "tables"} == {
        "buckets": 2,
        "indices": 1,
        "constraints": 2,
        "keys": 1,
    }
