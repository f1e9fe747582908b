"""The seven services on real servers: a document's way in, a query's way out, and erasure."""

import json
from collections.abc import Iterator
from urllib.request import urlopen

import pytest

from tests.support.documents import of_every_format
from tests.support.servers import Servers
from tests.support.stack import Stack, running_stack

STORES = ("seaweedfs", "postgres", "jaeger")


@pytest.fixture(scope="module")
def stack(servers: Servers) -> Iterator[Stack]:
    settings = {k: v for name in STORES for k, v in servers[name].settings.items()}
    with running_stack(**settings) as running:
        yield running


@pytest.mark.parametrize("name", ["pump.md", "turbine.pdf", "sign.png"])
def test_a_document_is_found_and_erased(stack: Stack, name: str) -> None:
    data, query = of_every_format()[name]
    accepted = stack.ingest(name, data)
    found = stack.search(query)["evidence"]
    assert found[0]["document_id"] == accepted["document_id"]
    source = stack.get(f"/documents/{accepted['document_id']}/source")
    assert source.content == data
    with stack.client() as client:
        client.delete(f"{stack.base}/documents/{accepted['document_id']}").raise_for_status()
    gone = stack.search(query)["evidence"]
    assert accepted["document_id"] not in {one["document_id"] for one in gone}


def test_spans_of_the_services_reach_jaeger(stack: Stack, servers: Servers) -> None:
    data, _ = of_every_format()["safety.txt"]
    stack.ingest("safety.txt", data)
    query = servers["jaeger"].addresses["query"]
    with urlopen(f"{query}/api/services", timeout=10) as answer:
        told = json.load(answer)["data"]
    assert any("gateway" in service for service in told), told
