"""Many jobs at once: the rest wait visibly, too many are refused, and any can be cancelled."""

import time

from tests.support.stack import Stack
from tests.support.waiting import wait_until


def body(number: int) -> bytes:
    return f"# Note {number}\n\nText of note {number}.\n".encode() * 200


def test_the_rest_wait_and_too_many_are_refused(narrow: Stack) -> None:
    accepted, refused = [], None
    with narrow.client() as client:
        for number in range(40):
            answer = client.post(
                f"{narrow.base}/documents", files={"file": (f"n{number}.md", body(number))}
            )
            if answer.status_code == 429:
                refused = answer
                break
            accepted.append(answer.json()["job_id"])
        assert refused is not None, "the queue was never full"
        assert int(refused.headers["retry-after"]) >= 1
        assert refused.json()["code"] == "too_many_requests"
        waiting = client.get(f"{narrow.base}/jobs", params={"state": "waiting"}).json()["items"]
        assert waiting
        running = client.get(f"{narrow.base}/jobs", params={"state": "running"}).json()["items"]
        assert len(running) <= 2
    for job_id in accepted:
        assert narrow.wait(job_id)["state"] == "published"


def test_a_waiting_and_a_running_job_are_cancelled_within_two_seconds(narrow: Stack) -> None:
    long = b"# Long\n\n" + b"\n\n".join(
        b"A sentence of the long text %d." % n for n in range(150_000)
    )
    jobs = [narrow.upload(f"long-{n}.md", long + b"%d" % n)["job_id"] for n in range(3)]
    for job_id in jobs[:2]:
        wait_until(
            lambda job_id=job_id: narrow.get(f"/jobs/{job_id}").json()["stage"] != "gateway",
            what="work on a job",
        )
    assert narrow.get(f"/jobs/{jobs[2]}").json()["state"] == "waiting"
    took = []
    for job_id in reversed(jobs):
        began = time.monotonic()
        with narrow.client() as client:
            assert client.post(f"{narrow.base}/jobs/{job_id}/cancel").status_code in (200, 202)
        assert narrow.wait(job_id)["state"] == "cancelled"
        took.append(time.monotonic() - began)
    waiting, *running = took
    assert waiting < 2
    assert min(running) < 2, "the better of two, since a busy machine may hold up one"
    found = narrow.search("sentence of the long text", top_k=50)["evidence"]
    assert not [e for e in found if e["source_file_name"].startswith("long-")]
