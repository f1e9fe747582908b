"""Quiet jobs go on, are given up, or are left to their consumer."""

from datetime import timedelta
from typing import Any

import pytest

from libs.contracts.events import DocumentAccepted, DocumentParsed, ErasureRequested, StageFailed
from libs.contracts.faults import Code
from libs.contracts.tokens import new_id
from libs.runtime.work import Work
from services.gateway import reconcile as module
from services.gateway.handlers import on_event
from services.gateway.pending import Pending
from services.gateway.reconcile import reconcile, sweep_uploads
from services.gateway.release import announce_forgotten
from services.gateway.staging import staging_key
from tests.support.gateway_fakes import World, now


class Quiet:
    """A world with one job that nothing has been heard of for a while."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.world = World(max_revivals=2)
        self.pending = Pending.NONE
        self.job_id = ""

        async def pending_of(_bus: Any, _job_id: str) -> Pending:
            return self.pending

        monkeypatch.setattr(module, "pending_of", pending_of)

    async def start(self) -> None:
        async with self.world.client() as client:
            sent = await client.post(
                "/v1/namespaces/acme/documents", files={"file": ("a.md", b"x")}
            )
        self.job_id = sent.json()["job_id"]
        self.silent(120)

    def silent(self, seconds: float, **fields: Any) -> None:
        self.world.jobs.change(self.job_id, updated_at=now() - timedelta(seconds=seconds), **fields)
        self.world.bus.events.clear()

    async def round(self) -> list[Any]:
        self.world.bus.events.clear()
        await reconcile(self.world.deps)
        return list(self.world.bus.events)


@pytest.fixture
async def quiet(monkeypatch: pytest.MonkeyPatch) -> Quiet:
    quiet = Quiet(monkeypatch)
    await quiet.start()
    return quiet


async def test_a_job_that_was_released_but_never_announced_begins(quiet: Quiet) -> None:
    [event] = await quiet.round()
    assert isinstance(event, DocumentAccepted)
    assert (event.job_id, event.attempt) == (quiet.job_id, 2)


async def test_a_release_that_was_cut_short_is_announced_soon_under_the_same_id(
    quiet: Quiet,
) -> None:
    quiet.silent(10)
    await announce_forgotten(quiet.world.deps)
    [event] = quiet.world.bus.events
    assert (event.job_id, event.attempt) == (quiet.job_id, 1)
    quiet.silent(10, announced=("s", "{}"))
    await announce_forgotten(quiet.world.deps)
    assert quiet.world.bus.events == []


async def test_the_last_event_is_announced_again_as_a_new_attempt(quiet: Quiet) -> None:
    job = quiet.world.jobs.jobs[quiet.job_id]
    source = job.source
    parsed = DocumentParsed(
        namespace="acme", document_id=job.document_id, revision=1, job_id=job.job_id,
        source=source, profile=source, file_name="a.md", rows=source, diagnostics=source,
        row_count=1, engine="e",
    )  # fmt: skip
    await on_event(quiet.world.deps, parsed, Work(job.job_id))
    quiet.silent(120)
    [event] = await quiet.round()
    assert isinstance(event, DocumentParsed)
    assert event.model_copy(update={"attempt": 1}) == parsed
    assert event.attempt == 2


@pytest.mark.parametrize(
    ("pending", "silence", "revived"),
    [
        (Pending.WAITING, 120, False),
        (Pending.WAITING, 5000, False),
        (Pending.TAKEN, 120, False),
        (Pending.TAKEN, 5000, True),
        (Pending.NONE, 120, True),
        (Pending.NONE, 5, False),
    ],
)
async def test_a_message_on_its_way_is_left_to_its_consumer(
    quiet: Quiet, pending: Pending, silence: float, revived: bool
) -> None:
    quiet.pending = pending
    quiet.silent(silence)
    assert bool(await quiet.round()) is revived


async def test_a_job_that_never_goes_on_is_given_up(quiet: Quiet) -> None:
    kinds = [type(e) for _ in range(3) for e in await quiet.round()]
    assert kinds == [DocumentAccepted, DocumentAccepted, StageFailed]
    [failed] = quiet.world.bus.events
    assert failed.code is Code.WORKER_LOST


async def test_a_wish_to_cancel_is_fulfilled(quiet: Quiet) -> None:
    quiet.silent(120, cancel_requested=True)
    [event] = await quiet.round()
    assert isinstance(event, StageFailed)
    assert event.code is Code.CANCELLED


async def test_a_job_whose_source_never_came_is_discarded(quiet: Quiet) -> None:
    long_ago = now() - timedelta(seconds=700)
    quiet.silent(120, state="waiting", source=None, created_at=long_ago)
    assert await quiet.round() == []
    assert quiet.world.jobs.jobs == {}


async def test_an_erasure_that_nobody_finished_is_asked_for_again(quiet: Quiet) -> None:
    world = quiet.world
    async with world.client() as client:
        document_id = world.jobs.jobs[quiet.job_id].document_id
        await client.delete(f"/v1/namespaces/acme/documents/{document_id}")
    world.jobs.jobs.clear()
    [(key, receipt)] = world.documents.receipts.items()
    world.documents.receipts[key] = receipt.model_copy(
        update={"requested_at": now() - timedelta(seconds=130)}
    )
    [event] = await quiet.round()
    assert isinstance(event, ErasureRequested)
    assert (event.job_id, event.attempt) == (receipt.erasure_id, 3)
    quiet.pending = Pending.WAITING
    assert await quiet.round() == []


async def test_staged_uploads_that_nobody_named_are_swept() -> None:
    world = World()
    await world.keys.create_namespace("acme")
    fresh = staging_key("acme", new_id("upl"))
    old = staging_key("acme", "upl-00000000001" + "a" * 16)
    world.objects.data = {fresh: b"1", old: b"2", "acme/d/1/rows": b"3"}
    await sweep_uploads(world.deps)
    assert set(world.objects.data) == {fresh, "acme/d/1/rows"}
