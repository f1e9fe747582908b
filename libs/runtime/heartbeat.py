"""Heartbeats renew a delivery while its handler moves."""

import asyncio
from collections.abc import Awaitable, Callable

import nats.errors
from nats.aio.msg import Msg

from libs.contracts.faults import Fault
from libs.runtime.telemetry import logger
from libs.runtime.work import Work

STALL_SECONDS = 120.0
TELL_SECONDS = 20.0

log = logger("heartbeat")


class Heartbeat:
    """Beats every `seconds` until stopped, but not while there was no progress in so many beats
    as `STALL_SECONDS` hold: then the server gives the message to another worker. Beats are
    counted, not time, so a process that was paused has not stalled.

    `tell` is awaited about every `TELL_SECONDS` of work that moves, for those who look for
    work that nobody does. Timers, not tasks: a short handler pays for one timer that never
    fires.
    """

    def __init__(
        self,
        message: Msg,
        work: Work,
        seconds: float,
        consumer: str,
        tell: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._message = message
        self._work = work
        self._seconds = seconds
        self._consumer = consumer
        self._tell = tell
        self._loop = asyncio.get_running_loop()
        self._beats = 0
        self._still = 0
        self._beating: asyncio.Task[None] | None = None
        self._timer = self._loop.call_later(seconds, self._beat)

    def stop(self) -> None:
        """No more beats."""
        self._timer.cancel()

    def _beat(self) -> None:
        self._timer = self._loop.call_later(self._seconds, self._beat)
        self._beats += 1
        self._still = 0 if self._work.take_progress() else self._still + 1
        stalled, before = self._still * self._seconds > STALL_SECONDS, self._work.stalled
        self._work.stalled = stalled
        if not stalled:
            self._beating = self._loop.create_task(self._renew())
        elif not before:
            log.warning("no progress", consumer=self._consumer, job_id=self._work.job_id)

    async def _renew(self) -> None:
        try:
            await self._message.in_progress()
            if self._tell is not None and self._beats % self._beats_a_telling() == 0:
                await self._tell()
        except (nats.errors.Error, Fault) as error:
            log.warning("no heartbeat", consumer=self._consumer, error=type(error).__name__)

    def _beats_a_telling(self) -> int:
        return max(1, round(TELL_SECONDS / self._seconds))
