from collections.abc import AsyncIterator

import pytest

from libs.runtime.inference.use import UseEmbedder
from tests.contract.suites.embedder import EmbedderSuite

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
async def use() -> AsyncIterator[UseEmbedder]:
    embedder = UseEmbedder()
    yield embedder
    await embedder.close()


class TestUseEmbedder(EmbedderSuite):
    @pytest.fixture
    async def embedder(self, use: UseEmbedder) -> UseEmbedder:
        return use
