"""kill -9 of any one service in the middle of a batch loses nothing and doubles nothing."""

import os
import time

import pytest

from tests.support.documents import KOREAN, MARKDOWN, manual_pdf
from tests.support.stack import Stack, running_stack
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.slow
VICTIMS = ("parser", "indexer", "gateway", "profiler", "chunker")
AMID = 12
"""So many documents are sent before the kill, the rest after it."""


def batch() -> dict[str, tuple[str, bytes]]:
    """Twenty documents: document id → (file name, bytes)."""
    documents = {}
    for n in range(20):
        name, data = (
            ("turbine.pdf", manual_pdf()),
            (f"pump-{n}.md", f"{MARKDOWN}\n## Variant {n}\n\nSerial number {n}.\n".encode()),
            (f"rule-{n}.txt", f"{KOREAN}\n제{n}조 (번호) {n}번 규정.\n".encode()),
        )[n % 3]
        documents[f"doc-{n:02d}"] = (name, data)
    return documents


def run(stack: Stack, prefix: str, victim: str | None) -> dict[str, bytes]:
    """Ingest the batch, killing the victim in the middle; the chunks by document."""
    jobs: dict[str, str] = {}
    for document_id, (name, data) in batch().items():
        jobs[document_id] = upload_until_taken(stack, name, data, f"{prefix}-{document_id}")
        if victim is not None and len(jobs) == AMID:
            wait_through_restarts(stack, jobs["doc-00"])  # every service has work by now
            pid, _ = stack.services()[victim]
            os.kill(pid, 9)
    chunks = {}
    for document_id, job_id in jobs.items():
        job = wait_through_restarts(stack, job_id)
        assert job["state"] == "published", job
        chunks[document_id] = stack.get(f"/documents/{prefix}-{document_id}/chunks").content
    return chunks


def upload_until_taken(stack: Stack, name: str, data: bytes, document_id: str) -> str:
    """Send with an idempotency key until the gateway has it, as a careful client does."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            with stack.client() as client:
                answer = client.post(
                    f"{stack.base}/documents",
                    files={"file": (name, data)},
                    data={"document_id": document_id},
                    headers={"Idempotency-Key": document_id},
                )
            if answer.status_code in (200, 202):
                return answer.json()["job_id"]
            assert answer.status_code in (429, 503), answer.text
        except OSError:
            pass
        except Exception as error:
            if type(error).__module__.split(".")[0] != "httpx":
                raise
        assert time.monotonic() < deadline, "the gateway did not come back"
        time.sleep(0.05)


def wait_through_restarts(stack: Stack, job_id: str) -> dict:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return stack.wait(job_id, max(deadline - time.monotonic(), 1))
        except Exception as error:
            if type(error).__module__.split(".")[0] != "httpx" or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


@pytest.fixture(scope="module")
def shared():
    with running_stack() as running:
        yield running


@pytest.fixture(scope="module")
def undisturbed(shared: Stack) -> dict[str, bytes]:
    return run(shared, "calm", None)


@pytest.mark.parametrize("victim", VICTIMS)
def test_a_killed_service_loses_and_doubles_nothing(
    shared: Stack, undisturbed: dict[str, bytes], victim: str
) -> None:
    chunks = run(shared, f"kill-{victim}", victim)
    assert chunks == undisturbed
    documents = shared.get("/documents?limit=200").json()["items"]
    mine = [d for d in documents if d["document_id"].startswith(f"kill-{victim}-")]
    assert len(mine) == 20
    assert {d["active_revision"] for d in mine} == {1}
    letters = []
    with shared.client() as client:
        answer = client.get("/v1/dead-letters")
        assert answer.status_code == 200, answer.text
        letters = answer.json()["items"]
    assert letters == []
