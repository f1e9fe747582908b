"""A store that is killed at any call of a publish leaves the old revision or the new one."""

import asyncio
import random
from collections.abc import AsyncIterator, Iterator

import pytest

from libs.contracts.faults import Code, WorldFault
from libs.runtime.catalog.sql import upgrade
from libs.runtime.graph import neo4j_client
from libs.runtime.index import opensearch_writer
from libs.runtime.objects.factory import prepare_objects
from libs.runtime.settings import Settings
from libs.runtime.stores import Stores
from libs.runtime.work import Work
from services.indexer.handlers import on_chunked, on_published
from tests.chaos.publishing import (
    NS,
    Interruption,
    Moment,
    assert_whole,
    chunked,
    deps,
    interrupted,
    leftovers,
    published,
)
from tests.support.proxy import Proxy
from tests.support.relays import relayed

SEED = 5
MOST_CALLS = 5
"""Of a store's calls in a publish so many are picked, the first and the last among them."""


@pytest.fixture(scope="module")
def relays(places: dict[str, str]) -> Iterator[tuple[dict[str, Proxy], dict[str, str]]]:
    with relayed(places) as relays:
        yield relays


@pytest.fixture(scope="module")
async def stores(
    relays: tuple[dict[str, Proxy], dict[str, str]],
) -> AsyncIterator[Stores]:
    """What services see, through the relays; an impatient graph driver."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neo4j_client, "RETRY_SECONDS", 2.0)
        patch.setattr(opensearch_writer, "BUSY_DELAYS", (0.1,))
        for name, value in relays[1].items():
            patch.setenv(name, value)
        settings = Settings(_env_file=None, embedder="none")
        await upgrade(settings.resolved_catalog_url())
        keys = settings.objects_keys()
        await asyncio.to_thread(prepare_objects, settings.resolved_objects_url(), keys)
        stores = Stores(settings)
        await stores.catalog.keys.create_namespace(NS)
        yield stores
        await stores.close()


async def publish(stores: Stores, document_id: str, edition: int):
    """Publish a revision undisturbed; returns its event."""
    event = await chunked(stores, document_id, edition)
    await on_chunked(deps(stores), event, Work(event.job_id))
    await on_published(deps(stores), published(event), Work(event.job_id))
    await assert_whole(stores, event)
    return event


async def calls_of(stores: Stores, store: str, relay: Proxy, document_id: str) -> int:
    """How many calls of the store a publish makes."""
    never = Interruption(relay, "before", at=-1)
    event = await chunked(stores, document_id, 1)
    await on_chunked(deps(interrupted(stores, store, never)), event, Work(event.job_id))
    return never.calls


def picked(count: int, store: str) -> list[int]:
    """Which calls are interrupted: all of few, else the ends and a seeded choice between."""
    if count <= MOST_CALLS:
        return list(range(1, count + 1))
    between = random.Random(f"{SEED} {store}").sample(range(2, count), MOST_CALLS - 2)
    return [1, *sorted(between), count]


@pytest.mark.parametrize("moment", ["before", "during", "after"])
@pytest.mark.parametrize("store", ["objects", "catalog", "index", "graph"])
async def test_a_store_killed_at_a_call_leaves_the_old_revision_or_the_new_one(
    stores: Stores,
    relays: tuple[dict[str, Proxy], dict[str, str]],
    store: str,
    moment: Moment,
) -> None:
    relay = relays[0][store]
    document_id = f"{store}-{moment}"
    old = await publish(stores, document_id, 0)
    count = await calls_of(stores, store, relay, f"{document_id}-counted")
    assert count >= 2
    for at in picked(count, store):
        event = await chunked(stores, document_id, at)
        one = Interruption(relay, moment, at)
        try:
            await on_chunked(deps(interrupted(stores, store, one)), event, Work(event.job_id))
        except WorldFault as fault:
            assert fault.code is Code.STORE_AWAY
        else:
            assert moment != "before"
        finally:
            relay.restore()
        assert one.reached
        record = await stores.catalog.documents.revision(NS, document_id)
        assert record is not None
        await assert_whole(stores, event if record.revision == event.revision else old)

        again = deps(stores)
        await on_chunked(again, event, Work(event.job_id))
        await on_published(again, published(event), Work(event.job_id))
        await assert_whole(stores, event)
        assert await leftovers(stores, document_id) == []
        old = event
