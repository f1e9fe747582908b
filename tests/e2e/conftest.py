"""One stack for all end-to-end tests that do not break it, and one for those that do."""

from collections.abc import Iterator

import pytest

from tests.support.stack import Stack, running_stack


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    with running_stack() as running:
        yield running


@pytest.fixture(scope="session")
def _narrow() -> Iterator[Stack]:
    with running_stack(
        GROUNDWIRE_JOBS_PER_NAMESPACE="2", GROUNDWIRE_MAX_WAITING="6", GROUNDWIRE_EMBEDDER="none"
    ) as running:
        yield running


@pytest.fixture
def narrow(_narrow: Stack) -> Stack:
    """A stack that has few jobs at once and no vectors, and which a test may break and end."""
    if _narrow.process is None or _narrow.process.poll() is not None:
        _narrow.start()
    return _narrow
