"""The real servers, started once for all tests of this folder."""

from collections.abc import Iterator

import pytest

from tests.support.servers import Servers, servers_in_a_folder


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    with servers_in_a_folder() as servers:
        yield servers
