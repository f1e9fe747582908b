"""One delivery of one message, from taking it to its end: the fault middleware.

The order is the guarantee: decode, drop what is stale, work while heartbeats go out,
and acknowledge only after the handler has stored its outputs and announced what follows.
Every failure goes through `faultpolicy.decide`, once.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Generic, TypeVar

from nats.aio.msg import Msg
from opentelemetry import trace

from libs.contracts.events import JobEvent
from libs.contracts.faults import Code, Fault, StaleFault, TakenOverFault
from libs.contracts.subjects import REDELIVERY, RETRY, Consumer
from libs.contracts.tokens import new_id
from libs.runtime.bus import BODY_KEY, Bus, headers_of, load_body
from libs.runtime.faultpolicy import Decision, RetryPolicy, decide
from libs.runtime.heartbeat import Heartbeat
from libs.runtime.parking import park
from libs.runtime.routes import address
from libs.runtime.stores import Stores
from libs.runtime.telemetry import IN_PROGRESS, MESSAGE_SECONDS, MESSAGES, exemplar_of, logger
from libs.runtime.tracing import extract, message_span, record_error
from libs.runtime.work import Mark, Standing, Work, WorkRegistry

E = TypeVar("E", bound=JobEvent)
Handler = Callable[[E, Work], Awaitable[None]]

CANCEL_GRACE_SECONDS = 1.0
HAND_OVER_SECONDS = 1.0
"""How long work that a process gives back as it ends waits for another."""
SHORT_DELAY_SECONDS = 1.0
SHORT_RETRIES = 10

log = logger("delivery")


ENDS = {"cancelled": Code.CANCELLED, "superseded": Code.SUPERSEDED}


class Ended(StaleFault):
    """The job will never go on: its ledger must hear so, or it would look unattended."""


class HandedOver(Exception):
    """The process ends before the work: nobody is at fault."""


class Delivery(Generic[E]):
    """Handles every message of one durable consumer.

    `advances` says that its work moves the job on: then messages of jobs that are not
    current any more are dropped, and a parked message fails its job.
    """

    def __init__(
        self,
        consumer: Consumer,
        decode: Callable[[str, bytes], E],
        handler: Handler[E],
        bus: Bus,
        stores: Stores,
        registry: WorkRegistry,
        policy: RetryPolicy,
        *,
        advances: bool,
        heartbeat: float,
    ) -> None:
        self._consumer = consumer
        self._decode = decode
        self._handler = handler
        self._bus = bus
        self._stores = stores
        self._registry = registry
        self._policy = policy
        self._advances = advances
        self._heartbeat_seconds = heartbeat

    async def __call__(self, message: Msg) -> None:
        """Take the message to its end; never raises but when the process is stopping."""
        name = self._consumer.durable
        started = time.perf_counter()
        with (
            IN_PROGRESS.labels(name).track_inprogress(),
            message_span(
                "process", name, extract(headers_of(message)), self._consumer.stream
            ) as span,
        ):
            span.set_attribute("groundwire.delivery", message.metadata.num_delivered)
            outcome = await self._process(message, span)
            span.set_attribute("groundwire.outcome", outcome)
        MESSAGES.labels(name, outcome).inc()
        MESSAGE_SECONDS.labels(name).observe(time.perf_counter() - started, exemplar_of(span))

    async def _process(self, message: Msg, span: trace.Span) -> str:
        event: E | None = None
        mark = self._mark(message)
        if (standing := self._registry.standing(mark)) != "free":
            return await self._repeated(message, standing)
        try:
            body = await self._body(message)
            event = self._decode(message.subject, body)
            span.set_attribute("groundwire.job_id", event.job_id)
            span.set_attribute("groundwire.document_id", event.document_id)
            work = Work(event.job_id, deliveries=message.metadata.num_delivered)
            await self._drop_stale(event)
            if (standing := self._registry.standing(mark)) != "free":
                return await self._repeated(message, standing)
            with self._registry.working(work, mark):
                await self._work(event, work, message)
                await self._end(message)
        except HandedOver:
            with contextlib.suppress(Exception):
                await message.nak(delay=HAND_OVER_SECONDS)
                await self._bus.nats.flush()
            return "handed_over"
        except Exception as error:
            record_error(span, error)
            return await self._settle(message, event, error, span)
        return "done"

    def _mark(self, message: Msg) -> Mark:
        metadata = message.metadata
        return (self._consumer.durable, metadata.sequence.stream, metadata.timestamp)

    async def _end(self, message: Msg, *, refuse: bool = False) -> None:
        """Acknowledge the message, or `refuse` it for good: it does not come again."""
        self._registry.end(self._mark(message))
        await (message.term() if refuse else message.ack())

    async def _repeated(self, message: Msg, standing: Standing) -> str:
        """A copy of a message that is being worked on, or whose acknowledgement got lost."""
        if standing == "ended":
            await message.ack()
        return standing

    async def _body(self, message: Msg) -> bytes:
        headers = headers_of(message)
        if BODY_KEY not in headers:
            return bytes(message.data)
        return await load_body(self._stores.objects, headers)

    async def _drop_stale(self, event: E) -> None:
        if not self._advances:
            return
        standing = await self._stores.catalog.jobs.standing(event.job_id)
        if standing in ENDS:
            raise Ended(ENDS[standing], f"the job is {standing}")
        if standing != "current":
            raise StaleFault(Code.SUPERSEDED, f"the job is {standing}")

    async def _work(self, event: E, work: Work, message: Msg) -> None:
        """Run the handler; when it shall end it has a moment to do so by itself."""
        loop = asyncio.get_running_loop()
        jobs = self._stores.catalog.jobs
        beat = Heartbeat(
            message,
            work,
            self._heartbeat_seconds,
            self._consumer.durable,
            partial(jobs.alive, event.job_id) if self._advances else None,
        )
        try:
            async with asyncio.timeout(None) as limit:
                work.on_end(lambda: limit.reschedule(loop.time() + _grace(work)))
                await self._handler(event, work)
        except Exception as error:
            if work.cancelled.is_set():
                raise StaleFault(Code.CANCELLED, "the job was cancelled") from error
            if work.lost:
                raise TakenOverFault("the work was given to another worker") from error
            if work.handed_over:
                raise HandedOver from error
            raise
        finally:
            beat.stop()

    async def _settle(
        self, message: Msg, event: E | None, error: Exception, span: trace.Span
    ) -> str:
        try:
            decision = await self._decide(message, event, error)
            span.add_event(
                "fault",
                {
                    "kind": decision.kind,
                    "code": decision.code,
                    "action": decision.action,
                    "delay": decision.delay,
                },
            )
            log.log(
                30 if decision.kind in ("bug", "world") else 20,
                "delivery failed",
                consumer=self._consumer.durable,
                job_id=event.job_id if event else None,
                code=str(decision.code),
                action=decision.action,
                delay=decision.delay,
                exc_info=error if decision.kind == "bug" else None,
            )
            await self._apply(message, event, error, decision)
        except Exception:
            log.exception("could not settle a delivery", consumer=self._consumer.durable)
            with contextlib.suppress(Exception):
                await message.nak(delay=self._policy.first_delay)
            return "retry"
        return decision.action

    async def _decide(self, message: Msg, event: E | None, error: Exception) -> Decision:
        if event is None and not isinstance(error, Fault):
            return Decision("park", "bug", Code.INTERNAL, "a message that breaks its contract")
        failures = message.metadata.num_delivered
        decision = decide(error, failures, self._policy)
        if event is None or decision.action not in ("retry", "park"):
            return decision
        task = f"{self._consumer.durable}:{event.job_id}:{event.shard_token}"
        with contextlib.suppress(Fault):
            failures = await self._stores.catalog.jobs.failure(task, decision.kind)
        return decide(error, failures, self._policy)

    async def _newer_message(self, event: E | None) -> bool:
        """Whether a later attempt's message carries the task on."""
        job = None if event is None else await self._stores.catalog.jobs.get(None, event.job_id)
        return event is not None and job is not None and job.attempt > event.attempt

    async def _apply(
        self, message: Msg, event: E | None, error: Exception, decision: Decision
    ) -> None:
        if decision.action == "drop":
            ended = isinstance(error, Ended) or decision.code is Code.CANCELLED
            if ended and event is not None and isinstance(error, Fault):
                await self._bus.fail(event, error)
            await self._end(message)
        elif decision.action == "leave":
            if await self._newer_message(event):
                await self._end(message)
        elif decision.action == "fail":
            assert event is not None and isinstance(error, Fault)
            await self._bus.fail(event, error)
            await self._end(message, refuse=True)
        elif decision.action == "retry":
            await self._retry(message, event, decision)
        else:
            await self._park(message, event, decision)

    async def _retry(self, message: Msg, event: E | None, decision: Decision) -> None:
        """A short wait holds its place in the consumer; a long one, or one after many, since
        the server delivers a message so often at most, is a message schedule."""
        few = message.metadata.num_delivered <= SHORT_RETRIES
        if event is None or (decision.delay <= SHORT_DELAY_SECONDS and few):
            await message.nak(delay=decision.delay)
            return
        durable = self._consumer.durable.removesuffix("-again")
        again = event.model_copy(update={"attempt": event.attempt + 1})
        due = datetime.now(UTC) + timedelta(seconds=decision.delay)
        moment = due.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        await self._bus.publish(
            RETRY,
            again,
            headers={
                "Nats-Schedule": f"@at {moment}",
                "Nats-Schedule-Target": address(self._bus.prefix, REDELIVERY, consumer=durable),
            },
            stage=self._consumer.stage,
            consumer=durable,
            id=new_id(event.job_id),
        )
        await self._end(message)

    async def _park(self, message: Msg, event: E | None, decision: Decision) -> None:
        """Keep the message whole as a dead letter, fail its job, then end the delivery."""
        letter_id = await park(
            self._bus, message, self._consumer, decision.code, decision.detail, event
        )
        if event is not None and self._advances:
            await self._bus.fail(
                event, Fault(decision.code, decision.detail), dead_letter_id=letter_id
            )
        await self._end(message, refuse=True)


def _grace(work: Work) -> float:
    """How long a handler has to end by itself; a process that ends has no time for that."""
    return 0.0 if work.handed_over else CANCEL_GRACE_SECONDS
