"""An endpoint whose vectors are made by the words of a text."""

from collections.abc import AsyncIterator

import pytest

from libs.runtime.inference.remote import EndpointEmbedder
from libs.runtime.models.settings import Endpoint
from tests.contract.suites.embedder import EmbedderSuite
from tests.support.models import DIMENSION, FakeModels


@pytest.fixture(scope="module")
async def remote() -> AsyncIterator[EndpointEmbedder]:
    with FakeModels() as server:
        embedder = EndpointEmbedder(Endpoint(url=server.url, name="BAAI/by-words 1.0"), DIMENSION)
        yield embedder
        await embedder.close()


class TestEndpointEmbedder(EmbedderSuite):
    @pytest.fixture
    async def embedder(self, remote: EndpointEmbedder) -> EndpointEmbedder:
        return remote

    @pytest.mark.skip(reason="the fake endpoint knows words, not what they mean")
    async def test_a_question_is_nearest_to_its_answer(self, embedder: EndpointEmbedder) -> None:
        raise NotImplementedError

    @pytest.mark.skip(reason="it waits for a server and computes nothing")
    async def test_the_event_loop_stays_free(self, embedder: EndpointEmbedder) -> None:
        raise NotImplementedError

    @pytest.mark.skip(reason="one request at a time is not slow enough to be waited for")
    async def test_a_query_never_waits_behind_passages(self, embedder: EndpointEmbedder) -> None:
        raise NotImplementedError
