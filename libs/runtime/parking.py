"""Dead letters: a message that ran out of deliveries is kept whole before it ends."""

import base64
from datetime import UTC, datetime

from nats.aio.msg import Msg

from libs.contracts.events import DeadLetter, JobEvent
from libs.contracts.faults import Code
from libs.contracts.subjects import DEAD_LETTER, Consumer
from libs.contracts.tokens import new_id
from libs.runtime.bus import Bus, headers_of
from libs.runtime.telemetry import trace_id


async def park(
    bus: Bus, message: Msg, consumer: Consumer, code: Code, detail: str, event: JobEvent | None
) -> str:
    """Store the message in the dead-letter stream; returns the letter's id.

    The original body travels as base64, so bytes that break every contract survive.
    """
    letter = await keep(
        bus,
        consumer,
        event,
        letter_id=new_id("dead"),
        code=code,
        detail=detail,
        deliveries=message.metadata.num_delivered,
        trace=trace_id(),
        subject=message.subject,
        headers=headers_of(message),
        body=message.data,
    )
    return letter.dead_letter_id


async def keep(
    bus: Bus,
    consumer: Consumer,
    event: JobEvent | None,
    *,
    letter_id: str,
    code: Code,
    detail: str,
    deliveries: int,
    trace: str | None,
    subject: str,
    headers: dict[str, str],
    body: bytes,
) -> DeadLetter:
    """Publish the letter; the same `letter_id` again is the same letter."""
    letter = DeadLetter(
        dead_letter_id=letter_id,
        namespace=event.namespace if event else None,
        document_id=event.document_id if event else None,
        job_id=event.job_id if event else None,
        stage=consumer.stage,
        consumer=consumer.durable,
        code=code,
        detail=detail,
        attempt=event.attempt if event else 1,
        deliveries=deliveries,
        trace_id=trace,
        subject=subject,
        headers=headers,
        body=base64.b64encode(body).decode(),
        parked_at=datetime.now(UTC).isoformat(),
    )
    await bus.publish(
        DEAD_LETTER, letter, message_id=letter_id, stage=consumer.stage, letter=letter_id
    )
    return letter
