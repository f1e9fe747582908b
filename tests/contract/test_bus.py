"""The bus on a real nats-server: what each kind of fault does to a delivery."""

import asyncio
import base64
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import nats
import pytest
from nats.aio.msg import Msg

from libs.contracts.api.search import PlanQuery, SearchRequest
from libs.contracts.events import (
    CancelJob,
    DeadLetter,
    DocumentAccepted,
    DocumentChunked,
    JobEvent,
    StageFailed,
)
from libs.contracts.events.base import ArtefactRef
from libs.contracts.faults import CallerFault, Code, DocumentFault, TakenOverFault, WorldFault
from libs.contracts.subjects import CONTROL_CANCEL, PROFILE, PUBLISH, QUERY_PLAN, STREAMS, Stage
from libs.runtime import heartbeat
from libs.runtime import service as service_module
from libs.runtime.routes import stream_name
from libs.runtime.service import Service
from libs.runtime.settings import Settings
from libs.runtime.streams import bootstrap
from libs.runtime.work import Work
from tests.support.nats import nats_server
from tests.support.waiting import PATIENCE, until


@dataclass
class FakeJobs:
    """Only what a delivery asks of the catalog."""

    standings: dict[str, str] = field(default_factory=dict)
    failures: Counter = field(default_factory=Counter)
    told: Counter = field(default_factory=Counter)
    attempts: dict[str, int] = field(default_factory=dict)

    async def standing(self, job_id: str) -> str:
        return self.standings.get(job_id, "current")

    async def alive(self, job_id: str) -> None:
        self.told[job_id] += 1

    async def get(self, namespace: str | None, job_id: str) -> SimpleNamespace:
        return SimpleNamespace(attempt=self.attempts.get(job_id, 1))

    async def failure(self, task: str, kind: str) -> int:
        self.failures[task, kind] += 1
        return self.failures[task, kind]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory):
    with nats_server(tmp_path_factory.mktemp("nats")) as url:
        yield url


@pytest.fixture
async def make(server: str, tmp_path: Path):
    """Makes services on a prefix of their own; ends them afterwards."""
    prefix = f"t{uuid.uuid4().hex[:8]}"
    client = await nats.connect(server)
    await bootstrap(client.jetstream(timeout=30), prefix, ack_wait=10)
    running: list[tuple[Service, asyncio.Task]] = []
    jobs = FakeJobs()

    async def start(stage: Stage, wire, **overrides) -> Service:
        settings = Settings(
            nats_url=server, prefix=prefix, data_dir=tmp_path, retry_seconds=0.05,
            world_retries=3, bug_retries=1, shutdown_seconds=0.2, _env_file=None,
        ).model_copy(update=overrides)  # fmt: skip
        service = Service(stage, settings)
        service.stores.__dict__["catalog"] = SimpleNamespace(jobs=jobs, close=_nothing)
        wire(service)
        started = asyncio.Event()

        async def mark() -> None:
            started.set()

        service.on_start(mark)
        running.append((service, asyncio.create_task(service.serve())))
        await asyncio.wait_for(started.wait(), PATIENCE)
        return service

    yield SimpleNamespace(start=start, client=client, jobs=jobs, prefix=prefix)
    for service, task in running:
        service.stopping.set()
        await asyncio.wait_for(task, PATIENCE)
    for stream in STREAMS:
        await client.jetstream(timeout=30).delete_stream(stream_name(prefix, stream))
    await client.close()


async def _nothing() -> None:
    return None


def accepted(job: str = "job-1", attempt: int = 1) -> DocumentAccepted:
    source = ArtefactRef(key="default/doc-1/1/source/a.md", sha256="0" * 64, size=1)
    return DocumentAccepted(
        namespace="default", document_id="doc-1", revision=1, job_id=job, attempt=attempt,
        source=source, file_name="a.md",
    )  # fmt: skip


async def failed_events(make, name: str = "watch"):
    """A queue of every `<stage>.failed` of this prefix, heard live."""
    queue: asyncio.Queue[StageFailed] = asyncio.Queue()

    async def on_message(message) -> None:
        queue.put_nowait(StageFailed.model_validate_json(message.data))

    await make.client.subscribe(f"{make.prefix}.*.failed.*.*", cb=on_message)
    await make.client.flush()
    return queue


async def dead_letters(make) -> list[DeadLetter]:
    js = make.client.jetstream(timeout=30)
    info = await js.stream_info(stream_name(make.prefix, "dead"))
    letters = []
    for sequence in range(max(info.state.first_seq, 1), info.state.last_seq + 1):
        message = await js.get_msg(stream_name(make.prefix, "dead"), seq=sequence)
        letters.append(DeadLetter.model_validate_json(message.data))
    return letters


async def pending(make, durable: str) -> int:
    info = await make.client.jetstream(timeout=30).consumer_info(
        stream_name(make.prefix, "pipeline"), durable
    )
    return info.num_pending + info.num_ack_pending


async def test_an_event_is_handled_once_and_acknowledged(make) -> None:
    seen: list[JobEvent] = []

    async def handle(event: JobEvent, work: Work) -> None:
        seen.append(event)

    service = await make.start(Stage.PROFILER, lambda s: s.hear(PROFILE, DocumentAccepted, handle))
    assert await service.bus.announce(accepted()) is True
    assert await service.bus.announce(accepted()) is False
    await until(lambda: seen)
    await until(lambda: _is_zero(pending(make, "profiler")))
    assert [e.job_id for e in seen] == ["job-1"]


async def _is_zero(count) -> bool:
    return await count == 0


async def test_a_document_fault_fails_the_job_and_delays_nobody(make) -> None:
    done: list[str] = []

    async def handle(event: JobEvent, work: Work) -> None:
        if event.job_id == "job-poison":
            raise DocumentFault(Code.ENCRYPTED, "the file is encrypted: remove its password")
        done.append(event.job_id)

    failed = await failed_events(make)
    service = await make.start(Stage.PROFILER, lambda s: s.hear(PROFILE, DocumentAccepted, handle))
    await service.bus.announce(accepted("job-poison"))
    for n in range(5):
        await service.bus.announce(accepted(f"job-{n}"))
    event = await asyncio.wait_for(failed.get(), PATIENCE)
    assert (event.job_id, event.code, event.stage) == ("job-poison", Code.ENCRYPTED, "profiler")
    await until(lambda: len(done) == 5)
    assert await dead_letters(make) == []


async def test_the_world_is_retried_with_growing_delay_until_it_is_back(make) -> None:
    attempts: list[int] = []

    async def handle(event: JobEvent, work: Work) -> None:
        attempts.append(event.attempt)
        if len(attempts) < 3:
            raise WorldFault(Code.STORE_AWAY, "the object store is away")

    service = await make.start(Stage.PROFILER, lambda s: s.hear(PROFILE, DocumentAccepted, handle))
    await service.bus.announce(accepted())
    await until(lambda: len(attempts) == 3)
    await until(lambda: _is_zero(pending(make, "profiler")))


async def test_a_long_retry_is_a_schedule_and_raises_the_attempt(make) -> None:
    attempts: list[int] = []

    async def handle(event: JobEvent, work: Work) -> None:
        attempts.append(event.attempt)
        if len(attempts) == 1:
            raise WorldFault(Code.RATE_LIMITED, "the model is busy", retry_after=1.5)

    service = await make.start(Stage.PROFILER, lambda s: s.hear(PROFILE, DocumentAccepted, handle))
    await service.bus.announce(accepted())
    await until(lambda: attempts == [1])
    await until(lambda: _is_zero(pending(make, "profiler")), what="the place in the consumer")
    await until(lambda: attempts == [1, 2])


async def test_our_bug_is_retried_a_little_then_parked_whole(make) -> None:
    calls: list[int] = []

    async def handle(event: JobEvent, work: Work) -> None:
        calls.append(1)
        raise RuntimeError("a secret of the document")

    failed = await failed_events(make)
    service = await make.start(Stage.PROFILER, lambda s: s.hear(PROFILE, DocumentAccepted, handle))
    await service.bus.announce(accepted())
    event = await asyncio.wait_for(failed.get(), PATIENCE)
    assert event.code is Code.INTERNAL
    assert "secret" not in event.detail
    (letter,) = await dead_letters(make)
    assert letter.dead_letter_id == event.dead_letter_id
    assert (letter.stage, letter.consumer, letter.job_id) == ("profiler", "profiler", "job-1")
    assert DocumentAccepted.model_validate_json(base64.b64decode(letter.body)).job_id == "job-1"
    assert len(calls) == 2


async def test_a_body_that_breaks_its_contract_is_parked_and_the_rest_goes_on(make) -> None:
    done: list[str] = []

    async def handle(event: JobEvent, work: Work) -> None:
        done.append(event.job_id)

    service = await make.start(Stage.PROFILER, lambda s: s.hear(PROFILE, DocumentAccepted, handle))
    await make.client.jetstream(timeout=30).publish(
        f"{make.prefix}.gateway.accepted.job-x.1", b"\xff{"
    )
    await service.bus.announce(accepted())
    await until(lambda: done == ["job-1"])
    (letter,) = await until(lambda: dead_letters(make))
    assert base64.b64decode(letter.body) == b"\xff{"


async def test_a_message_stays_where_it_is_while_the_dead_letters_are_full(make) -> None:
    calls: list[int] = []

    async def handle(event: JobEvent, work: Work) -> None:
        calls.append(1)
        raise RuntimeError

    js = make.client.jetstream(timeout=30)
    config = (await js.stream_info(stream_name(make.prefix, "dead"))).config
    await js.update_stream(config.evolve(max_bytes=1))
    failed = await failed_events(make)
    service = await make.start(
        Stage.PROFILER, lambda s: s.hear(PROFILE, DocumentAccepted, handle), retry_seconds=0.2
    )
    await service.bus.announce(accepted())
    await until(lambda: len(calls) >= 3, what="another delivery")
    assert await pending(make, "profiler") == 1
    assert failed.empty()
    await js.update_stream(config)
    event = await asyncio.wait_for(failed.get(), PATIENCE)
    (letter,) = await dead_letters(make)
    assert letter.dead_letter_id == event.dead_letter_id

    async def ended() -> bool:
        return await pending(make, "profiler") == 0

    await until(ended)


async def test_stale_work_is_dropped_without_being_started(make) -> None:
    done: list[str] = []

    async def handle(event: JobEvent, work: Work) -> None:
        done.append(event.job_id)

    make.jobs.standings["job-old"] = "superseded"
    failed = await failed_events(make)
    service = await make.start(Stage.PROFILER, lambda s: s.hear(PROFILE, DocumentAccepted, handle))
    await service.bus.announce(accepted("job-old"))
    await service.bus.announce(accepted("job-new"))
    await until(lambda: done == ["job-new"])
    event = await asyncio.wait_for(failed.get(), PATIENCE)
    assert (event.job_id, event.code) == ("job-old", Code.SUPERSEDED), "its ledger must hear it"
    await until(lambda: _is_zero(pending(make, "profiler")))


@pytest.mark.parametrize("polite", [True, False])
async def test_cancel_ends_work_within_two_seconds(make, polite: bool) -> None:
    started: asyncio.Queue[str] = asyncio.Queue()

    async def handle(event: JobEvent, work: Work) -> None:
        started.put_nowait(event.job_id)
        await (work.cancelled.wait() if polite else asyncio.Event().wait())
        work.check()

    failed = await failed_events(make)
    service = await make.start(Stage.PROFILER, lambda s: s.hear(PROFILE, DocumentAccepted, handle))
    took: list[float] = []
    while len(took) < 3 and min(took, default=2.0) >= 2:  # a busy machine may hold up one
        job_id = f"job-{len(took)}"
        await service.bus.announce(accepted(job_id))
        assert await asyncio.wait_for(started.get(), PATIENCE) == job_id
        began = time.monotonic()
        await service.bus.publish(CONTROL_CANCEL, CancelJob(job_id=job_id), job=job_id)
        event = await asyncio.wait_for(failed.get(), PATIENCE)
        took.append(time.monotonic() - began)
        assert (event.job_id, event.code) == (job_id, Code.CANCELLED)
        await until(lambda: _is_zero(pending(make, "profiler")))
    assert min(took) < 2


async def test_a_long_handler_keeps_its_message_while_it_moves(make) -> None:
    await bootstrap(make.client.jetstream(timeout=30), make.prefix, ack_wait=1)
    calls: list[int] = []
    ended = asyncio.Event()

    async def handle(event: JobEvent, work: Work) -> None:
        calls.append(work.deliveries)
        for _ in range(25):
            await asyncio.sleep(0.1)
            work.progress()
        ended.set()

    service = await make.start(
        Stage.PROFILER,
        lambda s: s.hear(PROFILE, DocumentAccepted, handle, workers=2),
        ack_wait_seconds=1.0,
    )
    await service.bus.announce(accepted())
    await asyncio.wait_for(ended.wait(), PATIENCE)
    await until(lambda: _is_zero(pending(make, "profiler")))
    assert calls == [1]


async def test_a_handler_that_hangs_loses_its_message_to_another(make, monkeypatch) -> None:
    monkeypatch.setattr(heartbeat, "STALL_SECONDS", 0.5)
    await bootstrap(make.client.jetstream(timeout=30), make.prefix, ack_wait=1)
    calls: list[int] = []

    async def handle(event: JobEvent, work: Work) -> None:
        calls.append(work.deliveries)
        if work.deliveries == 1:
            await asyncio.Event().wait()

    service = await make.start(
        Stage.PROFILER,
        lambda s: s.hear(PROFILE, DocumentAccepted, handle, workers=2),
        ack_wait_seconds=1.0,
    )
    await service.bus.announce(accepted())
    await until(lambda: calls == [1, 2])
    await until(lambda: _is_zero(pending(make, "profiler")))


async def test_a_message_that_comes_again_is_left_to_who_has_it(make) -> None:
    await bootstrap(make.client.jetstream(timeout=30), make.prefix, ack_wait=1)
    calls: list[int] = []
    go = asyncio.Event()

    async def handle(event: JobEvent, work: Work) -> None:
        calls.append(work.deliveries)
        await go.wait()

    service = await make.start(
        Stage.PROFILER,
        lambda s: s.hear(PROFILE, DocumentAccepted, handle, workers=2),
        ack_wait_seconds=60.0,
    )
    await service.bus.announce(accepted())
    await until(lambda: _redelivered(make, "profiler"), what="a message without a heartbeat")
    assert calls == [1]
    go.set()
    await until(lambda: _is_zero(pending(make, "profiler")))
    assert calls == [1]
    assert not make.jobs.failures


async def test_work_is_not_done_again_when_its_acknowledgement_was_lost(make, monkeypatch) -> None:
    await bootstrap(make.client.jetstream(timeout=30), make.prefix, ack_wait=1)
    calls: list[int] = []
    acknowledge, lost = Msg.ack, []

    async def lose_the_first(message: Msg) -> None:
        if not lost:
            lost.append(message.metadata.sequence.stream)
            return
        await acknowledge(message)

    async def handle(event: JobEvent, work: Work) -> None:
        calls.append(work.deliveries)

    monkeypatch.setattr(Msg, "ack", lose_the_first)
    service = await make.start(
        Stage.PROFILER,
        lambda s: s.hear(PROFILE, DocumentAccepted, handle, workers=2),
        ack_wait_seconds=60.0,
    )
    await service.bus.announce(accepted())
    await until(lambda: bool(lost), what="an acknowledgement that gets lost")
    await until(lambda: _is_zero(pending(make, "profiler")), what="the second acknowledgement")
    assert calls == [1]
    assert not make.jobs.failures


async def _redelivered(make, durable: str) -> bool:
    info = await make.client.jetstream(timeout=30).consumer_info(
        stream_name(make.prefix, "pipeline"), durable
    )
    return bool(info.num_redelivered) and info.delivered.consumer_seq > 2


async def test_what_a_service_has_not_ended_when_it_stops_goes_to_another_at_once(
    make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_module, "HAND_OVER_SHARE", 0.01)
    await bootstrap(make.client.jetstream(timeout=30), make.prefix, ack_wait=120)
    begun: list[int] = []

    async def hang(event: JobEvent, work: Work) -> None:
        begun.append(work.deliveries)
        await asyncio.Event().wait()

    first = await make.start(
        Stage.PROFILER,
        lambda s: s.hear(PROFILE, DocumentAccepted, hang),
        shutdown_seconds=30.0,
    )
    await first.bus.announce(accepted())
    await until(lambda: begun)
    first.stopping.set()

    async def handle(event: JobEvent, work: Work) -> None:
        begun.append(work.deliveries)

    await make.start(Stage.PROFILER, lambda s: s.hear(PROFILE, DocumentAccepted, handle))
    await until(lambda: begun == [1, 2])
    await until(lambda: _is_zero(pending(make, "profiler")))
    assert not make.jobs.failures


async def test_a_lost_task_is_neither_acknowledged_nor_counted(make) -> None:
    await bootstrap(make.client.jetstream(timeout=30), make.prefix, ack_wait=1)
    calls: list[int] = []

    async def handle(event: JobEvent, work: Work) -> None:
        calls.append(work.deliveries)
        if len(calls) < 4:
            raise TakenOverFault("another worker has it")

    failed = await failed_events(make)
    service = await make.start(Stage.PROFILER, lambda s: s.hear(PROFILE, DocumentAccepted, handle))
    await service.bus.announce(accepted())
    await until(lambda: calls == [1, 2, 3, 4])
    await until(lambda: _is_zero(pending(make, "profiler")))
    assert not make.jobs.failures
    assert failed.empty()


async def test_a_lost_task_that_a_later_attempt_carries_on_ends(make) -> None:
    async def handle(event: JobEvent, work: Work) -> None:
        make.jobs.attempts["job-1"] = 2
        raise TakenOverFault("another worker has it")

    service = await make.start(Stage.PROFILER, lambda s: s.hear(PROFILE, DocumentAccepted, handle))
    await service.bus.announce(accepted(attempt=1))
    await until(lambda: make.jobs.attempts)
    await until(lambda: _is_zero(pending(make, "profiler")))


async def test_work_that_moves_says_so_in_the_catalog(make, monkeypatch) -> None:
    monkeypatch.setattr(heartbeat, "TELL_SECONDS", 0.2)

    async def handle(event: JobEvent, work: Work) -> None:
        while make.jobs.told[event.job_id] < 3:
            work.progress()
            await asyncio.sleep(0.02)

    service = await make.start(
        Stage.PROFILER,
        lambda s: s.hear(PROFILE, DocumentAccepted, handle),
        ack_wait_seconds=0.6,
    )
    await service.bus.announce(accepted())
    await until(lambda: make.jobs.told["job-1"] >= 3)
    await until(lambda: _is_zero(pending(make, "profiler")))


async def test_an_oversized_event_travels_by_reference(make) -> None:
    seen: list[DocumentChunked] = []

    async def handle(event: DocumentChunked, work: Work) -> None:
        seen.append(event)

    refs = {
        f"assets/images/{n:064d}.png": ArtefactRef(key=f"default/d/1/{n}", sha256="0" * 64, size=n)
        for n in range(9000)
    }
    event = DocumentChunked(
        namespace="default", document_id="d", revision=1, job_id="job-1", file_name="big.pdf",
        artefacts=refs, chunk_count=1, chunk_digest="0" * 64,
    )  # fmt: skip
    service = await make.start(Stage.INDEXER, lambda s: s.hear(PUBLISH, DocumentChunked, handle))
    await service.bus.announce(event)
    await until(lambda: seen)
    assert seen[0] == event


async def test_a_fault_travels_back_to_who_asked(make) -> None:
    async def handle(query: PlanQuery) -> PlanQuery:
        if query.request.query == "bad":
            raise CallerFault(Code.INVALID, "this cannot be asked", 422)
        return query

    query = PlanQuery(namespace="default", key_id="k", request=SearchRequest(query="good"))
    service = await make.start(Stage.PLANNER, lambda s: s.answer(QUERY_PLAN, PlanQuery, handle))
    answer = await service.bus.request(QUERY_PLAN, query, PlanQuery, timeout=PATIENCE)
    assert answer.request.query == "good"
    bad = query.model_copy(update={"request": SearchRequest(query="bad")})
    with pytest.raises(CallerFault) as raised:
        await service.bus.request(QUERY_PLAN, bad, PlanQuery, timeout=PATIENCE)
    assert (raised.value.status, raised.value.code) == (422, Code.INVALID)


async def test_nobody_there_is_a_fault_of_the_world(make) -> None:
    service = await make.start(Stage.GATEWAY, lambda s: None)
    query = PlanQuery(namespace="default", key_id="k", request=SearchRequest(query="q"))
    with pytest.raises(WorldFault) as raised:
        await service.bus.request(QUERY_PLAN, query, PlanQuery, timeout=PATIENCE)
    assert raised.value.code is Code.BUS_AWAY
