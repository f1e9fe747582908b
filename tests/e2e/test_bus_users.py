"""Seven services on a shared bus, each as its own user: what they may say and hear suffices."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pytest

from deploy.local.ports import free_port
from deploy.local.process import end_with_parent
from libs.contracts.subjects import Stage
from tests.support.documents import MARKDOWN, manual_pdf
from tests.support.folders import run_folder
from tests.support.nats import server_with_users
from tests.support.stack import KEY, START_SECONDS, Stack
from tests.support.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.slow

END_WITH_TESTS = partial(end_with_parent, signal.SIGTERM)
PATIENT = {"milliseconds": 60_000, "tokens": 8000}


def logs(stack: Stack) -> list[Path]:
    return sorted((stack.data / "logs").glob("*.log"))


@contextmanager
def service(stage: Stage, stack: Stack, environment: dict[str, str]) -> Iterator[None]:
    log = (stack.data / "logs" / f"{stage}.log").open("wb")
    process = subprocess.Popen(
        [sys.executable, "-m", f"services.{stage}.app"],
        env=environment, stdout=log, stderr=subprocess.STDOUT, preexec_fn=END_WITH_TESTS,
    )  # fmt: skip
    try:
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)
        log.close()


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with run_folder("users") as folder, ExitStack() as running:
        port = running.enter_context(server_with_users(folder / "nats"))
        made = Stack(folder / "data", free_port())

        def environment(user: str) -> dict[str, str]:
            return {
                **os.environ,
                "GROUNDWIRE_NATS_URL": f"nats://{user}:{user}@127.0.0.1:{port}",
                "GROUNDWIRE_DATA_DIR": str(made.data),
                "GROUNDWIRE_HTTP_PORT": str(made.port),
                "GROUNDWIRE_API_KEY": KEY,
                "GROUNDWIRE_EMBEDDER": "seeded",
                "GROUNDWIRE_SHARD_OVER_PAGES": "1",
                "GROUNDWIRE_SHARD_PAGES": "1",
            }

        subprocess.run(
            [sys.executable, "-m", "libs.client.cli.app", "bootstrap"],
            env=environment("bootstrap"), check=True, timeout=300,
        )  # fmt: skip
        for stage in Stage:
            running.enter_context(service(stage, made, environment(stage)))
        wait_until(made.ready, START_SECONDS, "the services")
        yield made


def test_documents_entries_and_operators_work_without_a_refusal(stack: Stack) -> None:
    stack.ingest("pump.md", MARKDOWN.encode(), document_id="pump", wait_for_dense=True)
    stack.ingest("turbine.pdf", manual_pdf(), document_id="turbine")
    for mode in ("classic", "agentic"):
        assert stack.search("where is grease LGMT-3 used", mode=mode, budget=PATIENT)["evidence"]
    entries = {"file": ("e.csv", b"id,name\nferry,Island ferry\n")}
    with stack.client() as client:
        sent = client.post(f"{stack.base}/collections/boats/entries", files=entries).json()
        assert stack.wait(sent["job_id"])["state"] == "published"
        asked = {"query": "island ferry"}
        found = client.post(f"{stack.base}/collections/boats/search", json=asked).json()
        assert [entry["id"] for entry in found["entries"]] == ["ferry"]
        picture = client.get(f"{stack.base}/documents/turbine/pages/1.png")
        assert picture.status_code == 200
        assert client.put("/v1/pauses/stages/chunker").status_code < 300
        assert client.delete("/v1/pauses/stages/chunker").status_code < 300
        assert client.get("/v1/dead-letters").json()["items"] == []
        assert client.delete(f"{stack.base}/documents/pump").status_code == 202
    refused = [
        line
        for log in logs(stack)
        for line in log.read_text().splitlines()
        if "trouble with the bus" in line and "ermission" in json.loads(line)["detail"]
    ]
    assert refused == []
