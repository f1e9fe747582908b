"""A small batch of documents, sent by a careful client, and what must hold of it afterwards."""

import hashlib
import time
from dataclasses import dataclass
from typing import Any

import httpx
from minio import Minio

from libs.runtime.objects import s3_client
from libs.runtime.objects.s3_place import S3Keys, S3Place
from tests.support.documents import KOREAN, MARKDOWN, manual_pdf
from tests.support.held import Holdings, held
from tests.support.stack import NAMESPACE, Stack

SECONDS = 240.0
TIMELESS = ("rows.jsonl.zst", "chunks.json", "doc_nav.json", "hierarchy.json")
"""Artefacts that say nothing of when, or by which attempt, they were made."""

BATCH = {
    "pump": ("pump.md", MARKDOWN.encode()),
    "rules": ("rules.txt", KOREAN.encode()),
    "turbine": ("turbine.pdf", manual_pdf()),
    "ferry": ("ferry.html", b"<h1>Ferry</h1><p>The island ferry leaves at noon.</p>"),
}


@dataclass(frozen=True)
class Outcome:
    """What became of one document: digests of artefacts by name, and records by store."""

    artefacts: dict[str, str]
    holdings: Holdings


def try_to_send(stack: Stack, prefix: str, name: str, seconds: float = 2.0) -> str | None:
    """Send one document of the batch once; its job, None where it was not taken."""
    file_name, data = BATCH[name]
    document_id = f"{prefix}-{name}"
    try:
        with stack.client() as client:
            answer = client.post(
                f"{stack.base}/documents",
                files={"file": (file_name, data)},
                data={"document_id": document_id},
                headers={"Idempotency-Key": document_id},
                timeout=seconds,
            )
    except httpx.HTTPError:
        return None
    assert answer.status_code in (200, 202, 429, 503), answer.text
    return answer.json()["job_id"] if answer.status_code < 300 else None


def send(stack: Stack, prefix: str, name: str) -> str:
    """Send one until it is taken; the same key makes one revision of it, however often."""
    deadline = time.monotonic() + SECONDS
    while (job_id := try_to_send(stack, prefix, name, 30.0)) is None:
        assert time.monotonic() < deadline, f"{name} was not taken"
        time.sleep(0.1)
    return job_id


def wait(stack: Stack, job_id: str) -> dict[str, Any]:
    """The job in its last state, whatever fails meanwhile."""
    deadline = time.monotonic() + SECONDS
    while True:
        job: dict[str, Any] = {}
        try:
            with stack.client() as client:
                answer = client.get(f"{stack.base}/jobs/{job_id}", timeout=10)
            job = answer.json() if answer.status_code == 200 else {"status": answer.status_code}
        except httpx.HTTPError as error:
            job = {"error": type(error).__name__}
        if job.get("state") in ("published", "failed", "cancelled", "superseded"):
            return job
        assert time.monotonic() < deadline, job
        time.sleep(0.1)


def outcomes(stack: Stack, places: dict[str, str], prefix: str) -> dict[str, Outcome]:
    """What became of each document of the batch, once nothing of an attempt is left."""
    objects = Objects(places)
    found = {}
    for name in BATCH:
        document_id = f"{prefix}-{name}"
        deadline = time.monotonic() + SECONDS
        while left := [key for key in objects.keys(document_id) if "/.jobs/" in key]:
            assert time.monotonic() < deadline, left
            time.sleep(0.1)
        found[name] = Outcome(objects.digests(document_id), held(places, NAMESPACE, document_id))
    return found


def dead_letters(stack: Stack, prefix: str) -> list[dict[str, Any]]:
    """Those of a batch."""
    with stack.client() as client:
        answer = client.get("/v1/dead-letters")
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return [one for one in items if (one["document_id"] or prefix).startswith(prefix)]


class Objects:
    """The object store, asked directly."""

    def __init__(self, places: dict[str, str]) -> None:
        place = S3Place.of(places["GROUNDWIRE_OBJECTS_URL"])
        keys = S3Keys(
            places["GROUNDWIRE_OBJECTS_ACCESS_KEY"], places["GROUNDWIRE_OBJECTS_SECRET_KEY"]
        )
        self._client: Minio = s3_client.connect(place, keys, 1)
        self._bucket = place.bucket

    def keys(self, document_id: str) -> list[str]:
        """What lies below a document."""
        prefix = f"{NAMESPACE}/{document_id}/"
        listed = self._client.list_objects(self._bucket, prefix=prefix, recursive=True)
        return [str(entry.object_name) for entry in listed]

    def digests(self, document_id: str) -> dict[str, str]:
        """Of the timeless artefacts of the first revision, by name, the document's id left out."""
        found = {}
        for name in TIMELESS:
            key = f"{NAMESPACE}/{document_id}/1/{name}"
            answer = self._client.get_object(self._bucket, key)
            data = answer.read().replace(document_id.encode(), b"")
            found[name] = hashlib.sha256(data).hexdigest()
            answer.close()
            answer.release_conn()
        return found
