"""Upload events become jobs, refusals, or come again."""

from typing import Any

import orjson
import pytest

from libs.contracts.events import DocumentAccepted, IngestRefused
from libs.contracts.subjects import (
    HELD_BUCKET,
    HELD_REQUESTED,
    INGEST_BUCKET,
    INGEST_REFUSED,
    INGEST_REQUESTED,
)
from libs.runtime.work import Work
from services.gateway.intake import take
from tests.support.gateway_fakes import World


@pytest.fixture
async def world() -> World:
    world = World(max_waiting=2, jobs_per_namespace=1)
    await world.keys.create_namespace("acme")
    world.inbox.data["acme/a.md"] = b"# one"
    return world


async def request(world: World, namespace: str = "acme", **fields: Any) -> None:
    body = {"file_name": "a.md", "source": {"bucket": "inbox", "key": "a.md"}, **fields}
    await take(
        world.deps, INGEST_REQUESTED, {"namespace": namespace}, orjson.dumps(body), "7", Work("")
    )


async def notify(world: World, *keys: str, etag: str = "e1") -> None:
    records = [
        {
            "eventName": "s3:ObjectCreated:Put",
            "s3": {"bucket": {"name": "inbox"}, "object": {"key": key, "eTag": etag}},
        }
        for key in keys
    ]
    body = orjson.dumps({"EventName": "s3:ObjectCreated:Put", "Records": records})
    await take(world.deps, INGEST_BUCKET, {}, body, "9", Work(""))


def refused(world: World) -> list[IngestRefused]:
    return [body for subject, body, _, _ in world.bus.published if subject is INGEST_REFUSED]


async def test_a_request_becomes_a_job_with_a_copy_of_the_object(world: World) -> None:
    await request(world, options={"metadata": {"year": 2024}})
    [event] = world.bus.events
    assert isinstance(event, DocumentAccepted)
    assert event.options.metadata.year == 2024
    assert world.objects.data == {event.source.key: b"# one"}
    assert refused(world) == []


async def test_the_same_object_again_is_the_same_job(world: World) -> None:
    await request(world)
    await request(world)
    await request(world, idempotency_key="k")
    await notify(world, "acme/a.md")
    assert len(world.jobs.jobs) == 1
    assert len(world.objects.data) == 1


async def test_a_changed_object_is_the_next_revision_of_its_document(world: World) -> None:
    await notify(world, "acme/a.md", etag="e1")
    world.inbox.data["acme/a.md"] = b"# two"
    await notify(world, "acme/a.md", etag="e2")
    jobs = sorted(world.jobs.jobs.values(), key=lambda j: j.revision)
    assert [j.revision for j in jobs] == [1, 2]
    assert jobs[0].document_id == jobs[1].document_id


@pytest.mark.parametrize(
    ("namespace", "fields", "code"),
    [
        ("acme", {"source": {"bucket": "inbox", "key": "none.md"}}, "source_missing"),
        ("acme", {"source": {"bucket": "inbox", "key": "../b/x.md"}}, "forbidden"),
        ("acme", {"document_id": "a.b"}, "invalid_request"),
        ("acme", {"colour": 1}, "invalid_request"),
        ("acme", {"options": {"metadata": {"year": "x"}}}, "invalid_request"),
        ("nowhere", {}, "not_found"),
    ],
)
async def test_a_faulty_request_is_answered_with_its_problem(
    world: World, namespace: str, fields: dict[str, Any], code: str
) -> None:
    await request(world, namespace, **fields)
    [refusal] = refused(world)
    assert refusal.problem.code == code
    assert refusal.subject == f"ingest.requested.{namespace}"
    assert refusal.request is not None
    assert world.jobs.jobs == {}
    assert world.objects.data == {}


async def test_an_empty_object_and_junk_are_refused(world: World) -> None:
    world.inbox.data["acme/a.md"] = b""
    await request(world)
    await take(world.deps, INGEST_REQUESTED, {"namespace": "acme"}, b"\xffjunk", "8", Work(""))
    await take(world.deps, INGEST_BUCKET, {}, b"[]", "8", Work(""))
    codes = [r.problem.code for r in refused(world)]
    assert codes == ["empty", "invalid_request", "invalid_request"]
    assert world.objects.data == {}


async def test_one_bad_record_does_not_hold_up_the_others(world: World) -> None:
    await notify(world, "acme/none.md", "elsewhere.md", "acme/a.md")
    assert len(world.jobs.jobs) == 1
    assert [r.problem.code for r in refused(world)] == ["source_missing", "forbidden"]
    marks = [mark for _, _, mark, _ in world.bus.published]
    assert len(set(marks)) == len(marks)


async def test_a_full_queue_holds_the_event_apart(world: World) -> None:
    for n in range(4):
        world.inbox.data[f"acme/{n}.md"] = b"%d" % n
    for n in range(3):
        await notify(world, f"acme/{n}.md")
    await notify(world, "acme/0.md", "acme/3.md", etag="e2")
    await request(world)
    held = [
        (s, orjson.loads(b), t)
        for s, b, _, t in world.bus.published
        if s in (HELD_BUCKET, HELD_REQUESTED)
    ]
    assert [(s, t) for s, _, t in held] == [
        (HELD_BUCKET, {"namespace": "acme"}),
        (HELD_BUCKET, {"namespace": "acme"}),
        (HELD_REQUESTED, {"namespace": "acme"}),
    ]
    keys = [b["Records"][0]["s3"]["object"]["key"] for _, b, _ in held[:2]]
    assert keys == ["acme/0.md", "acme/3.md"]
    assert refused(world) == []
    assert len(world.jobs.jobs) == 3
