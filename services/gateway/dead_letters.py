"""Dead letters: what the server says ran out of deliveries, and sending it again."""

from dataclasses import dataclass

import orjson
from nats.aio.msg import Msg
from nats.js.errors import NotFoundError

from libs.contracts.events import DeadLetter, JobEvent, StageFailed
from libs.contracts.faults import CallerFault, Code, Who
from libs.contracts.subjects import CHUNK, JOIN, PARSE, PROFILE, PUBLISH, RELEASE, Consumer
from libs.runtime import deadletters
from libs.runtime.telemetry import logger
from services.gateway.deps import Deps

MAX_DELIVER = "io.nats.jetstream.advisory.v1.max_deliver"
ADVANCING = frozenset(c.durable for c in (PROFILE, RELEASE, PARSE, JOIN, CHUNK, PUBLISH))
"""Consumers without whose work a job does not go on, so that their dead letter fails it."""

log = logger("gateway.dead_letters")


@dataclass(frozen=True)
class Advisory:
    """A message ran out of deliveries: the server's names for where it lies and who had it."""

    stream: str
    consumer: str
    sequence: int
    deliveries: int


def read_advisory(data: bytes) -> Advisory | None:
    """The advisory, or None for one of another kind or shape."""
    try:
        body = orjson.loads(data)
        if body["type"] != MAX_DELIVER:
            return None
        return Advisory(
            str(body["stream"]),
            str(body["consumer"]),
            int(body["stream_seq"]),
            int(body.get("deliveries", 0)),
        )
    except (KeyError, TypeError, ValueError):
        return None


async def on_advisory(deps: Deps, message: Msg) -> None:
    """Park the message that an advisory names, and fail its job; other advisories pass."""
    advisory = read_advisory(message.data)
    if advisory is not None:
        await _park(deps, advisory)
    await message.ack()


async def _park(deps: Deps, advisory: Advisory) -> None:
    bus = deps.bus
    consumer = deadletters.consumer_named(bus.prefix, advisory.stream, advisory.consumer)
    if consumer is None:
        return
    try:
        stored = await bus.js.get_msg(advisory.stream, seq=advisory.sequence)
    except NotFoundError:
        return
    headers, data = dict(stored.headers or {}), stored.data or b""
    event = await _event(deps, stored.subject or "", headers, data, consumer)
    letter = await deadletters.park_stored(bus, stored, consumer, event, advisory.deliveries)
    if event is not None and consumer.durable.removesuffix(deadletters.AGAIN) in ADVANCING:
        await bus.announce(_failed(event, consumer, letter))
    await bus.js.delete_msg(advisory.stream, advisory.sequence)
    log.warning("parked", dead_letter_id=letter.dead_letter_id, consumer=consumer.durable)


async def _event(
    deps: Deps, subject: str, headers: dict[str, str], data: bytes, consumer: Consumer
) -> JobEvent | None:
    try:
        body = await deadletters.body_of(deps.stores.objects, headers, data)
        return deadletters.read_event(deps.bus.prefix, subject, consumer.durable, body)
    except ValueError:
        return None


def _failed(event: JobEvent, consumer: Consumer, letter: DeadLetter) -> StageFailed:
    return StageFailed(
        namespace=event.namespace,
        document_id=event.document_id,
        revision=event.revision,
        job_id=event.job_id,
        attempt=event.attempt,
        stage=consumer.stage,
        code=letter.code,
        who=Who.US,
        detail=letter.detail,
        dead_letter_id=letter.dead_letter_id,
    )


async def replay(deps: Deps, letter: DeadLetter) -> None:
    """Send the letter's message again as a new one, its job running again; drop the letter.

    Raises 409 for a message that cannot be sent again, and for one whose job has ended in
    another way meanwhile.
    """
    event = await deadletters.event_of(deps.bus, deps.stores.objects, letter)
    if event is None:
        await _resend(deps, letter)
    else:
        await _replay_event(deps, letter, event)
    await deadletters.discard(deps.bus, letter.dead_letter_id)


async def _replay_event(deps: Deps, letter: DeadLetter, event: JobEvent) -> None:
    jobs = deps.stores.catalog.jobs
    attempt = event.attempt + 1
    if letter.consumer.removesuffix(deadletters.AGAIN) in ADVANCING:
        job = await jobs.reopen(event.job_id) or await jobs.get(None, event.job_id)
        if job is None or job.state != "running":
            state = "unknown" if job is None else job.state
            raise CallerFault(
                Code.CONFLICT,
                f"the job is {state}: discard the letter, or send the document again",
                409,
            )
        attempt = max(attempt, job.attempt)
    await deps.bus.announce(event.model_copy(update={"attempt": attempt}))


async def _resend(deps: Deps, letter: DeadLetter) -> None:
    turn = int(deps.clock().timestamp() * 1000)
    try:
        await deadletters.resend(deps.bus, letter, turn)
    except ValueError:
        raise CallerFault(
            Code.CONFLICT, "this message cannot be sent again; it can only be discarded", 409
        ) from None
