from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from libs.runtime.inference.e5 import E5Embedder
from tests.contract.suites.embedder import TOLERANCE, EmbedderSuite


@pytest.fixture(scope="module")
async def e5(model_cache: Path) -> AsyncIterator[E5Embedder]:
    embedder = E5Embedder(model_cache)
    yield embedder
    await embedder.close()


class TestE5Embedder(EmbedderSuite):
    @pytest.fixture
    async def embedder(self, e5: E5Embedder) -> E5Embedder:
        return e5

    async def test_query_and_passage_have_their_prefixes(self, embedder: E5Embedder) -> None:
        passage = (await embedder.embed_passages(["rivers"]))[0]
        assert np.abs(passage - await embedder.embed_query("rivers")).max() > 10 * TOLERANCE

    async def test_two_embedders_agree(self, embedder: E5Embedder, model_cache: Path) -> None:
        other = E5Embedder(model_cache, threads=1)
        try:
            texts = ["rivers and bridges", "강과 다리"]
            ours, theirs = [await each.embed_passages(texts) for each in (embedder, other)]
            assert np.abs(ours - theirs).max() < TOLERANCE
        finally:
            await other.close()
