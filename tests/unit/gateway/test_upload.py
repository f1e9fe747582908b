"""Sending documents: streaming, limits, identity, order of things."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from libs.contracts.api.ingest import IngestOptions
from libs.contracts.events import DocumentAccepted
from libs.contracts.faults import Code, WorldFault
from libs.runtime.catalog.jobs import Admission
from libs.runtime.objects.port import ObjectInfo
from services.gateway import admission
from services.gateway.http.receive import SMALL_BYTES
from tests.support.gateway_fakes import World
from tests.support.waiting import PATIENCE, until

DOCUMENTS = "/v1/namespaces/acme/documents"
BOUNDARY = "xYzZy"


@pytest.fixture
def world() -> World:
    return World(max_upload_bytes=300_000)


def form(*parts: tuple[str, bytes], end: bool = True) -> bytes:
    body = b"".join(
        f"--{BOUNDARY}\r\n{headers}\r\n\r\n".encode() + data + b"\r\n" for headers, data in parts
    )
    return body + (f"--{BOUNDARY}--\r\n".encode() if end else b"")


def file_part(data: bytes, name: str = "a.md") -> tuple[str, bytes]:
    headers = (
        f'Content-Disposition: form-data; name="file"; filename="{name}"\r\n'
        "Content-Type: Text/Markdown; charset=utf-8"
    )
    return headers, data


def field_part(name: str, text: str) -> tuple[str, bytes]:
    return f'Content-Disposition: form-data; name="{name}"', text.encode()


HEADERS = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}


async def test_an_upload_becomes_a_released_job_whose_source_is_stored(world: World) -> None:
    async with world.client() as client:
        answer = await client.post(
            DOCUMENTS,
            files={"file": ("보고서.md", b"# hello", "text/markdown")},
            data={"document_id": "report", "options": '{"metadata": {"year": 2024}}'},
        )
    assert answer.status_code == 202, answer.text
    accepted = answer.json()
    assert (accepted["document_id"], accepted["revision"]) == ("report", 1)
    assert answer.headers["location"] == accepted["links"]["job"]
    [event] = world.bus.events
    assert isinstance(event, DocumentAccepted)
    assert event.job_id == accepted["job_id"]
    assert event.options.metadata.year == 2024
    assert event.media_type == "text/markdown"
    assert event.source.sha256 == hashlib.sha256(b"# hello").hexdigest()
    assert world.objects.data == {event.source.key: b"# hello"}
    assert event.file_name == "보고서.md"
    assert world.jobs.jobs[event.job_id].state == "running"


async def test_fields_may_follow_the_file_and_pieces_stay_small(world: World) -> None:
    data = bytes(range(256)) * 1000
    body = form(file_part(data), field_part("document_id", "late"), field_part("options", ""))

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(body), 1000):
            yield body[start : start + 1000]

    async with world.client() as client:
        answer = await client.post(DOCUMENTS, content=pieces(), headers=HEADERS)
    assert answer.status_code == 202, answer.text
    assert answer.json()["document_id"] == "late"
    assert list(world.objects.data.values()) == [data]
    assert world.objects.largest_piece <= 1000 + len(BOUNDARY) + 8


async def test_the_limit_holds_while_receiving(world: World) -> None:
    async def endless() -> AsyncIterator[bytes]:
        yield form(file_part(b""), end=False).removesuffix(b"\r\n")
        while True:
            yield b"x" * 50_000

    async with world.client() as client:
        answer = await client.post(DOCUMENTS, content=endless(), headers=HEADERS)
    assert answer.status_code == 413
    assert answer.json()["code"] == "too_large"
    assert world.objects.data == {}
    assert world.jobs.jobs == {}


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (form(file_part(b"")), 422, "empty"),
        (form(field_part("document_id", "x")), 422, "file:"),
        (form(file_part(b"x"), field_part("document_id", "a.b")), 422, "document_id"),
        (form(file_part(b"x"), field_part("options", "{")), 422, "options"),
        (form(file_part(b"x"), field_part("options", '{"colour": 1}')), 422, "colour"),
        (form(file_part(b"x"), field_part("extra", "1")), 422, "extra"),
        (form(file_part(b"x"), file_part(b"y")), 422, "once"),
        (form(file_part(b"x"), end=False), 422, "ends before"),
        (b"nonsense", 422, "malformed"),
        (form(*[field_part(f"f{n}", "") for n in range(40)]), 422, "more than 16"),
    ],
)
async def test_bad_forms_are_problems_and_leave_nothing(
    world: World, body: bytes, status: int, words: str
) -> None:
    async with world.client() as client:
        answer = await client.post(DOCUMENTS, content=body, headers=HEADERS)
    assert answer.status_code == status
    assert words in answer.json()["detail"]
    assert answer.headers["content-type"] == "application/problem+json"
    assert world.objects.data == {}
    assert world.bus.events == []


async def test_other_media_types_are_told_what_to_send(world: World) -> None:
    async with world.client() as client:
        answer = await client.post(DOCUMENTS, content=b"x", headers={"Content-Type": "text/plain"})
    assert answer.status_code == 415
    assert "multipart/form-data" in answer.json()["detail"]


async def test_equal_bytes_and_options_make_no_revision(world: World) -> None:
    async with world.client() as client:
        send = {"files": {"file": ("a.md", b"one")}, "data": {"document_id": "d"}}
        first = await client.post(DOCUMENTS, **send)
        again = await client.post(DOCUMENTS, **send)
        other = await client.post(
            DOCUMENTS, files={"file": ("a.md", b"two")}, data={"document_id": "d"}
        )
    assert again.status_code == 200
    assert again.json()["outcome"] == "unchanged"
    assert again.json()["job_id"] == first.json()["job_id"]
    assert other.json()["revision"] == 2
    assert not [k for k in world.objects.data if ".uploads" in k]


async def test_an_idempotency_key_answers_the_same_job_and_refuses_other_bytes(
    world: World,
) -> None:
    async with world.client() as client:
        headers = {"Idempotency-Key": "k1"}
        first = await client.post(DOCUMENTS, files={"file": ("a.md", b"one")}, headers=headers)
        again = await client.post(DOCUMENTS, files={"file": ("a.md", b"one")}, headers=headers)
        clash = await client.post(DOCUMENTS, files={"file": ("a.md", b"two")}, headers=headers)
    assert again.json() | {"outcome": "accepted"} == first.json()
    assert again.json()["outcome"] == "replayed"
    assert clash.status_code == 409
    assert len(world.jobs.jobs) == 1
    assert len(world.objects.data) == 1


async def test_what_a_clock_that_was_ahead_left_unfinished_is_finished_by_the_next_request(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "UNFINISHED", timedelta(seconds=0.05))
    async with world.client() as client:
        headers, files = {"Idempotency-Key": "k1"}, {"file": ("a.md", b"one")}
        first = await client.post(DOCUMENTS, files=files, headers=headers)
        ahead = datetime.now(UTC) + timedelta(hours=1)
        world.jobs.change(first.json()["job_id"], source=None, created_at=ahead)
        asking = client.post(DOCUMENTS, files=files, headers=headers)
        again = await asyncio.wait_for(asking, PATIENCE)
    assert again.json()["outcome"] == "replayed"
    assert world.jobs.jobs[first.json()["job_id"]].source is not None


@pytest.mark.parametrize("changed", [{"document_id": "other"}, {"options": '{"collection": "x"}'}])
async def test_an_idempotency_key_refuses_another_request(world: World, changed: dict) -> None:
    async with world.client() as client:
        headers, files = {"Idempotency-Key": "k1"}, {"file": ("a.md", b"one")}
        await client.post(DOCUMENTS, files=files, headers=headers)
        clash = await client.post(DOCUMENTS, files=files, headers=headers, data=changed)
    assert clash.status_code == 409
    assert len(world.jobs.jobs) == 1


async def test_a_request_that_a_crash_left_unfinished_is_finished(world: World) -> None:
    admitted = await world.jobs.admit(
        Admission("acme", "a.md", IngestOptions(), identity="http:k1")
    )
    job_id = admitted.job.job_id
    world.jobs.change(job_id, created_at=datetime.now(UTC) - timedelta(minutes=1))
    async with world.client() as client:
        answer = await client.post(
            DOCUMENTS, files={"file": ("a.md", b"one")}, headers={"Idempotency-Key": "k1"}
        )
    assert (answer.json()["job_id"], answer.json()["outcome"]) == (job_id, "replayed")
    assert [e.job_id for e in world.bus.events] == [job_id]


async def test_a_request_twice_at_once_waits_for_the_first(world: World) -> None:
    admitted = await world.jobs.admit(
        Admission("acme", "a.md", IngestOptions(), identity="http:k1")
    )
    file = b"o" * (SMALL_BYTES + 1)
    async with world.client() as client:
        second = asyncio.create_task(
            client.post(
                DOCUMENTS, files={"file": ("a.md", file)}, headers={"Idempotency-Key": "k1"}
            )
        )
        await until(lambda: world.objects.data, what="the second request's file")
        source = world.objects.ref("acme/first", file)
        await world.jobs.source_stored(admitted.job.job_id, source)
        answer = await asyncio.wait_for(second, PATIENCE)
    assert answer.json()["outcome"] == "replayed"
    assert world.jobs.jobs[admitted.job.job_id].source == source
    assert list(world.objects.data) == ["acme/first"]


@pytest.mark.parametrize("size", [1, SMALL_BYTES, SMALL_BYTES + 1])
async def test_a_file_of_any_size_is_stored_once_and_a_small_one_written_once(
    world: World, size: int
) -> None:
    file, written = b"o" * size, []
    put = world.objects.put

    async def noted(key: str, *args: Any, **options: Any) -> ObjectInfo:
        written.append(options["durable"])
        return await put(key, *args, **options)

    world.objects.put = noted  # type: ignore[method-assign]
    async with world.client() as client:
        answer = await client.post(DOCUMENTS, files={"file": ("a.md", file, "text/markdown")})
    assert answer.status_code == 202
    [job] = world.jobs.jobs.values()
    assert job.source is not None
    assert world.objects.data == {job.source.key: file}
    assert (job.source.size, job.source.sha256) == (size, hashlib.sha256(file).hexdigest())
    assert written == [True]


async def test_a_full_queue_answers_429_with_a_delay() -> None:
    world = World(max_waiting=1, jobs_per_namespace=1)
    async with world.client() as client:
        answers = [
            await client.post(DOCUMENTS, files={"file": ("a.md", b"%d" % n)}) for n in range(3)
        ]
    assert [a.status_code for a in answers] == [202, 202, 429]
    assert int(answers[2].headers["retry-after"]) >= 1
    assert len(world.bus.events) == 1


async def test_a_bus_that_is_away_does_not_lose_the_document(world: World) -> None:
    world.bus.away = WorldFault(Code.BUS_AWAY, "the message bus is away")
    async with world.client() as client:
        answer = await client.post(DOCUMENTS, files={"file": ("a.md", b"one")})
    assert answer.status_code == 202
    [job] = world.jobs.jobs.values()
    assert job.source is not None


async def test_a_document_that_is_being_erased_takes_no_revision(world: World) -> None:
    send = {"files": {"file": ("a.md", b"one")}, "data": {"document_id": "d"}}
    async with world.client() as client:
        await client.post(DOCUMENTS, **send)
        await client.delete(f"{DOCUMENTS}/d")
        answer = await client.post(DOCUMENTS, **send)
        listed = await client.get(DOCUMENTS)
        shown = await client.get(f"{DOCUMENTS}/d")
    assert answer.status_code == 409
    assert listed.json()["items"] == []
    assert shown.status_code == 404
    assert not [k for k in world.objects.data if ".uploads" in k]
