"""What must be there before a service starts, in the stores and on the bus, and the local key.

Idempotent: run it as often as you like, against the embedded stores or given servers.
"""

import asyncio

import nats
import nats.errors

from deploy.local.folder import DataFolder
from deploy.local.key import key_record, local_key
from libs.contracts.faults import Fault
from libs.contracts.subjects import DEAD, OUTCOMES
from libs.runtime.buslogin import login_of
from libs.runtime.catalog.sql.upgrade import upgrade
from libs.runtime.graph.factory import prepare_graph
from libs.runtime.index.factory import prepare_index
from libs.runtime.objects.factory import prepare_objects
from libs.runtime.settings import Settings
from libs.runtime.stores import Stores
from libs.runtime.streams import bootstrap as make_streams

CONNECT_SECONDS = 5
DAY_SECONDS = 86_400.0


async def _bus(settings: Settings) -> None:
    if settings.nats_url is None:
        raise SystemExit("GROUNDWIRE_NATS_URL is not set, so there is no bus to prepare")
    client = await nats.connect(**login_of(settings.nats_url).briefly(CONNECT_SECONDS))
    try:
        await make_streams(
            client.jetstream(),
            settings.prefix,
            ack_wait=settings.ack_wait_seconds,
            replicas=settings.bus_replicas,
            max_ages={
                DEAD: settings.dead_letter_days * DAY_SECONDS,
                OUTCOMES: settings.outcome_days * DAY_SECONDS,
            },
        )
    finally:
        await client.close()


async def _key(settings: Settings, secret: str) -> None:
    stores = Stores(settings)
    try:
        await stores.catalog.keys.add(key_record(secret, settings.namespace))
    finally:
        await stores.close()


async def _catalog(settings: Settings) -> None:
    await upgrade(settings.resolved_catalog_url(), settings.catalog_secret())


async def _objects(settings: Settings) -> None:
    keys = settings.objects_keys()
    for url in (settings.resolved_objects_url(), settings.resolved_inbox_url()):
        await asyncio.to_thread(prepare_objects, url, keys)


async def _index(settings: Settings) -> None:
    await prepare_index(settings.resolved_index_url(), settings.index_secret())


async def _graph(settings: Settings) -> None:
    await prepare_graph(settings.resolved_graph_url(), settings.graph_secret())


async def prepare_stores(settings: Settings) -> None:
    """Make tables, buckets, indices and constraints; idempotent."""
    await asyncio.gather(*(make(settings) for make in (_catalog, _objects, _index, _graph)))


async def _prepare(settings: Settings, secret: str) -> None:
    await prepare_stores(settings)
    await asyncio.gather(_bus(settings), _key(settings, secret))


def bootstrap(settings: Settings) -> None:
    """Make tables, buckets, indices and constraints, then the bus's streams, durables and
    key-value buckets, and the local key.

    Raises `SystemExit` with a sentence when a store or the bus cannot be reached.
    """
    folder = DataFolder(settings.data_dir.absolute())
    folder.make()
    secret = local_key(settings, folder)
    try:
        asyncio.run(_prepare(settings, secret))
    except Fault as fault:
        raise SystemExit(fault.detail) from None
    except ValueError as error:
        raise SystemExit(f"a store's URL is wrong: {error}") from None
    except (OSError, nats.errors.Error) as error:
        raise SystemExit(
            f"the message bus cannot be prepared: {error or type(error).__name__}"
        ) from None
