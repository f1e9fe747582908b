"""A sandbox whose functions misbehave, and a folder in which its children leave their pids."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from libs.runtime.sandbox.limits import Limits
from libs.runtime.sandbox.sandbox import Sandbox
from tests.support.waiting import PATIENCE
from tests.unit.sandbox.misbehaviour import FUNCTIONS

SECRETS = ("GROUNDWIRE_API_KEY", "AWS_SECRET_ACCESS_KEY", "OTEL_EXPORTER_OTLP_HEADERS")
LIMITS = Limits(
    wall_seconds=PATIENCE, stall_seconds=PATIENCE, cpu_seconds=20, memory_mb=200, file_mb=8
)


@pytest.fixture(scope="module")
async def sandbox(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Sandbox]:
    scratch = tmp_path_factory.mktemp("scratch")
    made = Sandbox(FUNCTIONS, scratch, limits=LIMITS, slots=4)
    with pytest.MonkeyPatch.context() as patch:
        for name in SECRETS:
            patch.setenv(name, "secret")
        await made.start()
    yield made
    (root,) = scratch.iterdir()
    assert [p.name for p in root.iterdir()] == [".owner"], "an attempt left its folder"
    await made.close()
    assert list(scratch.iterdir()) == []


@pytest.fixture
def pids(tmp_path: Path) -> Path:
    folder = tmp_path / "pids"
    folder.mkdir()
    return folder


def pids_in(folder: Path) -> set[int]:
    return {int(p.name.rpartition("-")[2]) for p in folder.iterdir()}


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"
