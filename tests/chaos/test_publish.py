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
from tests.chaos import table
from tests.chaos.publishing import (
    NS,
    Interruption,
    Moment,
    assert_whole,
    chunked,
    deps,
    interrupted,
    leftovers,
    publish,
)
from tests.support.proxy import Proxy
from tests.support.relays import relayed

SEED = 5
MOST_CALLS = 5
"""Of a store's calls in a publish so many are picked, the first and the last among them; of the
sample's that runs beside other suites, one."""


@pytest.fixture(scope="module")
def relays(places: dict[str, str]) -> Iterator[tuple[dict[str, Proxy], dict[str, str]]]:
    with relayed(places) as relays:
        yield relays


@pytest.fixture(scope="module")
def most_calls(request: pytest.FixtureRequest) -> int:
    return 1 if request.config.getoption("markexpr") else MOST_CALLS


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
        settings = Settings(_env_file=None, embedder="seeded")
        await upgrade(settings.resolved_catalog_url())
        keys = settings.objects_keys()
        await asyncio.to_thread(prepare_objects, settings.resolved_objects_url(), keys)
        stores = Stores(settings)
        await stores.catalog.keys.create_namespace(NS)
        yield stores
        await stores.close()


async def calls_of(stores: Stores, store: str, relay: Proxy, document_id: str) -> int:
    """How many calls of the store a publish makes."""
    never = Interruption(relay, "before", at=-1)
    event = await chunked(stores, document_id, 1)
    await publish(deps(interrupted(stores, store, never)), event)
    return never.calls


def picked(count: int, most: int, case: str) -> list[int]:
    """Which calls are interrupted: all of few, else a seeded choice, the ends among them where
    there is room for more."""
    if count <= most:
        return list(range(1, count + 1))
    choice = random.Random(f"{SEED} {case}")
    if most < 3:
        return sorted(choice.sample(range(1, count + 1), most))
    return [1, *sorted(choice.sample(range(2, count), most - 2)), count]


STORES = ("objects", "catalog", "index", "graph")
MOMENTS: dict[Moment, str] = {
    "before": "killed before a call of a publish",
    "during": "killed in a call of a publish that it has done",
    "after": "killed after a call of a publish",
}
HELD = "the old revision or the new one, whole in all stores; tried again the new one, no orphan"

ROWS = [(what, store) for what in MOMENTS.values() for store in STORES]
"""Of the table in `docs/reliability.md`."""


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("store", STORES)
async def test_a_store_killed_at_a_call_leaves_the_old_revision_or_the_new_one(
    stores: Stores,
    relays: tuple[dict[str, Proxy], dict[str, str]],
    most_calls: int,
    store: str,
    moment: Moment,
) -> None:
    case = (MOMENTS[moment], store)
    table.note(case, "FAILED")
    relay = relays[0][store]
    document_id = f"{store}-{moment}"
    old = await chunked(stores, document_id, 0)
    await publish(deps(stores), old)
    await assert_whole(stores, old)
    count = await calls_of(stores, store, relay, f"{document_id}-counted")
    assert count >= 2
    for at in picked(count, most_calls, f"{store} {moment}"):
        event = await chunked(stores, document_id, at)
        one = Interruption(relay, moment, at)
        try:
            await publish(deps(interrupted(stores, store, one)), event)
        except WorldFault as fault:
            assert fault.code is Code.STORE_AWAY
        else:
            assert moment != "before"
        finally:
            relay.restore()
        assert one.reached
        record = await stores.catalog.documents.revision(NS, document_id)
        assert record is not None
        new = record.revision == event.revision
        await assert_whole(stores, event if new else old, dense=not new)

        await publish(deps(stores), event)
        await assert_whole(stores, event)
        assert await leftovers(stores, document_id) == []
        old = event
    table.note(case, HELD)
