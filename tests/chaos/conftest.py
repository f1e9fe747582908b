"""Places for the chaos suite, and the table that a run of it leaves behind."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos import table
from tests.support.folders import mounted_below, remove
from tests.support.servers import Servers, own_places

DISK_BYTES = 256 << 20


@pytest.fixture(scope="session")
def disk(servers: Servers) -> Iterator[Path | None]:
    """A small disk of its own below the catalog's server; None where that runs already, or where
    only root could make it."""
    place = servers.folder / "postgres"
    mount = shutil.which("mount")
    if os.geteuid() != 0 or mount is None or place.exists():
        yield None
        return
    place.mkdir()
    options = f"size={DISK_BYTES},mode=0711"
    made = subprocess.run([mount, "-t", "tmpfs", "-o", options, "tmpfs", str(place)], check=False)
    yield place if made.returncode == 0 else None
    servers.stop()
    remove(place)
    assert not mounted_below(place)


@pytest.fixture(scope="module")
def places(servers: Servers, disk: Path | None) -> Iterator[dict[str, str]]:
    """Settings of all four stores, empty at first."""
    with own_places(servers) as settings:
        yield settings


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Keep the results, but for those of the sample that runs beside other suites."""
    if not session.config.getoption("markexpr"):
        from tests.chaos import test_publish, test_services

        table.write([*test_services.ROWS, *test_publish.ROWS])
