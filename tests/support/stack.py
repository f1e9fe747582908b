"""A whole local stack for end-to-end tests: `groundwire up` in a folder of its own."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from deploy.local.ports import free_port
from deploy.local.process import end_with_parent
from tests.support.folders import run_folder
from tests.support.waiting import PATIENCE

KEY = "gw_" + "0123456789abcdef" * 2
NAMESPACE = "default"
START_SECONDS = 600.0
STOP_SECONDS = 10.0
TERMINAL = {"published", "failed", "cancelled", "superseded"}


def _end_with_tests() -> None:
    """A run of tests that is killed leaves no stack behind."""
    end_with_parent(signal.SIGTERM)


@dataclass
class Stack:
    """One running stack; `data` is its folder."""

    data: Path
    port: int
    environment: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def base(self) -> str:
        return f"/v1/namespaces/{NAMESPACE}"

    def bus_url(self) -> str:
        """The bus of this stack, credentials included."""
        return (self.data / "run" / "nats.url").read_text().strip()

    def client(self, key: str = KEY, **options: Any) -> httpx.Client:
        """Asks the gateway. It speaks no TLS, whose authorities take longer to load than most
        answers take."""
        headers = {"Authorization": f"Bearer {key}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60, verify=False, **options)

    def start(self) -> None:
        """Start, and wait until every service says that it is ready."""
        environment = {
            **os.environ,
            "GROUNDWIRE_HTTP_PORT": str(self.port),
            "GROUNDWIRE_DATA_DIR": str(self.data),
            "GROUNDWIRE_API_KEY": KEY,
            "GROUNDWIRE_ACK_WAIT_SECONDS": "3",
            **self.environment,
        }
        command = [sys.executable, "-m", "libs.client.cli.app", "up"]
        self.process = subprocess.Popen(
            command, env=environment, stdout=(self.data / "up.log").open("ab"),
            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, preexec_fn=_end_with_tests,
        )  # fmt: skip
        deadline = time.monotonic() + START_SECONDS
        while not self.ready():
            assert self.process.poll() is None, (self.data / "up.log").read_text()
            assert time.monotonic() < deadline, (self.data / "up.log").read_text()
            time.sleep(0.05)

    def ready(self) -> bool:
        """Whether all seven services and the gateway's front door answer."""
        if len(self.services()) < 7:
            return False
        doors = [f"http://127.0.0.1:{port}" for _, port in self.services().values()]
        try:
            for pid, _ in self.services().values():
                os.kill(pid, 0)
            with self.client() as client:
                return all(
                    client.get(f"{door}/readyz", timeout=2).status_code == 200
                    for door in (*doors, self.url)
                )
        except (OSError, httpx.HTTPError):
            return False

    def services(self) -> dict[str, tuple[int, int]]:
        """Process id and probe port of each service that has noted them."""
        found = {}
        for path in (self.data / "run").glob("*.json"):
            try:
                note = json.loads(path.read_text())
                found[path.stem] = (note["pid"], note["probe_port"])
            except (OSError, ValueError, KeyError):
                continue
        return found

    def stop(self, number: int = signal.SIGTERM) -> float:
        """Ask the stack to end; returns how long it took, in seconds."""
        assert self.process is not None
        started = time.monotonic()
        self.process.send_signal(number)
        self.process.wait(STOP_SECONDS)
        return time.monotonic() - started

    def upload(
        self, name: str, data: bytes, *, document_id: str | None = None, **options: Any
    ) -> dict[str, Any]:
        """Send a document; the answer of 202."""
        form = {} if document_id is None else {"document_id": document_id}
        if options:
            form["options"] = json.dumps(options)
        with self.client() as client:
            answer = client.post(f"{self.base}/documents", files={"file": (name, data)}, data=form)
        assert answer.status_code in (200, 202), answer.text
        accepted: dict[str, Any] = answer.json()
        return accepted

    def wait(self, job_id: str, seconds: float = PATIENCE) -> dict[str, Any]:
        """The job, once its state is final."""
        deadline = time.monotonic() + seconds
        with self.client() as client:
            while True:
                answer = client.get(f"{self.base}/jobs/{job_id}")
                assert answer.status_code == 200, answer.text
                job: dict[str, Any] = answer.json()
                if job["state"] in TERMINAL:
                    return job
                assert time.monotonic() < deadline, job
                time.sleep(0.02)

    def ingest(self, name: str, data: bytes, **options: Any) -> dict[str, Any]:
        """Send a document and wait until it is published; the answer of 202."""
        accepted = self.upload(name, data, **options)
        job = self.wait(accepted["job_id"])
        assert job["state"] == "published", job
        return accepted

    def search(self, query: str, **fields: Any) -> dict[str, Any]:
        """The evidence envelope of a query, which may take its time on a busy machine."""
        asked = {"query": query, "budget": {"milliseconds": 60_000}, **fields}
        with self.client() as client:
            answer = client.post(f"{self.base}/search", json=asked)
        assert answer.status_code == 200, answer.text
        envelope: dict[str, Any] = answer.json()
        return envelope

    def get(self, path: str) -> httpx.Response:
        """A GET below the namespace."""
        with self.client() as client:
            return client.get(f"{self.base}{path}")


@contextmanager
def running_stack(**environment: str) -> Iterator[Stack]:
    """A fresh stack, ended and removed afterwards."""
    with run_folder("stack") as folder:
        stack = Stack(folder, free_port(), environment)
        try:
            stack.start()
            yield stack
        finally:
            if stack.process is not None and stack.process.poll() is None:
                try:
                    stack.stop()
                except subprocess.TimeoutExpired:
                    stack.process.kill()
