"""One stack for all end-to-end tests that do not break it."""

from collections.abc import Iterator

import pytest

from tests.support.stack import Stack, running_stack


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    with running_stack() as running:
        yield running
