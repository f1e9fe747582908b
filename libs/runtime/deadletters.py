"""The dead-letter stream as operators use it: list, show, replay, discard.

A letter is found by its subject, `dead.<stage>.<letter>`, and paged by its place in the
stream. Faults of the connection are `WorldFault(BUS_AWAY)`.
"""

import base64
import binascii
import contextlib
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import nats.errors
import orjson
from nats.js.api import RawStreamMsg
from nats.js.errors import Error as JetStreamError
from nats.js.errors import NotFoundError
from pydantic import ValidationError

from libs.contracts.events import DeadLetter, JobEvent
from libs.contracts.faults import Code, WorldFault
from libs.contracts.subjects import (
    CONSUMERS,
    DEAD,
    INGEST_BUCKET,
    INGEST_REQUESTED,
    REDELIVERY,
    SEARCH_RAN,
    STREAMS,
    SUBJECTS,
    Consumer,
)
from libs.runtime.bus import BODY_KEY, MESSAGE_ID, Bus, load_body
from libs.runtime.objects.port import ObjectStore
from libs.runtime.parking import keep
from libs.runtime.routes import decode_event, full, stream_name, subject_of

AGAIN = "-again"
SCAN = 1000
"""Most letters that one page looks at; a namespace with none further gets a cursor to go on."""

_SERVER_HEADERS = "nats-"


@dataclass(frozen=True)
class LetterPage:
    """Letters, oldest first, and where the next page begins; None on the last."""

    letters: list[DeadLetter]
    next_after: int | None


async def park_stored(
    bus: Bus, message: RawStreamMsg, consumer: Consumer, event: JobEvent | None, deliveries: int
) -> DeadLetter:
    """Keep a message that ran out of deliveries, whole. The same message is the same letter."""
    parked = message.time or datetime.now(UTC)
    return await keep(
        bus,
        consumer,
        event,
        letter_id=letter_id(consumer, message.seq or 0, parked),
        code=Code.TIMEOUT,
        detail=f"{consumer.durable} did not finish it in {deliveries} deliveries",
        deliveries=deliveries,
        trace=_trace_of(message.headers or {}),
        subject=message.subject or "",
        headers=dict(message.headers or {}),
        body=message.data or b"",
    )


def letter_id(consumer: Consumer, sequence: int, moment: datetime) -> str:
    """The id of a consumer's letter about one message of its stream."""
    digest = hashlib.sha256(f"{consumer.stream}:{consumer.durable}:{sequence}".encode())
    return f"dead-{int(moment.timestamp() * 1000):011x}{digest.hexdigest()[:16]}"


async def list_letters(
    bus: Bus,
    objects: ObjectStore,
    *,
    namespace: str | None,
    stage: str | None = None,
    code: str | None = None,
    document_id: str | None = None,
    after: int = 0,
    limit: int = 50,
) -> LetterPage:
    """Letters behind the place `after` that fit all that is given; None fits every letter."""
    wanted = {"namespace": namespace, "code": code, "document_id": document_id}
    chosen = {name: value for name, value in wanted.items() if value is not None}
    letters: list[DeadLetter] = []
    place = after
    for _ in range(SCAN):
        message = await _next(bus, place + 1, stage or "*")
        if message is None:
            return LetterPage(letters, None)
        if len(letters) == limit:
            break
        place = message.seq or place + 1
        letter = await _read(objects, message)
        if letter is not None and all(getattr(letter, n) == v for n, v in chosen.items()):
            letters.append(letter)
    return LetterPage(letters, place)


async def oldest(bus: Bus) -> datetime | None:
    """When the letter that waits longest was parked; None when there is none."""
    found = await _next(bus, 1, "*")
    return None if found is None else found.time


async def get_letter(bus: Bus, objects: ObjectStore, letter: str) -> DeadLetter | None:
    """The letter with this id."""
    found = await _find(bus, letter)
    return None if found is None else await _read(objects, found)


async def discard(bus: Bus, letter: str) -> bool:
    """Drop a letter for good; False when there is none such."""
    found = await _find(bus, letter)
    if found is None:
        return False
    with _connection():
        return bool(await bus.js.delete_msg(stream_name(bus.prefix, DEAD), found.seq or 0))


async def message_of(objects: ObjectStore, letter: DeadLetter) -> Any:
    """The letter's message as JSON, wherever its body lies; None when it is none."""
    try:
        return orjson.loads(await body_of(objects, letter.headers, base64.b64decode(letter.body)))
    except (ValueError, WorldFault):
        return None


async def body_of(objects: ObjectStore, headers: dict[str, str], data: bytes) -> bytes:
    """A stored message's body, wherever it lies."""
    return await load_body(objects, headers) if BODY_KEY in headers else data


async def event_of(bus: Bus, objects: ObjectStore, letter: DeadLetter) -> JobEvent | None:
    """The event of a job that the letter holds; None when it holds none that can be read."""
    try:
        body = await body_of(objects, letter.headers, base64.b64decode(letter.body))
        return read_event(bus.prefix, letter.subject, letter.consumer, body)
    except (binascii.Error, ValueError):
        return None


def read_event(prefix: str, subject: str, durable: str, body: bytes) -> JobEvent:
    """The event in a message; a redelivered one is known by its consumer.

    Raises `ValueError` when the message holds no event of a job.
    """
    found = subject_of(prefix, subject)
    if found is None or found[0] is not REDELIVERY:
        return decode_event(prefix, subject, body)
    heard = durable.removesuffix(AGAIN)
    patterns = {p for c in CONSUMERS if c.durable == heard for p in c.subjects}
    for entry in SUBJECTS:
        if entry.wildcard in patterns and issubclass(entry.model, JobEvent):
            return entry.model.model_validate_json(body)
    raise ValueError(f"no event is known for consumer {durable!r}")


async def resend(bus: Bus, letter: DeadLetter, turn: int) -> None:
    """Publish the original message of a letter that holds no event, under a new id.

    Raises `ValueError` for a subject on which nothing may be sent again.
    """
    found = subject_of(bus.prefix, letter.subject)
    if found is None or found[0] not in (INGEST_REQUESTED, INGEST_BUCKET, SEARCH_RAN):
        raise ValueError(f"a message on {letter.subject[:120]!r} cannot be sent again")
    headers = {k: v for k, v in letter.headers.items() if not k.lower().startswith(_SERVER_HEADERS)}
    await bus.publish(
        found[0],
        base64.b64decode(letter.body),
        message_id=f"{letter.headers.get(MESSAGE_ID, letter.dead_letter_id)}:replay:{turn}",
        headers=headers,
        **found[1],
    )


def consumer_named(prefix: str, stream: str, durable: str) -> Consumer | None:
    """The catalogue's consumer by its names on the server."""
    names = {stream_name(prefix, s): s.name for s in STREAMS}
    for consumer in CONSUMERS:
        if consumer.durable == durable and consumer.stream == names.get(stream):
            return consumer
    return None


async def _next(bus: Bus, place: int, stage: str) -> RawStreamMsg | None:
    try:
        with _connection():
            return await bus.js.get_msg(
                stream_name(bus.prefix, DEAD),
                seq=place,
                subject=full(bus.prefix, f"dead.{stage}.*"),
                next=True,
            )
    except NotFoundError:
        return None


async def _find(bus: Bus, letter: str) -> RawStreamMsg | None:
    subject = full(bus.prefix, f"dead.*.{letter}")
    try:
        with _connection():
            return await bus.js.get_last_msg(stream_name(bus.prefix, DEAD), subject)
    except NotFoundError:
        return None


async def _read(objects: ObjectStore, message: RawStreamMsg) -> DeadLetter | None:
    try:
        body = await body_of(objects, dict(message.headers or {}), message.data or b"")
        return DeadLetter.model_validate_json(body)
    except ValidationError:
        return None


def _trace_of(headers: dict[str, str]) -> str | None:
    parts = headers.get("traceparent", "").split("-")
    return parts[1] if len(parts) == 4 else None


@contextlib.contextmanager
def _connection() -> Iterator[None]:
    try:
        yield
    except NotFoundError:
        raise
    except (nats.errors.Error, JetStreamError, TimeoutError, OSError) as error:
        raise WorldFault(Code.BUS_AWAY, "the message bus is away", retry_after=2.0) from error
