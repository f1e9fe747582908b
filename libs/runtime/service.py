"""One service process: its bus, stores, handlers and probes, from start to clean end."""

import asyncio
import contextlib
import gc
import os
import signal
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import uvloop
from faststream import AckPolicy
from faststream.nats import JStream, PullSub
from faststream.nats.message import NatsMessage
from pydantic import BaseModel, ValidationError

from libs.contracts.events import CancelJob, JobEvent
from libs.contracts.faults import Code, Fault
from libs.contracts.subjects import CONTROL_CANCEL, RETRY_CONSUMERS, Consumer, Stage, Subject
from libs.runtime.broker import broker_of, connected, inbox_below
from libs.runtime.bus import Bus
from libs.runtime.delivery import Delivery
from libs.runtime.faultpolicy import RetryPolicy
from libs.runtime.probes import Check, HttpServer, http_server, probe_app
from libs.runtime.readiness import require
from libs.runtime.requests import answering
from libs.runtime.routes import decode_event, durable_name, full, stream_name
from libs.runtime.runfile import write_run_file
from libs.runtime.settings import Settings
from libs.runtime.stores import Stores
from libs.runtime.telemetry import configure_logging, configure_tracing, logger
from libs.runtime.work import Work, WorkRegistry

__all__ = ["Service", "require", "run"]

E = TypeVar("E", bound=JobEvent)
Q = TypeVar("Q", bound=BaseModel)

FETCH_SECONDS = 2.0
HAND_OVER_SHARE = 0.6
"""Of the time that a service may take to end, what its work has before it is handed over."""
SOON_SECONDS = 2.0

log = logger("service")


async def _undecoded(message: NatsMessage) -> NatsMessage:
    """Handlers get messages as they are, past the injection of arguments by type, which would
    send every message through a thread."""
    return message


class Service:
    """What `build(service)` of a service's `app.py` is given to wire itself."""

    def __init__(self, stage: Stage, settings: Settings) -> None:
        self.stage = stage
        self.settings = settings
        self.stores = Stores(settings, index_writer=stage is Stage.INDEXER)
        self._broker = broker_of(stage, settings, self._bus_closed)
        self.bus = Bus(self._broker, settings.prefix, self.stores, stage)
        self._registry = WorkRegistry()
        self._policy = RetryPolicy(
            settings.world_retries,
            settings.bug_retries,
            settings.retry_seconds,
            settings.max_retry_seconds,
        )
        self._checks: dict[str, Check] = {"bus": self._bus_ready}
        self._start: list[Callable[[], Awaitable[None]]] = []
        self._stop: list[Callable[[], Awaitable[None]]] = []
        self._after: list[Callable[[], Awaitable[None]]] = []
        self._periodic: list[tuple[float, Callable[[], Awaitable[None]], str]] = []
        self._soon: list[tuple[Callable[[], Awaitable[None]], str]] = []
        self._apps: list[tuple[Any, str, int]] = []
        self.stopping = asyncio.Event()
        self.cut_off = False

    def hear(
        self,
        consumer: Consumer,
        model: type[E],
        handler: Callable[[E, Work], Awaitable[None]],
        *,
        workers: int = 1,
        advances: bool = True,
    ) -> None:
        """Handle a durable's messages, and its retries that come due, `workers` at a time.

        `model` JobEvent takes every event of a job, decoded by its subject; `advances` is
        explained at `Delivery`.
        """
        again = [c for c in RETRY_CONSUMERS if c.durable == f"{consumer.durable}-again"]
        for durable in (consumer, *again):
            decode = self._decoder(model, by_subject=model is JobEvent)
            delivery = Delivery(
                durable, decode, handler, self.bus, self.stores, self._registry, self._policy,
                advances=advances,
                heartbeat=self.settings.ack_wait_seconds / 3,
            )  # fmt: skip
            for _ in range(workers if durable is consumer else 1):
                self.subscribe(durable, delivery)

    def subscribe(
        self, consumer: Consumer, take: Callable[[Any], Awaitable[None]], *, batch: int = 1
    ) -> None:
        """Pull a durable's raw messages, at most `batch` at a time; `take` must end each."""

        async def on_message(message: NatsMessage) -> None:
            await take(message.raw_message)

        self._broker.subscriber(
            full(self.settings.prefix, consumer.subjects[0]),
            durable=durable_name(consumer),
            stream=JStream(stream_name(self.settings.prefix, consumer.stream), declare=False),
            pull_sub=PullSub(batch_size=batch, timeout=FETCH_SECONDS),
            inbox_prefix=inbox_below(self.settings),
            ack_policy=AckPolicy.MANUAL,
            decoder=_undecoded,
        )(on_message)

    def answer(
        self,
        subject: Subject,
        model: type[Q],
        handler: Callable[[Q], Awaitable[BaseModel]],
        *,
        workers: int = 16,
    ) -> None:
        """Answer requests on a core subject, shared among replicas by a queue group.

        A fault is answered as a problem document; anything else as `internal`.
        """

        self._broker.subscriber(
            full(self.settings.prefix, subject.pattern),
            queue=f"{self.settings.prefix}-{self.stage}",
            max_workers=workers,
            ack_policy=AckPolicy.MANUAL,
            no_reply=True,
            decoder=_undecoded,
        )(answering(self.bus, subject, model, handler))

    def every(self, seconds: float, task: Callable[[], Awaitable[None]], name: str) -> None:
        """Run `task` every so many seconds; an error is logged and the next run comes."""
        self._periodic.append((seconds, task, name))

    def on_start(self, hook: Callable[[], Awaitable[None]]) -> None:
        """Run before the first message is taken; the bus is connected."""
        self._start.append(hook)

    def soon(self, task: Callable[[], Awaitable[None]], name: str) -> None:
        """Run `task` once, beside the work, when the other services have had time to start
        too; an error is logged."""
        self._soon.append((task, name))

    def on_stop(self, hook: Callable[[], Awaitable[None]]) -> None:
        """Run when the end has been asked for; the bus is still connected."""
        self._stop.append(hook)

    def on_end(self, hook: Callable[[], Awaitable[None]]) -> None:
        """Run after the last message was ended; the bus is closed."""
        self._after.append(hook)

    def on_ready(self, name: str, check: Check) -> None:
        """A condition of `/readyz`: raises while it does not hold."""
        self._checks[name] = check

    def http(self, app: Any, host: str, port: int) -> None:
        """Serve an ASGI application beside the probes."""
        self._apps.append((app, host, port))

    @property
    def checks(self) -> dict[str, Check]:
        """The conditions of readiness, by name."""
        return self._checks

    async def serve(self) -> None:
        """Run until SIGTERM or SIGINT, then finish what was begun, within the time set."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stopping.set)
        self._hear_cancels()
        servers: list[tuple[HttpServer, asyncio.Task[None]]] = []
        tasks: list[asyncio.Task[None]] = []
        if not await connected(self._broker, self.stopping):
            return
        try:
            for hook in self._start:
                await hook()
            await self._broker.start()
            port = 0
            app = probe_app(self.stage, self._checks)
            probes = (app, self.settings.probe_host, self.settings.probe_port)
            for app, host, wanted in (*self._apps, probes):
                server, bound = http_server(app, host, wanted)
                servers.append((server, asyncio.create_task(server.serve([bound]))))
                port = bound.getsockname()[1]
            write_run_file(self.settings.data_dir, self.stage, port)
            tasks += [asyncio.create_task(self._after_start(*entry)) for entry in self._soon]
            tasks += [asyncio.create_task(self._repeat(*entry)) for entry in self._periodic]
            log.info("service started", probe_port=port, pid=os.getpid())
            gc.freeze()
            await self.stopping.wait()
        finally:
            await self._end(servers, tasks)

    async def _end(
        self, servers: list[tuple[HttpServer, asyncio.Task[None]]], tasks: list[asyncio.Task[None]]
    ) -> None:
        for task in tasks:
            task.cancel()
        for server, _ in servers:
            server.should_exit = True
        await asyncio.gather(*(s for _, s in servers), *tasks, return_exceptions=True)
        for hook in self._stop:
            await self._run(hook, "stop")
        seconds = self.settings.shutdown_seconds
        handing = asyncio.create_task(self._registry.hand_over(HAND_OVER_SHARE * seconds))
        with contextlib.suppress(Exception):
            await asyncio.wait_for(self._broker.stop(), seconds + 0.3)
        handing.cancel()
        for hook in (*self._after, self.stores.close):
            await self._run(hook, "end")
        log.info("service ended")

    def _decoder(self, model: type[E], *, by_subject: bool) -> Callable[[str, bytes], E]:
        prefix = self.settings.prefix

        def decode(wire: str, body: bytes) -> E:
            if by_subject:
                return decode_event(prefix, wire, body)  # type: ignore[return-value]
            return model.model_validate_json(body)

        return decode

    def _hear_cancels(self) -> None:
        async def on_cancel(message: NatsMessage) -> None:
            with contextlib.suppress(ValidationError):
                cancel = CancelJob.model_validate_json(message.raw_message.data)
                self._registry.cancel(cancel.job_id)

        self._broker.subscriber(
            full(self.settings.prefix, CONTROL_CANCEL.wildcard),
            ack_policy=AckPolicy.MANUAL,
            no_reply=True,
            decoder=_undecoded,
        )(on_cancel)

    async def _repeat(self, seconds: float, task: Callable[[], Awaitable[None]], name: str) -> None:
        while True:
            started = time.monotonic()
            await self._run(task, name)
            await asyncio.sleep(max(seconds - (time.monotonic() - started), 0.01))

    async def _after_start(self, task: Callable[[], Awaitable[None]], name: str) -> None:
        await asyncio.sleep(SOON_SECONDS)
        await self._run(task, name)

    async def _run(self, task: Callable[[], Awaitable[None]], name: str) -> None:
        try:
            await task()
        except Exception as error:
            log.warning("background task failed", task=name, error=type(error).__name__)

    async def _bus_closed(self) -> None:
        """Given up for good: only a new process, which reads its settings again, can help."""
        if not self.stopping.is_set():
            log.error("the bus ended the connection", error=str(self.bus.nats.last_error))
            self.cut_off = True
            self.stopping.set()

    async def _bus_ready(self) -> None:
        if not self.bus.nats.is_connected:
            raise Fault(Code.BUS_AWAY, "not connected to the message bus")


def run(stage: Stage, settings_type: type[Settings], build: Callable[[Service], None]) -> None:
    """The whole life of a service process; returns when it was asked to stop.

    Raises `SystemExit` when the bus will have it no more, so that it is started again.
    """
    settings = settings_type()
    configure_logging(stage, settings.log_level)
    provider = configure_tracing(stage)

    async def main() -> None:
        service = Service(stage, settings)
        build(service)
        await service.serve()
        if service.cut_off:
            raise SystemExit("the bus ended the connection")

    try:
        uvloop.run(main())
    finally:
        provider.shutdown()
