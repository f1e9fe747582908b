"""A stack whose catalog, search index and graph are lost comes back from its objects."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.documents import MARKDOWN, of_every_format
from tests.support.stack import KEY, Stack, running_stack
from tests.support.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.slow

CONTENT = ("active", "chunk", "section", "graph_node", "graph_keyword", "graph_edge", "hit")
KEPT = "SELECT * FROM revision WHERE state = 'published'"
DOCUMENTS = "SELECT * FROM document WHERE state = 'active'"


@pytest.fixture
def stack() -> Iterator[Stack]:
    with running_stack() as running:
        yield running


def groundwire(stack: Stack, *command: str) -> "subprocess.CompletedProcess[str]":
    environment = {
        **os.environ,
        "GROUNDWIRE_URL": stack.url,
        "GROUNDWIRE_API_KEY": KEY,
        "GROUNDWIRE_DATA_DIR": str(stack.data),
    }
    return subprocess.run(
        [sys.executable, "-m", "libs.client.cli.app", *command],
        env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip


def snippet(stack: Stack, name: str, **given: str) -> str:
    """What a snippet of the operators' guide prints."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "GROUNDWIRE_API_KEY": KEY,
        "GROUNDWIRE_DATA_DIR": str(stack.data),
        **given,
    }
    done = subprocess.run(
        ["sh", str(ROOT / "docs" / "snippets" / name)],
        env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def rows(stack: Stack) -> dict[str, list[Any]]:
    queries = {name: f"SELECT * FROM {name}" for name in CONTENT}
    with closing(sqlite3.connect(stack.data / "catalog.db")) as connection:
        return {
            name: sorted(connection.execute(query), key=repr)
            for name, query in {**queries, "revision": KEPT, "document": DOCUMENTS}.items()
        }


def whole(stack: Stack, query: str) -> list[dict[str, Any]]:
    """The evidence of every channel, however busy the machine is, in the order of its ids.

    Scores are left out: an index made anew counts no words of what was removed from the old one.
    """
    answer = stack.search(query, top_k=50, budget={"milliseconds": 60_000})
    assert answer["status"] == "ok", answer
    pieces = [{**piece, "score": None} for piece in answer["evidence"]]
    return sorted(pieces, key=lambda piece: (piece["document_id"], piece["chunk_id"]))


def evidence(stack: Stack) -> dict[str, Any]:
    return {query: whole(stack, query) for _, query in of_every_format().values()}


def settled(stack: Stack) -> bool:
    """Whether every active document has its vectors."""
    items = stack.get("/documents?limit=100").json()["items"]
    return all(one["dense_coverage"] == 1.0 for one in items if one["state"] == "active")


def test_a_backup_made_beside_the_services_is_restored_elsewhere(
    stack: Stack, tmp_path: Path
) -> None:
    for name in ("pump.md", "parts.csv"):
        stack.ingest(name, of_every_format()[name][0], document_id=name.replace(".", "-"))
    with stack.client() as client:
        made = client.post("/v1/keys", json={"namespace": "default", "role": "reader"}).json()
    wait_until(lambda: settled(stack))
    found = whole(stack, "grease LGMT-3")
    elsewhere = tmp_path / "elsewhere"
    said = snippet(stack, "backup.sh", BACKUP=str(tmp_path / "kept"), RESTORED=str(elsewhere))
    assert said.splitlines()[-1] == "the stores agree"
    stack.stop()
    restored = Stack(elsewhere, stack.port)
    restored.start()
    try:
        assert whole(restored, "grease LGMT-3") == found
        with restored.client(made["secret"]) as client:
            assert client.get(f"{restored.base}/documents").status_code == 200
    finally:
        restored.stop()


def test_everything_but_the_objects_is_lost_and_comes_back(stack: Stack) -> None:
    for name, (data, _) in of_every_format().items():
        stack.ingest(name, data, document_id=name.replace(".", "-"))
    changed = MARKDOWN.replace("LGMT-3", "LGMT-2").encode()
    stack.ingest("pump.md", changed, document_id="pump-md")
    with stack.client() as client:
        back = client.post(f"{stack.base}/documents/pump-md/revisions/1/activate")
        assert back.status_code == 200
        patched = client.patch(f"{stack.base}/documents/safety-txt", json={"year": 2001})
        assert patched.status_code == 200
        erasing = client.delete(f"{stack.base}/documents/parts-csv").json()
        path = f"{stack.base}/erasures/{erasing['erasure_id']}"
        wait_until(lambda: client.get(path).json()["state"] == "erased")
        receipt = client.get(path).json()
    wait_until(lambda: settled(stack))
    found = evidence(stack)
    assert "pump-md" in {piece["document_id"] for piece in found["grease LGMT-3"]}
    wait_until(lambda: groundwire(stack, "check").returncode == 0)

    refused = groundwire(stack, "rebuild")
    assert refused.returncode == 1
    assert "in use by process" in refused.stderr

    stack.stop()
    before = rows(stack)
    for name in ("catalog.db", "catalog.db-wal", "catalog.db-shm"):
        (stack.data / name).unlink(missing_ok=True)
    shutil.rmtree(stack.data / "index")
    assert "the stores agree" in snippet(stack, "rebuild.sh")
    done = groundwire(stack, "rebuild", "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["troubles"]) == (0, [])
    assert report["documents"] == len(of_every_format()) - 1
    after = rows(stack)
    hits = after.pop("hit")
    assert set(hits) <= set(before.pop("hit"))
    assert after == before
    agreed = groundwire(stack, "check", "--json")
    assert json.loads(agreed.stdout)["drift"] == []

    stack.start()
    assert evidence(stack) == found
    with stack.client() as client:
        assert client.get(path).json() == receipt
    shutil.rmtree(stack.data / "objects" / "default" / "deck-pptx" / "1" / "source")
    drift = groundwire(stack, "check")
    assert drift.returncode == 1
    assert "default/deck-pptx revision 1\tobjects\tlacks source" in drift.stdout
