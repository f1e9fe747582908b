"""One delivery of an upload event, from taking it to its end.

An event is never lost to patience: before its deliveries run out while the world is away,
it is published again as a new message.
"""

import contextlib
from collections.abc import Iterator

from nats.aio.msg import Msg

from libs.contracts.faults import Code, WorldFault
from libs.contracts.subjects import TAKE, Subject
from libs.runtime.bus import headers_of
from libs.runtime.heartbeat import Heartbeat
from libs.runtime.parking import park
from libs.runtime.routes import subject_of
from libs.runtime.telemetry import logger
from libs.runtime.tracing import extract, message_span, record_error
from libs.runtime.work import Work
from services.gateway.deps import Deps
from services.gateway.intake import take

MAX_BUG_DELIVERIES = 3
LAST_DELIVERY = TAKE.max_deliver - 5
FIRST_DELAY_SECONDS = 2.0
LONGEST_DELAY_SECONDS = 60.0

log = logger("gateway.upload_events")


async def deliver(deps: Deps, message: Msg) -> None:
    """Take the event within its sender's trace, then acknowledge, delay or park it."""
    found = subject_of(deps.bus.prefix, message.subject)
    if found is None:
        await message.ack()
        return
    subject, tokens = found
    mark = str(message.metadata.sequence.stream)
    with (
        message_span("process", TAKE.durable, extract(headers_of(message)), TAKE.stream) as span,
        _beating(deps, message) as work,
    ):
        try:
            await take(deps, subject, tokens, message.data, mark, work)
            await message.ack()
        except WorldFault as fault:
            record_error(span, fault)
            await _later(deps, message, fault, subject, tokens)
        except Exception as error:
            record_error(span, error)
            log.error("an upload event failed", error=type(error).__name__, exc_info=error)
            await _bug(deps, message, error)


@contextlib.contextmanager
def _beating(deps: Deps, message: Msg) -> Iterator[Work]:
    work = Work("")
    beat = Heartbeat(message, work, deps.settings.ack_wait_seconds / 3, TAKE.durable)
    try:
        yield work
    finally:
        beat.stop()


async def _later(
    deps: Deps, message: Msg, fault: WorldFault, subject: Subject, tokens: dict[str, str]
) -> None:
    deliveries = message.metadata.num_delivered
    if deliveries >= LAST_DELIVERY:
        mark = f"again:{message.metadata.sequence.stream}"
        await deps.bus.publish(subject, message.data, message_id=mark, headers=None, **tokens)
        await message.ack()
        return
    delay = min(FIRST_DELAY_SECONDS * 2.0 ** (deliveries - 1), LONGEST_DELAY_SECONDS)
    log.info("an upload event waits", code=str(fault.code), delay=delay)
    await message.nak(delay=max(delay, fault.retry_after or 0.0))


async def _bug(deps: Deps, message: Msg, error: Exception) -> None:
    if message.metadata.num_delivered < MAX_BUG_DELIVERIES:
        await message.nak(delay=FIRST_DELAY_SECONDS)
        return
    detail = f"unexpected {type(error).__name__}"
    await park(deps.bus, message, TAKE, Code.INTERNAL, detail, None)
    await message.term()
