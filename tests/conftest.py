"""Fixtures that tests of every area share."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from libs.runtime.models.tokens import TokenEstimate

if TYPE_CHECKING:
    from tests.support.servers import Servers

settings.register_profile("whole", deadline=None)
settings.register_profile("quick", deadline=None, max_examples=30)
settings.load_profile("quick")


def pytest_configure(config: pytest.Config) -> None:
    """Marks of folders below; a run that is told to end ends its servers first."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    config.addinivalue_line(
        "markers", "chaos: cases of the chaos suite that are not in the sample of `make test-stack`"
    )


@pytest.fixture(scope="session")
def model_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache root for the packaged embedder, so that one run converts it once."""
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def token_estimate(model_cache: Path) -> TokenEstimate:
    """Estimates of tokens, with a vocabulary that one run loads once."""
    return TokenEstimate(model_cache)


@pytest.fixture(scope="session")
def servers() -> "Iterator[Servers]":
    """The real servers, each started when a test of the stack first asks for it."""
    from tests.support.servers import servers_in_a_folder

    with servers_in_a_folder() as servers:
        yield servers
