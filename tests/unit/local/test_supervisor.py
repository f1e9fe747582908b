"""The supervisor with made-up services, seen from outside as a process."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.waiting import PATIENCE, wait_until

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = Path(__file__).with_name("fake_stack.py")

Start = Callable[..., subprocess.Popen[str]]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    running: list[subprocess.Popen[str]] = []

    def begin(*services: str, stop_seconds: float = 2.0) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, str(SCRIPT), str(tmp_path), str(stop_seconds), *services],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        wait_until(lambda: all(starts(tmp_path, name) for name in services))
        return process

    yield begin
    for process in running:
        process.terminate()  # a killed one could not end what its services left behind
        try:
            process.wait(PATIENCE)
        finally:
            process.kill()
            process.wait()
    pids = {int(line.split()[0]) for f in tmp_path.glob("*.starts") for line in f.open()}
    assert not [pid for pid in pids if alive(pid)], "the tests of the supervisor leave processes"


def starts(folder: Path, name: str) -> list[tuple[int, float]]:
    """Process id and moment of every start of a service so far."""
    try:
        lines = (folder / f"{name}.starts").read_text().splitlines()
    except FileNotFoundError:
        return []
    return [(int(pid), float(moment)) for pid, moment in (line.split() for line in lines)]


def test_a_killed_service_is_started_again_and_the_others_go_on(
    start: Start, tmp_path: Path
) -> None:
    process = start("steady", "deaf")
    [(killed, _)] = starts(tmp_path, "deaf")
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: len(starts(tmp_path, "deaf")) == 2)
    process.terminate()
    said, _ = process.communicate(timeout=PATIENCE)
    assert "deaf ended (SIGKILL), starts again in 0.2 s" in said
    assert len(starts(tmp_path, "steady")) == 1


def test_what_a_dead_service_started_dies_before_it_is_started_again(
    start: Start, tmp_path: Path
) -> None:
    start("leaving")
    wait_until(lambda: bool(starts(tmp_path, "leaving-child")))
    [(service, _)] = starts(tmp_path, "leaving")
    [(child, _)] = starts(tmp_path, "leaving-child")
    os.kill(service, signal.SIGKILL)
    wait_until(lambda: not alive(child))
    wait_until(lambda: len(starts(tmp_path, "leaving")) == 2)


def test_a_crashing_service_is_started_again_after_growing_pauses(
    start: Start, tmp_path: Path
) -> None:
    start("crashing")
    wait_until(lambda: len(starts(tmp_path, "crashing")) >= 4)
    moments = [moment for _, moment in starts(tmp_path, "crashing")]
    pauses = [after - before for before, after in pairwise(moments)]
    assert pauses[0] >= 0.2
    assert pauses[1] >= 0.4
    assert pauses[2] >= 0.8


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_end_is_clean_and_bounded_and_leaves_no_process(
    start: Start, tmp_path: Path, number: signal.Signals
) -> None:
    process = start("bus", "steady", "deaf", "leaving")
    for name in ("leaving-orphan", "leaving-child"):
        wait_until(lambda name=name: bool(starts(tmp_path, name)))
    pids = [
        pid
        for name in ("bus", "steady", "deaf", "leaving", "leaving-orphan", "leaving-child")
        for pid, _ in starts(tmp_path, name)
    ]
    process.send_signal(number)
    assert process.wait(PATIENCE) == 0
    assert not [pid for pid in pids if alive(pid)]
    ends = (tmp_path / "ends").read_text().split()
    assert sorted(ends[:-1]) == ["leaving", "steady"]
    assert ends[-1] == "bus", "the bus must end after the services that need it"


def test_a_second_signal_kills_at_once(start: Start, tmp_path: Path) -> None:
    process = start("steady", "deaf", stop_seconds=60.0)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    wait_until(lambda: (tmp_path / "ends").exists())
    assert process.poll() is None, "the same wish, heard twice, is not a second one"

    def ended() -> bool:
        process.send_signal(signal.SIGINT)
        return process.poll() is not None

    wait_until(ended)
    assert not alive(starts(tmp_path, "deaf")[0][0])


def test_nothing_outlives_a_killed_supervisor(start: Start, tmp_path: Path) -> None:
    process = start("steady", "deaf", "bus")
    pids = [pid for name in ("steady", "deaf", "bus") for pid, _ in starts(tmp_path, name)]
    process.kill()
    wait_until(lambda: not [pid for pid in pids if alive(pid)])


def test_killed_tests_leave_no_process(tmp_path: Path) -> None:
    """The made-up stack itself ends with the process that started it."""
    command = [sys.executable, str(SCRIPT), str(tmp_path), "0.5", "steady", "deaf", "leaving"]
    begin = f"import subprocess, time; subprocess.Popen({command!r}); time.sleep(600)"
    tests = subprocess.Popen(
        [sys.executable, "-c", begin], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    names = ("steady", "deaf", "leaving", "leaving-orphan", "leaving-child")
    try:
        wait_until(lambda: all(starts(tmp_path, name) for name in names))
    finally:
        tests.kill()
        tests.wait()
    pids = [pid for name in names for pid, _ in starts(tmp_path, name)]
    wait_until(lambda: not [pid for pid in pids if alive(pid)])
