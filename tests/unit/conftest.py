"""Fixtures that tests of several units share."""

from collections.abc import Iterator

import pytest

from tests.support.models import FakeModels


@pytest.fixture(scope="module")
def running() -> Iterator[FakeModels]:
    with FakeModels() as server:
        yield server


@pytest.fixture
def server(running: FakeModels) -> FakeModels:
    running.reset()
    return running
