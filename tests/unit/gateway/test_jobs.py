"""Jobs as the interface shows them: listing, history, cancel."""

import asyncio
from typing import Any

import orjson
import pytest

from libs.contracts.events import DocumentOutcome, DocumentPublished, ShardParsed, StageFailed
from libs.contracts.faults import Code, Who
from libs.contracts.subjects import CONTROL_CANCEL
from libs.runtime.work import Work
from services.gateway.handlers import on_event
from tests.support.gateway_fakes import World
from tests.support.waiting import PATIENCE

JOBS = "/v1/namespaces/acme/jobs"


@pytest.fixture
def world() -> World:
    return World(jobs_per_namespace=1)


async def send(world: World, data: bytes = b"x") -> str:
    async with world.client() as client:
        answer = await client.post("/v1/namespaces/acme/documents", files={"file": ("a.md", data)})
    job_id: str = answer.json()["job_id"]
    return job_id


def event(world: World, kind: Any, job_id: str, **fields: Any) -> Any:
    job = world.jobs.jobs[job_id]
    return kind(
        namespace=job.namespace,
        document_id=job.document_id,
        revision=job.revision,
        job_id=job_id,
        **fields,
    )


async def hear(world: World, kind: Any, job_id: str, **fields: Any) -> None:
    await on_event(world.deps, event(world, kind, job_id, **fields), Work(job_id))


async def publish(world: World, job_id: str) -> None:
    await hear(world, DocumentPublished, job_id, chunk_count=1, chunk_digest="d", corpus_version=1)


def parsed(text: str) -> list[dict[str, str]]:
    blocks = [b for b in text.split("\n\n") if b and not b.startswith(":")]
    return [dict(line.split(": ", 1) for line in b.splitlines()) for b in blocks]


async def test_the_end_of_a_job_is_told_and_lets_the_next_begin(world: World) -> None:
    first = await send(world, b"one")
    second = await send(world, b"two")
    assert world.jobs.jobs[second].state == "waiting"
    await publish(world, first)
    assert world.jobs.jobs[first].state == "published"
    assert world.jobs.jobs[second].state == "running"
    assert [e.job_id for e in world.bus.events] == [first, second]
    [(_, outcome, message_id, tokens)] = world.bus.published
    assert isinstance(outcome, DocumentOutcome)
    assert (outcome.outcome, tokens["outcome"]) == ("published", "published")
    assert message_id == f"outcome:{first}:published"


async def test_progress_and_failure_are_visible(world: World) -> None:
    job_id = await send(world)
    source = world.jobs.jobs[job_id].source
    await hear(
        world, ShardParsed, job_id, source=source, profile=source, file_name="a.md", shard=2,
        shards=9, done=3,
    )  # fmt: skip
    async with world.client(role="reader") as client:
        running = (await client.get(f"{JOBS}/{job_id}")).json()
        await hear(
            world, StageFailed, job_id, stage="parser", code=Code.ENCRYPTED,
            who=Who.DOCUMENT, detail="the file asks for a password",
        )  # fmt: skip
        failed = (await client.get(f"{JOBS}/{job_id}")).json()
    assert running["state"] == "running"
    assert running["progress"] == {"done": 3, "total": 9, "unit": "shard"}
    assert (failed["state"], failed["stage"]) == ("failed", "parser")
    assert failed["error"]["code"] == "encrypted"
    assert failed["error"]["who"] == "document"
    assert failed["progress"]["done"] == 3


async def test_a_stage_that_says_cancelled_cancels(world: World) -> None:
    job_id = await send(world)
    await hear(
        world, StageFailed, job_id, stage="parser", code=Code.CANCELLED, who=Who.US, detail="x"
    )
    assert world.jobs.jobs[job_id].state == "cancelled"
    assert world.bus.published[0][1].outcome == "failed"
    assert world.bus.published[0][1].problem.code == "cancelled"


async def test_the_same_end_twice_changes_nothing_but_is_told_again(world: World) -> None:
    job_id = await send(world)
    await publish(world, job_id)
    await publish(world, job_id)
    assert {m for _, _, m, _ in world.bus.published} == {f"outcome:{job_id}:published"}


async def test_jobs_are_paged_newest_first(world: World) -> None:
    ids = [await send(world, b"%d" % n) for n in range(5)]
    seen: list[str] = []
    cursor = None
    async with world.client(role="reader") as client:
        while True:
            params = {"limit": 2} | ({"cursor": cursor} if cursor else {})
            page = (await client.get(JOBS, params=params)).json()
            seen += [j["job_id"] for j in page["items"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
    assert seen == sorted(ids, reverse=True)


async def test_history_streams_until_the_end_and_resumes_without_a_gap(world: World) -> None:
    job_id = await send(world)
    [accepted] = world.bus.events
    await on_event(world.deps, accepted, Work(job_id))
    async with world.client(role="reader") as client:
        reading = asyncio.create_task(client.get(f"{JOBS}/{job_id}/events"))
        await asyncio.sleep(0)
        await publish(world, job_id)
        whole = await asyncio.wait_for(reading, PATIENCE)
        rest = await client.get(f"{JOBS}/{job_id}/events", headers={"Last-Event-ID": "1"})
        done = await client.get(f"{JOBS}/{job_id}/events", headers={"Last-Event-ID": "2"})
    assert whole.headers["content-type"].startswith("text/event-stream")
    lines = parsed(whole.text)
    assert [e["id"] for e in lines if "id" in e] == ["1", "2"]
    assert [e["event"] for e in lines if "id" in e] == ["gateway.accepted", "indexer.published"]
    assert lines[-1]["event"] == "job"
    assert orjson.loads(lines[-1]["data"])["state"] == "published"
    assert [e["id"] for e in parsed(rest.text) if "id" in e] == ["2"]
    assert done.status_code == 204


async def test_who_watches_hears_at_once_of_what_is_recorded_here(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.gateway.http.sse.POLL_SECONDS", 3600.0)
    job_id = await send(world)
    async with world.client(role="reader") as client:
        reading = asyncio.create_task(client.get(f"{JOBS}/{job_id}/events"))
        while not world.deps.news.watched(job_id):
            await asyncio.sleep(0)
        await publish(world, job_id)
        whole = await asyncio.wait_for(reading, PATIENCE)
    assert orjson.loads(parsed(whole.text)[-1]["data"])["state"] == "published"
    assert not world.deps.news.watched(job_id)


async def test_a_waiting_job_is_cancelled_at_once(world: World) -> None:
    await send(world, b"one")
    job_id = await send(world, b"two")
    async with world.client() as client:
        answer = await client.post(f"{JOBS}/{job_id}/cancel")
    assert answer.json()["state"] == "cancelled"
    [(_, outcome, _, _)] = world.bus.published
    assert (outcome.outcome, outcome.problem.code) == ("failed", "cancelled")


async def test_a_running_job_is_told_to_stop_and_is_over(world: World) -> None:
    job_id = await send(world)
    async with world.client() as client:
        answer = await client.post(f"{JOBS}/{job_id}/cancel")
    assert answer.status_code == 200
    [(subject, command, _, tokens)] = world.bus.published
    assert subject is CONTROL_CANCEL
    assert (command.job_id, tokens["job"]) == (job_id, job_id)
    over = world.bus.events[-1]
    assert isinstance(over, StageFailed)
    assert over.code is Code.CANCELLED
    await on_event(world.deps, over, Work(job_id))
    assert world.jobs.jobs[job_id].state == "cancelled"


async def test_a_cancel_that_lost_to_the_flip_says_nothing(world: World) -> None:
    job_id = await send(world)
    world.documents.publish(world.jobs.jobs[job_id], {}, {})
    async with world.client() as client:
        await client.post(f"{JOBS}/{job_id}/cancel")
    assert not [e for e in world.bus.events if isinstance(e, StageFailed)]
