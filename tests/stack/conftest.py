"""Places on the real servers, and the services on them."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.support.proxy import Proxy, proxied
from tests.support.servers import Servers, own_places
from tests.support.stack import Stack, running_stack


@pytest.fixture(scope="module")
def places(servers: Servers) -> Iterator[dict[str, str]]:
    """Settings of all four stores, empty at first."""
    with own_places(servers) as settings:
        yield settings


@pytest.fixture(scope="module")
def search_proxy(places: dict[str, str]) -> Iterator[Proxy]:
    """What stands between the services and the search index."""
    address = urlsplit(places["GROUNDWIRE_INDEX_URL"])
    with proxied(str(address.hostname), int(address.port or 0)) as proxy:
        yield proxy


@pytest.fixture(scope="module")
def stack(servers: Servers, places: dict[str, str], search_proxy: Proxy) -> Iterator[Stack]:
    """The seven services on S3, Postgres, OpenSearch and Neo4j together, traced in Jaeger.

    Two pages of a PDF are two shards, and what failed is tried again soon.
    """
    address = urlsplit(places["GROUNDWIRE_INDEX_URL"])
    index = address._replace(netloc=f"{address.hostname}:{search_proxy.port}").geturl()
    settings = {
        **places,
        **servers["jaeger"].settings,
        "GROUNDWIRE_INDEX_URL": index,
        "GROUNDWIRE_SHARD_OVER_PAGES": "1",
        "GROUNDWIRE_SHARD_PAGES": "1",
        "GROUNDWIRE_RETRY_SECONDS": "0.5",
        "OTEL_BSP_SCHEDULE_DELAY": "200",
    }
    with running_stack(**settings) as running:
        yield running
