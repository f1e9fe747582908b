"""The gateway against a real nats-server: dead letters, what is on its way, the lease."""

import base64
import dataclasses
import uuid
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import orjson
import pytest
from faststream.nats import NatsBroker
from nats.js.api import ConsumerConfig
from nats.js.errors import NotFoundError

from libs.contracts.events import (
    ArtefactRef,
    DeadLetter,
    DocumentAccepted,
    DocumentParsed,
    IngestRefused,
    StageFailed,
)
from libs.contracts.faults import Code
from libs.contracts.subjects import (
    CHUNK,
    DEAD,
    HELD,
    INGEST,
    INGEST_REFUSED,
    INGEST_REQUESTED,
    LEDGER,
    OUTCOMES,
    PARK,
    PIPELINE,
    RETRY,
    RETRY_CONSUMERS,
    TAKE,
    Consumer,
    Stage,
)
from libs.contracts.tokens import new_id
from libs.runtime import deadletters
from libs.runtime.bus import Bus
from libs.runtime.routes import durable_name, full, stream_name
from libs.runtime.streams import bootstrap, bucket_name
from services.gateway.deps import Deps
from services.gateway.handlers import on_advisory, on_upload_event
from services.gateway.held import release_held
from services.gateway.lease import Lease
from services.gateway.pending import Pending, pending_of
from tests.support.gateway_fakes import World
from tests.support.nats import nats_server
from tests.support.waiting import PATIENCE, until

REF = ArtefactRef(key="k", sha256="a" * 64, size=1)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with nats_server(tmp_path_factory.mktemp("nats")) as url:
        yield url


@pytest.fixture
async def world(server: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    """In-memory stores over a real bus with a prefix of its own, to which no one is impatient."""
    monkeypatch.setattr("libs.runtime.bus.PUBLISH_TIMEOUT_SECONDS", PATIENCE)
    prefix = f"t{uuid.uuid4().hex[:8]}"
    async with NatsBroker(server, logger=None) as broker:
        await broker.connect()
        holder: list[World] = []
        stores = cast(Any, type("Lazy", (), {"objects": property(lambda _s: holder[0].objects)})())
        bus = Bus(broker, prefix, stores, Stage.GATEWAY)
        await bootstrap(bus.js, prefix, ack_wait=60)
        holder.append(World(bus=bus, prefix=prefix))
        yield holder[0]


async def pull(world: World, consumer: Consumer, timeout: float = PATIENCE) -> Any:
    bus = world.deps.bus
    subscription = await bus.js.pull_subscribe_bind(
        durable_name(consumer), stream=stream_name(bus.prefix, consumer.stream)
    )
    try:
        [message] = await subscription.fetch(1, timeout=timeout)
    finally:
        await subscription.unsubscribe()
    return message


def parsed(job_id: str, **fields: Any) -> DocumentParsed:
    base = {
        "namespace": "acme", "document_id": "d", "revision": 1, "job_id": job_id, "source": REF,
        "profile": REF, "file_name": "a.md", "rows": REF, "diagnostics": REF, "row_count": 1,
        "engine": "e",
    }  # fmt: skip
    return DocumentParsed.model_validate({**base, **fields})


async def exhaust(world: World, event: DocumentParsed) -> None:
    """Let the chunker's only delivery of an event run out, and hear the advisory."""
    bus = world.deps.bus
    stream = stream_name(bus.prefix, PIPELINE)
    info = await bus.js.consumer_info(stream, durable_name(CHUNK))
    await bus.js.add_consumer(stream, ConsumerConfig(**{
        **{k: v for k, v in vars(info.config).items() if v is not None},
        "max_deliver": 1, "ack_wait": 0.3,
    }))  # fmt: skip
    await bus.announce(event)
    await (await pull(world, LEDGER)).ack()
    await pull(world, CHUNK)

    async def told() -> int:
        """The server notices the end of a delivery when somebody asks for the next one."""
        with pytest.raises(TimeoutError):
            await pull(world, CHUNK, timeout=0.4)
        parked = await bus.js.consumer_info(
            stream_name(bus.prefix, PARK.stream), durable_name(PARK)
        )
        return parked.num_pending

    await until(told, what="the advisory")
    await on_advisory(world.deps, await pull(world, PARK))


async def test_an_exhausted_message_is_parked_whole_and_fails_its_job(world: World) -> None:
    bus = world.deps.bus
    event = parsed("job-1", attempt=3)
    await exhaust(world, event)
    page = await deadletters.list_letters(bus, world.objects, namespace="acme")
    [letter] = page.letters
    assert page.next_after is None
    assert (letter.stage, letter.consumer, letter.attempt) == ("chunker", "chunker", 3)
    assert DocumentParsed.model_validate_json(base64.b64decode(letter.body)) == event
    failed = StageFailed.model_validate_json((await pull(world, LEDGER)).data)
    assert (failed.stage, failed.job_id) == ("chunker", "job-1")
    assert failed.dead_letter_id == letter.dead_letter_id
    info = await bus.js.stream_info(
        stream_name(bus.prefix, PIPELINE), subjects_filter=full(bus.prefix, "parser.*.*.*")
    )
    assert not info.state.subjects


async def test_letters_are_read_paged_and_discarded_within_their_namespace(world: World) -> None:
    bus = world.deps.bus
    for number in range(5):
        await publish_letter(world, "acme" if number % 2 == 0 else "other", number)
    first = await deadletters.list_letters(bus, world.objects, namespace="acme", limit=2)
    assert first.next_after is not None
    rest = await deadletters.list_letters(
        bus, world.objects, namespace="acme", limit=2, after=first.next_after
    )
    everyone = await deadletters.list_letters(bus, world.objects, namespace=None)
    assert [x.attempt for x in first.letters + rest.letters] == [0, 2, 4]
    assert rest.next_after is None
    assert len(everyone.letters) == 5
    chosen = first.letters[0].dead_letter_id
    async with world.client("other", "operator") as foreign:
        path = f"/v1/dead-letters/{chosen}"
        answers = [
            await foreign.get(path),
            await foreign.delete(path),
            await foreign.post(f"{path}/replay"),
        ]
        mine = (await foreign.get("/v1/dead-letters")).json()["items"]
    assert [a.status_code for a in answers] == [404, 404, 404]
    assert [x["namespace"] for x in mine] == ["other", "other"]
    async with world.client("acme", "operator") as client:
        shown = await client.get(path)
        gone = await client.delete(path, params={"reason": "the file is gone"})
        again = await client.get(path)
    assert shown.json()["dead_letter_id"] == chosen
    assert (gone.status_code, again.status_code) == (204, 404)
    [entry] = await world.audit.select("acme")
    assert (entry.action, entry.target) == ("dead_letter.discard", chosen)
    assert entry.reason == "the file is gone"
    assert entry.detail == {
        "stage": "chunker", "code": "internal", "document_id": "d", "job_id": "j",
    }  # fmt: skip


async def test_letters_are_chosen_by_stage_code_and_document(world: World) -> None:
    await publish_letter(world, "acme", 0)
    await publish_letter(world, "acme", 1, stage="parser", consumer="parser")
    await publish_letter(world, "acme", 2, code=Code.TIMEOUT)
    await publish_letter(world, "acme", 3, document_id="other")
    async with world.client("acme", "operator") as client:

        async def found(**params: str) -> list[int]:
            answer = await client.get("/v1/dead-letters", params=params)
            return [letter["attempt"] for letter in answer.json()["items"]]

        assert await found(stage="parser") == [1]
        assert await found(code="timeout") == [2]
        assert await found(document_id="other") == [3]
        assert await found(stage="chunker", code="internal") == [0, 3]
        assert await found(stage="indexer") == []
        wrong = await client.get("/v1/dead-letters", params={"code": "nonsense"})
    assert wrong.status_code == 422


async def test_a_letter_is_shown_with_its_age_its_message_and_where_its_trace_is(
    world: World,
) -> None:
    event = parsed("job-1")
    letter = await publish_letter(
        world, "acme", 0, trace_id="f" * 32,
        body=base64.b64encode(event.model_dump_json().encode()).decode(),
    )  # fmt: skip
    broken = await publish_letter(world, "acme", 1, body=base64.b64encode(b"\xff\x00").decode())
    shows = World(bus=world.deps.bus, trace_url="https://traces.example/trace/{trace_id}")
    async with shows.client("acme", "operator") as client:
        shown = (await client.get(f"/v1/dead-letters/{letter}")).json()
        other = (await client.get(f"/v1/dead-letters/{broken}")).json()
    assert DocumentParsed.model_validate(shown["message"]) == event
    assert shown["trace_url"] == f"https://traces.example/trace/{'f' * 32}"
    assert shown["age_seconds"] > 3600
    assert (other["message"], other["trace_url"]) == (None, None)


@pytest.mark.parametrize("owner", ["acme", None], ids=["another's", "nobody's"])
async def test_letters_of_others_are_neither_shown_nor_touched(
    world: World, owner: str | None
) -> None:
    letter = await publish_letter(world, owner, 0)
    path = f"/v1/dead-letters/{letter}"
    async with world.client("globex", "operator") as client:
        assert (await client.get("/v1/dead-letters")).json()["items"] == []
        assert (await client.get("/v1/dead-letters?document_id=d")).json()["items"] == []
        asked = [client.get(path), client.post(f"{path}/replay"), client.delete(path)]
        assert {(await answer).status_code for answer in asked} == {404}
    async with world.client("globex", "admin") as client:
        assert (await client.get(path)).json()["namespace"] == owner
    assert await world.audit.select(owner) == []


async def publish_letter(world: World, namespace: str | None, number: int, **fields: Any) -> str:
    from libs.contracts.subjects import DEAD_LETTER

    letter = DeadLetter.model_validate({
        "dead_letter_id": new_id("dead"), "namespace": namespace, "document_id": "d",
        "job_id": "j", "stage": "chunker", "consumer": "chunker", "code": Code.INTERNAL,
        "detail": "x", "attempt": number, "deliveries": 3, "trace_id": None,
        "subject": full(world.deps.bus.prefix, "parser.parsed.j.1"), "headers": {},
        "body": "", "parked_at": "2026-01-01T00:00:00Z", **fields,
    })  # fmt: skip
    await world.deps.bus.publish(
        DEAD_LETTER, letter, message_id=letter.dead_letter_id, stage=letter.stage,
        letter=letter.dead_letter_id,
    )  # fmt: skip
    return letter.dead_letter_id


async def test_a_replay_is_a_new_message_and_its_failed_job_runs_again(world: World) -> None:
    async with world.client("acme", "operator") as client:
        sent = await client.post("/v1/namespaces/acme/documents", files={"file": ("a.md", b"x")})
        job_id = sent.json()["job_id"]
        await (await pull(world, LEDGER)).ack()
        event = parsed(job_id, document_id=sent.json()["document_id"])
        await exhaust(world, event)
        await (await pull(world, LEDGER)).ack()
        world.jobs.change(job_id, state="failed")
        [letter] = (await client.get("/v1/dead-letters")).json()["items"]
        path = f"/v1/dead-letters/{letter['dead_letter_id']}"
        answer = await client.post(f"{path}/replay")
        gone = await client.get(path)
        assert answer.status_code == 204, answer.text
        message = await pull(world, CHUNK)
        await publish_letter(world, "acme", 1, body=letter["body"], subject=letter["subject"])
        world.jobs.change(job_id, state="cancelled")
        [other] = (await client.get("/v1/dead-letters")).json()["items"]
        refused = await client.post(f"/v1/dead-letters/{other['dead_letter_id']}/replay")
    assert gone.status_code == 404
    assert {entry.action for entry in await world.audit.select("acme")} == {"dead_letter.replay"}
    replayed = DocumentParsed.model_validate_json(message.data)
    assert replayed.attempt == 2
    assert replayed.model_copy(update={"attempt": 1}) == event
    assert (refused.status_code, "cancelled" in refused.json()["detail"]) == (409, True)


@pytest.mark.parametrize(
    "body",
    [
        b"junk",
        b"[]",
        b'{"type":"io.nats.jetstream.advisory.v1.max_deliver"}',
        b'{"type":"io.nats.jetstream.advisory.v1.max_deliver",'
        b'"stream":"not-ours","consumer":"c","stream_seq":1}',
        b'{"type":"io.nats.jetstream.advisory.v1.terminated"}',
    ],
)
async def test_an_advisory_that_names_nothing_of_ours_is_passed_over(
    world: World, body: bytes
) -> None:
    acknowledged = []

    async def ack() -> None:
        acknowledged.append(body)

    message = SimpleNamespace(data=body, subject="$JS.EVENT.ADVISORY.x", ack=ack)
    await on_advisory(world.deps, cast(Any, message))
    page = await deadletters.list_letters(world.deps.bus, world.objects, namespace=None)
    assert (page.letters, acknowledged) == ([], [body])


async def test_what_is_on_its_way_is_known(world: World) -> None:
    bus = world.deps.bus
    assert await pending_of(bus, "job-1") is Pending.NONE
    await bus.announce(parsed("job-1"))
    assert await pending_of(bus, "job-1") is Pending.WAITING
    assert await pending_of(bus, "job-2") is Pending.NONE
    message = await pull(world, CHUNK)
    assert await pending_of(bus, "job-1") is Pending.TAKEN
    await message.ack()
    await (await pull(world, LEDGER)).ack()

    async def drained() -> bool:
        return await pending_of(bus, "job-1") is Pending.NONE

    await until(drained, what="the acknowledged message to go")


async def test_a_message_that_is_acknowledged_meanwhile_is_no_fault(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    bus = world.deps.bus
    await bus.announce(parsed("job-1"))

    async def gone(*_: Any, **__: Any) -> None:
        raise NotFoundError(code=404, err_code=10037, description="no message found")

    monkeypatch.setattr(type(bus.js), "get_last_msg", gone)
    assert await pending_of(bus, "job-1") is Pending.TAKEN


async def test_a_scheduled_retry_is_on_its_way(world: World) -> None:
    bus = world.deps.bus
    await bus.publish(
        RETRY,
        parsed("job-1"),
        headers={
            "Nats-Schedule": "@at 2099-01-01T00:00:00Z",
            "Nats-Schedule-Target": full(bus.prefix, "again.chunker"),
        },
        stage="chunker",
        consumer="chunker",
        id=new_id("job-1"),
    )
    assert await pending_of(bus, "job-1") is Pending.WAITING
    assert await pending_of(bus, "job") is Pending.NONE


async def test_one_holder_at_a_time(world: World) -> None:
    bus = world.deps.bus
    bucket = bucket_name(bus.prefix, "leases")
    first = Lease(lambda: bus.js.key_value(bucket), "reconciler", "one")
    second = Lease(lambda: bus.js.key_value(bucket), "reconciler", "two")
    assert await first.hold()
    assert not await second.hold()
    assert await first.hold()
    await first.release()
    assert await second.hold()
    assert not await first.hold()


async def test_upload_events_from_the_bus_are_taken_or_refused(world: World) -> None:
    bus = world.deps.bus
    await world.keys.create_namespace("acme")
    world.inbox.data["acme/a.md"] = b"# one"
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    for key in ("a.md", "none.md"):
        body = {"file_name": key, "source": {"bucket": "inbox", "key": key}}
        await bus.js.publish(
            full(bus.prefix, "ingest.requested.acme"),
            orjson.dumps(body),
            headers={"traceparent": f"00-{trace}-00f067aa0ba902b7-01"},
        )
        await on_upload_event(world.deps, await pull(world, TAKE))
    accepted = DocumentAccepted.model_validate_json((await pull(world, LEDGER)).data)
    assert accepted.file_name == "a.md"
    [job] = world.jobs.jobs.values()
    assert job.traceparent is not None
    assert trace in job.traceparent
    refused = await bus.js.get_last_msg(
        stream_name(bus.prefix, OUTCOMES), full(bus.prefix, INGEST_REFUSED.pattern)
    )
    problem = IngestRefused.model_validate_json(refused.data or b"").problem
    assert problem.code is Code.SOURCE_MISSING
    info = await bus.js.stream_info(stream_name(bus.prefix, INGEST))
    assert info.state.messages == 0


async def test_a_full_namespace_holds_up_no_other(world: World) -> None:
    bus = world.deps.bus
    narrow, roomy = (
        dataclasses.replace(
            world.deps,
            settings=world.settings.model_copy(
                update={"max_waiting": waiting, "jobs_per_namespace": 1}
            ),
        )
        for waiting in (1, 100)
    )
    count = TAKE.max_ack_pending + 4

    async def request(namespace: str, number: int) -> None:
        key = f"{number}.md"
        world.inbox.data[f"{namespace}/{key}"] = b"# %d" % number
        body = {"file_name": key, "source": {"bucket": "inbox", "key": key}}
        await bus.js.publish(full(bus.prefix, f"ingest.requested.{namespace}"), orjson.dumps(body))

    async def take_all(deps: Deps) -> None:
        info = await bus.js.stream_info(stream_name(bus.prefix, INGEST))
        for _ in range(info.state.messages):
            await on_upload_event(deps, await pull(world, TAKE))

    def taken(namespace: str) -> list[str]:
        mine = [job for job in world.jobs.jobs.values() if job.namespace == namespace]
        return [job.file_name for job in sorted(mine, key=lambda job: job.revn)]

    for namespace in ("acme", "other"):
        await world.keys.create_namespace(namespace)
    for number in range(count):
        await request("acme", number)
    await request("other", 0)
    await take_all(narrow)
    assert taken("acme") == ["0.md", "1.md"]
    assert taken("other") == ["0.md"]
    for job in list(world.jobs.jobs.values()):
        world.jobs.jobs[job.job_id] = dataclasses.replace(job, state="published")
    await release_held(roomy)
    await take_all(roomy)
    assert taken("acme") == [f"{n}.md" for n in range(count)]
    info = await bus.js.stream_info(stream_name(bus.prefix, HELD))
    assert info.state.messages == 0
    await release_held(narrow)


async def test_a_bug_in_taking_an_event_ends_in_a_dead_letter(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    bus = world.deps.bus

    async def broken(*_args: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("services.gateway.upload_events.take", broken)
    monkeypatch.setattr("services.gateway.upload_events.FIRST_DELAY_SECONDS", 0.01)
    await bus.js.publish(full(bus.prefix, "ingest.requested.acme"), b"{}")
    for _ in range(3):
        await on_upload_event(world.deps, await pull(world, TAKE))
    [letter] = (await deadletters.list_letters(bus, world.objects, namespace=None)).letters
    assert (letter.consumer, letter.code) == ("ingest", Code.INTERNAL)
    await deadletters.resend(bus, letter, 1)
    again = await pull(world, TAKE)
    assert again.data == b"{}"
    assert again.headers["Nats-Msg-Id"].endswith(":replay:1")
    assert again.subject == full(bus.prefix, INGEST_REQUESTED.pattern.format(namespace="acme"))


async def test_a_letter_over_the_payload_limit_is_kept_whole(world: World) -> None:
    body = base64.b64encode(b"x" * 900_000).decode()
    letter = await publish_letter(world, "acme", 1, body=body)
    found = await deadletters.get_letter(world.deps.bus, world.objects, letter)
    assert found is not None
    assert found.body == body
    info = await world.deps.bus.js.stream_info(stream_name(world.deps.bus.prefix, DEAD))
    assert info.state.bytes < 10_000


async def test_a_retry_that_came_due_is_on_its_way(world: World) -> None:
    bus = world.deps.bus
    (again,) = (c for c in RETRY_CONSUMERS if c.durable == f"{CHUNK.durable}-again")
    await bus.publish(
        RETRY,
        parsed("job-1"),
        headers={
            "Nats-Schedule": f"@at {datetime.now(UTC).strftime('%Y-%m-%dT%H:%M:%S.%fZ')}",
            "Nats-Schedule-Target": full(bus.prefix, again.subjects[0]),
        },
        stage=CHUNK.stage,
        consumer=CHUNK.durable,
        id=new_id("job-1"),
    )
    message = await pull(world, again)
    assert await pending_of(bus, "job-1") is Pending.TAKEN
    await message.ack()

    async def drained() -> bool:
        return await pending_of(bus, "job-1") is Pending.NONE

    await until(drained, what="the acknowledged retry to go")
