"""Is a message of this job still on its way? The streams know."""

from enum import Enum

import nats.errors
from nats.js.errors import Error as JetStreamError
from nats.js.errors import NotFoundError

from libs.contracts.faults import Code, WorldFault
from libs.contracts.subjects import CONSUMERS, LEDGER, PIPELINE, RETRIES, RETRY, RETRY_CONSUMERS
from libs.runtime.bus import Bus
from libs.runtime.routes import durable_name, full, stream_name, subject_of


class Pending(Enum):
    """What lies in the streams for a job."""

    NONE = "none"
    WAITING = "waiting"
    """A message that its consumer has not been given yet, or a retry that is not due."""
    TAKEN = "taken"
    """Messages that every consumer was given: worked on, or out of deliveries; or retries that
    came due, of which some may be the job's."""


async def pending_of(bus: Bus, job_id: str) -> Pending:
    """What is on its way for the job (or the erasure) of this id."""
    try:
        if await _retry_scheduled(bus, job_id):
            return Pending.WAITING
        stream = stream_name(bus.prefix, PIPELINE)
        subjects = await _subjects(bus, stream, full(bus.prefix, f"*.*.{job_id}.*"))
        for subject in subjects:
            if await _undelivered(bus, stream, subject):
                return Pending.WAITING
        taken = bool(subjects) or await _retries_due(bus)
    except (nats.errors.Error, JetStreamError, TimeoutError, OSError) as error:
        raise WorldFault(Code.BUS_AWAY, "the message bus is away") from error
    return Pending.TAKEN if taken else Pending.NONE


async def _retry_scheduled(bus: Bus, job_id: str) -> bool:
    """A scheduled retry is named after its job."""
    subjects = await _subjects(
        bus, stream_name(bus.prefix, RETRIES), full(bus.prefix, RETRY.wildcard)
    )
    return any(s.rpartition(".")[2].rpartition("-")[0] == job_id for s in subjects)


async def _retries_due(bus: Bus) -> bool:
    """Whether retries that came due wait or are worked on; they name no job."""
    stream = stream_name(bus.prefix, RETRIES)
    for consumer in RETRY_CONSUMERS:
        info = await bus.js.consumer_info(stream, durable_name(consumer))
        if info.num_pending or info.num_ack_pending:
            return True
    return False


async def _subjects(bus: Bus, stream: str, pattern: str) -> list[str]:
    info = await bus.js.stream_info(stream, subjects_filter=pattern)
    return list(info.state.subjects or {})


async def _undelivered(bus: Bus, stream: str, subject: str) -> bool:
    found = subject_of(bus.prefix, subject)
    if found is None:
        return False
    try:
        message = await bus.js.get_last_msg(stream, subject)
    except NotFoundError:
        return False  # acknowledged since the subjects were listed
    for consumer in CONSUMERS:
        if consumer is LEDGER or found[0].wildcard not in consumer.subjects:
            continue
        info = await bus.js.consumer_info(stream, durable_name(consumer))
        if info.delivered is None or info.delivered.stream_seq < (message.seq or 0):
            return True
    return False
