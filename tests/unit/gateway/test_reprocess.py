"""A document is made again from what is kept of it."""

import pytest

from tests.support.gateway_fakes import World

BASE = "/v1/namespaces/acme/documents/d"


async def published(world: World, **options: str) -> str:
    async with world.client() as client:
        sent = await client.post(
            "/v1/namespaces/acme/documents",
            files={"file": ("a.md", b"# One")},
            data={"document_id": "d", **options},
        )
    job_id: str = sent.json()["job_id"]
    end(world, job_id)
    return job_id


def end(world: World, job_id: str) -> None:
    world.documents.publish(world.jobs.jobs[job_id], {}, {})
    world.jobs.change(job_id, state="published")


async def test_a_new_revision_of_the_kept_source_with_the_metadata_of_now() -> None:
    world = World()
    first = await published(world, options='{"collection": "acts", "metadata": {"year": 1999}}')
    async with world.client() as client:
        await client.patch(BASE, json={"year": 2001, "country": "KR"})
    async with world.client(role="operator") as client:
        answer = await client.post(f"{BASE}/reprocess")
    assert answer.status_code == 202, answer.text
    made = world.jobs.jobs[answer.json()["job_id"]]
    before = world.jobs.jobs[first]
    assert (made.revision, made.document_id, made.file_name) == (2, "d", "a.md")
    assert made.source is not None
    assert before.source is not None
    assert made.source.key != before.source.key
    assert world.objects.data[made.source.key] == b"# One"
    assert made.options.collection == "acts"
    assert (made.options.metadata.year, made.options.metadata.country) == (2001, "KR")
    assert not [key for key in world.objects.data if key.startswith(".uploads/")]


async def test_another_engine_and_none_that_nobody_knows() -> None:
    world = World()
    await published(world)
    async with world.client(role="operator") as client:
        answer = await client.post(f"{BASE}/reprocess", json={"engine": "docling"})
        unknown = await client.post(f"{BASE}/reprocess", json={"engine": "magic"})
    assert world.jobs.jobs[answer.json()["job_id"]].options.engine == "docling"
    assert unknown.status_code == 422


async def test_asking_again_while_it_is_at_work_answers_the_same_job() -> None:
    world = World()
    await published(world)
    async with world.client(role="operator") as client:
        first = (await client.post(f"{BASE}/reprocess")).json()
        again = (await client.post(f"{BASE}/reprocess")).json()
        end(world, first["job_id"])
        later = (await client.post(f"{BASE}/reprocess")).json()
    assert (again["outcome"], again["job_id"]) == ("unchanged", first["job_id"])
    assert (later["outcome"], later["revision"]) == ("accepted", 3)


@pytest.mark.parametrize(("role", "status"), [("writer", 403), ("operator", 404)])
async def test_what_is_not_there_or_not_allowed(role: str, status: int) -> None:
    async with World().client(role=role) as client:  # type: ignore[arg-type]
        assert (await client.post(f"{BASE}/reprocess")).status_code == status


async def test_a_document_that_never_came_out_has_nothing_to_be_made_of() -> None:
    world = World()
    async with world.client() as client:
        await client.post(
            "/v1/namespaces/acme/documents",
            files={"file": ("a.md", b"# One")},
            data={"document_id": "d"},
        )
    async with world.client(role="operator") as client:
        answer = await client.post(f"{BASE}/reprocess")
    assert (answer.status_code, "no published revision" in answer.json()["detail"]) == (404, True)
