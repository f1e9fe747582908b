"""OpenSearch, run through the suite, and what only that adapter promises."""

import uuid
from collections.abc import AsyncIterator

import pytest

from libs.runtime.index.opensearch_client import address_of, connect
from libs.runtime.index.opensearch_index import OpenSearchIndex
from tests.contract.suites.index import (
    MakeIndex,
    SearchIndexSuite,
)
from tests.support.servers import Servers


@pytest.fixture
async def url(servers: Servers) -> AsyncIterator[str]:
    """A place for one test's indices, removed afterwards."""
    given = servers["opensearch"].settings["GROUNDWIRE_INDEX_URL"]
    prefix = f"test-{uuid.uuid4().hex[:12]}"
    yield given.replace("/groundwire?", f"/{prefix}?")
    client = connect(address_of(given), None)
    await client.indices.delete(index=f"{prefix}-*", ignore=404)
    await client.close()


class TestOpenSearchIndex(SearchIndexSuite):
    @pytest.fixture
    def make_index(self, url: str) -> MakeIndex:
        return lambda _writer: OpenSearchIndex(url)

    @pytest.fixture
    def index_source(self, url: str) -> str:
        return (
            "from libs.runtime.index.opensearch_index import OpenSearchIndex\n"
            f"def open_index(writer): return OpenSearchIndex({url!r})\n"
        )
