"""Start, stop, restart: nothing is left behind and nothing is lost."""

import json
import os
import subprocess
import sys

from tests.support.documents import MARKDOWN
from tests.support.stack import KEY, Stack
from tests.support.waiting import PATIENCE, wait_until


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


def test_a_dead_service_is_started_again(narrow: Stack) -> None:
    for name in ("retriever", "gateway"):
        pid, _ = narrow.services()[name]
        os.kill(pid, 9)
        wait_until(
            lambda name=name, pid=pid: (
                narrow.services().get(name, (pid, 0))[0] != pid and narrow.ready()
            ),
            what=f"{name} after its end",
        )
    narrow.ingest("pump.md", MARKDOWN.encode())
    assert narrow.search("four M12 anchors", top_k=1)["evidence"]


def test_the_life_of_a_stack(narrow: Stack) -> None:
    accepted = narrow.ingest("pump.md", MARKDOWN.encode())
    before = narrow.get(f"/documents/{accepted['document_id']}/chunks").content

    second = subprocess.run(
        [sys.executable, "-m", "libs.client.cli.app", "up"],
        env={**os.environ, "GROUNDWIRE_HTTP_PORT": str(narrow.port),
             "GROUNDWIRE_DATA_DIR": str(narrow.data / "other"), "GROUNDWIRE_API_KEY": KEY},
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert second.returncode == 1
    assert str(narrow.port) in second.stdout + second.stderr

    family = descendants(narrow.process.pid)
    assert len(family) >= 8
    assert narrow.stop() < 5
    assert narrow.process.returncode == 0
    assert [pid for pid in family if alive(pid)] == []

    narrow.start()
    after = narrow.get(f"/documents/{accepted['document_id']}/chunks").content
    assert after == before
    assert narrow.search("grease LGMT-3", top_k=1)["evidence"][0]["source_file_name"] == "pump.md"


def test_the_logs_are_json_and_hold_no_document_text(narrow: Stack) -> None:
    secret = "zanzibarquokka"
    accepted = narrow.ingest(f"{secret}.md", f"# {secret}\n\nThe {secret} sleeps.\n".encode())
    narrow.search(secret)
    narrow.upload("bad.pdf", f"%PDF-1.4 {secret}".encode())
    with narrow.client() as client:
        client.post(f"{narrow.base}/search", json={"query": secret, "top_k": secret})
    narrow.stop()
    lines = 0
    for log in (narrow.data / "logs").glob("*.log"):
        for line in log.read_text(errors="replace").splitlines():
            assert secret not in line, (log.name, line)
            if log.stem in narrow.services():
                json.loads(line)
                lines += 1
    assert lines > 7
    assert accepted["job_id"]
