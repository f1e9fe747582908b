"""Heartbeats renew a delivery while its handler moves."""

import asyncio

import nats.errors
from nats.aio.msg import Msg

from libs.runtime.telemetry import logger
from libs.runtime.work import Work

STALL_SECONDS = 120.0

log = logger("heartbeat")


class Heartbeat:
    """Beats every `seconds` until stopped, or until there was no progress for
    `STALL_SECONDS`: then the server gives the message to another worker.

    Timers, not tasks: a short handler pays for one timer that never fires.
    """

    def __init__(self, message: Msg, work: Work, seconds: float, consumer: str) -> None:
        self._message = message
        self._work = work
        self._seconds = seconds
        self._consumer = consumer
        self._loop = asyncio.get_running_loop()
        self._moved_at = self._loop.time()
        self._beating: asyncio.Task[None] | None = None
        self._timer = self._loop.call_later(seconds, self._beat)

    def stop(self) -> None:
        """No more beats."""
        self._timer.cancel()

    def _beat(self) -> None:
        now = self._loop.time()
        if self._work.take_progress():
            self._moved_at = now
        if now - self._moved_at > STALL_SECONDS:
            log.warning("no progress", consumer=self._consumer, job_id=self._work.job_id)
            return
        self._beating = self._loop.create_task(self._renew())
        self._timer = self._loop.call_later(self._seconds, self._beat)

    async def _renew(self) -> None:
        try:
            await self._message.in_progress()
        except nats.errors.Error as error:
            log.warning("no heartbeat", consumer=self._consumer, error=type(error).__name__)
