"""Where a shard was parsed there is room for the next: who waits is let in at once."""

from typing import Any

import pytest

from libs.contracts.events import ArtefactRef, DocumentAccepted, JobEvent, ShardParsed, ShardsDone
from libs.runtime.work import Work
from services.gateway.handlers import on_event
from services.gateway.window import FEWEST, Window
from tests.support.gateway_fakes import World

REF = ArtefactRef(key="k", sha256="a" * 64, size=1)
PARTS: dict[str, Any] = {"source": REF, "profile": REF, "file_name": "a.md"}


async def sent(world: World) -> str:
    async with world.client() as client:
        files = {"file": ("a.md", b"x")}
        answer = await client.post("/v1/namespaces/acme/documents", files=files)
    job_id: str = answer.json()["job_id"]
    return job_id


@pytest.mark.parametrize(
    ("model", "fields", "room"),
    [
        (ShardParsed, {**PARTS, "shard": 0, "shards": 2, "done": 1}, True),
        (ShardsDone, {**PARTS, "rows": [REF]}, True),
        (DocumentAccepted, {"source": REF, "file_name": "a.md"}, False),
    ],
)
async def test_a_parsed_shard_lets_the_next_job_in(
    model: type[JobEvent], fields: dict[str, Any], room: bool
) -> None:
    world = World(jobs_per_namespace=1)
    first, second = await sent(world), await sent(world)
    assert world.jobs.jobs[second].state == "waiting"
    asked: list[int | None] = []
    release = world.jobs.release

    async def roomy(per_namespace: int, limit: int, **bounds: Any) -> Any:
        asked.append(bounds["shards"])
        return await release(2, limit, **bounds)

    world.jobs.release = roomy  # type: ignore[method-assign]
    job = world.jobs.jobs[first]
    ids = {name: getattr(job, name) for name in ("namespace", "document_id", "revision", "job_id")}
    await on_event(world.deps, model.model_validate({**ids, **fields}), Work(first))
    assert (world.jobs.jobs[second].state == "running") is room
    assert asked == ([None] if room else [])


@pytest.mark.parametrize(
    ("places", "ready", "expected"), [([0], 0.5, FEWEST), ([4], 0.5, 6), ([5, 3], 1.0, 10)]
)
async def test_the_window_is_what_the_parsers_hold_and_some_more(
    places: list[int], ready: float, expected: int
) -> None:
    window = Window(ready)
    window._seen.extend(places)
    assert window.shards == expected
