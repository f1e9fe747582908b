"""Start, stop, restart: nothing is left behind and nothing is lost."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.support.documents import MARKDOWN
from tests.support.stack import KEY, Stack, running_stack
from tests.support.waiting import PATIENCE, wait_until


@pytest.fixture(scope="module")
def own() -> Iterator[Stack]:
    """A stack of this module, which its tests may break and mend; the last one ends it."""
    with running_stack() as running:
        yield running


def descendants(pid: int) -> set[int]:
    """Every living process below `pid`."""
    parents: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as stat:
                    fields = stat.read().rsplit(")", 1)[1].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(entry))
    found: set[int] = set()
    todo = [pid]
    while todo:
        for child in parents.get(todo.pop(), []):
            found.add(child)
            todo.append(child)
    return found


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_a_dead_service_is_started_again(own: Stack) -> None:
    for name in ("retriever", "gateway"):
        pid, _ = own.services()[name]
        os.kill(pid, 9)
        wait_until(
            lambda name=name, pid=pid: own.services().get(name, (pid, 0))[0] != pid and own.ready(),
            what=f"{name} after its end",
        )
    own.ingest("pump.md", MARKDOWN.encode())
    assert own.search("four M12 anchors", top_k=1)["evidence"]


def test_the_life_of_a_stack(own: Stack) -> None:
    accepted = own.ingest("pump.md", MARKDOWN.encode())
    before = own.get(f"/documents/{accepted['document_id']}/chunks").content

    second = subprocess.run(
        [sys.executable, "-m", "libs.client.cli.app", "up"],
        env={**os.environ, "GROUNDWIRE_HTTP_PORT": str(own.port),
             "GROUNDWIRE_DATA_DIR": str(own.data / "other"), "GROUNDWIRE_API_KEY": KEY},
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert second.returncode == 1
    assert str(own.port) in second.stdout + second.stderr

    family = descendants(own.process.pid)
    assert len(family) >= 8
    assert own.stop() < 5
    assert own.process.returncode == 0
    assert [pid for pid in family if alive(pid)] == []

    own.start()
    after = own.get(f"/documents/{accepted['document_id']}/chunks").content
    assert after == before
    assert own.search("grease LGMT-3", top_k=1)["evidence"][0]["source_file_name"] == "pump.md"


def test_the_logs_are_json_and_hold_no_document_text(own: Stack) -> None:
    secret = "zanzibarquokka"
    accepted = own.ingest(f"{secret}.md", f"# {secret}\n\nThe {secret} sleeps.\n".encode())
    own.search(secret)
    own.upload("bad.pdf", f"%PDF-1.4 {secret}".encode())
    with own.client() as client:
        client.post(f"{own.base}/search", json={"query": secret, "top_k": secret})
    own.stop()
    lines = 0
    for log in (own.data / "logs").glob("*.log"):
        for line in log.read_text(errors="replace").splitlines():
            assert secret not in line, (log.name, line)
            if log.stem in own.services():
                json.loads(line)
                lines += 1
    assert lines > 7
    assert accepted["job_id"]
