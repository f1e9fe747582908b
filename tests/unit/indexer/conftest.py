"""A whole indexer over embedded stores of its own."""

from collections.abc import AsyncIterator

import pytest

from services.indexer.deps import Deps
from tests.support.catalogs import fast_folder
from tests.unit.indexer.embedded import embedded


@pytest.fixture
async def deps() -> AsyncIterator[Deps]:
    with fast_folder() as folder:
        async with embedded(folder) as made:
            yield made
