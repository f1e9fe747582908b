"""Tries of one request: a free key each, waits in place, and rest for a server that is away."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from libs.runtime.models.failure import ModelFailed, Reason
from libs.runtime.models.keys import KeyPool
from libs.runtime.models.settings import Endpoint

T = TypeVar("T")

TRIES = 5
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.5, 8.0
TRIPS_AFTER = 3
"""Calls in a row that found no server, after which the next ones fail at once ..."""
TRIPPED_SECONDS = 15.0
"""... for so long: who waits for an answer should not wait for each of them."""
_AWAY = frozenset({Reason.TIMEOUT, Reason.UNREACHABLE})


@dataclass(frozen=True)
class Clock:
    """Time as the client sees it; tests have one of their own."""

    now: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]]


def real_clock() -> Clock:
    """The running loop's."""
    return Clock(lambda: asyncio.get_running_loop().time(), asyncio.sleep)


class Tries:
    """Tries requests of one endpoint, each with the next free key."""

    def __init__(self, endpoint: Endpoint, clock: Clock) -> None:
        self._clock = clock
        self._pool = KeyPool(endpoint.key_list, endpoint.rates, clock.now, clock.sleep)
        self._away, self._tripped_until = 0, float("-inf")

    async def of(self, ask: Callable[[str], Awaitable[T]], until: float) -> tuple[T, int]:
        """What `ask` gives with some key, and how many tries it took; `ModelFailed` when there
        is nothing before the clock's time `until`."""
        if self._clock.now() < self._tripped_until:
            raise ModelFailed(Reason.UNREACHABLE, "the model's server was away a moment ago")
        try:
            done = await self._tried(ask, until)
        except ModelFailed as failed:
            self._away = self._away + 1 if failed.reason in _AWAY else 0
            if self._away >= TRIPS_AFTER:
                self._tripped_until = self._clock.now() + TRIPPED_SECONDS
            raise
        self._away = 0
        return done

    async def _tried(self, ask: Callable[[str], Awaitable[T]], until: float) -> tuple[T, int]:
        for tries in range(1, TRIES + 1):
            key = await self._pool.take(until)
            try:
                said = await self._within(ask(key.secret), until)
            except ModelFailed as failed:
                self._pool.heed(key, failed)
                another_key = failed.reason is Reason.REFUSED and not self._pool.all_refused
                if tries == TRIES or not (failed.transient or another_key):
                    raise
                await self._pause(failed, tries, until)
            else:
                self._pool.heed_success(key)
                return said, tries
        raise AssertionError("the last try returns or raises")

    async def _pause(self, failed: ModelFailed, tries: int, until: float) -> None:
        """Wait a little before the next try, unless its key is what is waited for."""
        if failed.reason in (Reason.RATE_LIMITED, Reason.REFUSED):
            return
        pause = min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** (tries - 1))
        pause *= random.uniform(0.5, 1.0)  # noqa: S311
        if failed.retry_after is not None:
            pause = max(pause, failed.retry_after)
        if self._clock.now() + pause >= until:
            raise failed
        await self._clock.sleep(pause)

    async def _within(self, work: Awaitable[T], until: float) -> T:
        try:
            return await asyncio.wait_for(work, max(0.0, until - self._clock.now()))
        except TimeoutError:
            raise ModelFailed(Reason.TIMEOUT, "the model did not answer in time") from None
