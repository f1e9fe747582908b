"""A bounded number at once, a short queue behind it, and a refusal beyond."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from libs.contracts.faults import Code, WorldFault
from libs.runtime.telemetry import SHED

RETRY_SECONDS = 1.0


class Gate:
    """Lets `at_once` callers in and lets `waiting` more wait, in their order of arrival.

    One beyond them is refused at once with `WorldFault(OVERLOADED)`: an early refusal costs
    nothing and says when to come again, where a late answer costs as much as one in time.
    """

    def __init__(self, name: str, at_once: int, waiting: int) -> None:
        self._name = name
        self._free = at_once
        self._waiting = waiting
        self._queue: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def enter(self, until: float | None = None) -> AsyncIterator[None]:
        """A place inside; `TimeoutError` when none came free before the loop's time `until`."""
        await self._place(until)
        try:
            yield
        finally:
            self._leave()

    async def _place(self, until: float | None) -> None:
        if self._free:
            self._free -= 1
            return
        if len(self._queue) >= self._waiting:
            SHED.labels(self._name).inc()
            raise WorldFault(
                Code.OVERLOADED,
                f"{self._name} has as many queries as it can hold: ask again in a moment",
                RETRY_SECONDS,
            )
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        try:
            async with asyncio.timeout_at(until):
                await turn
        except BaseException:
            if turn.done() and not turn.cancelled():
                self._leave()
            elif turn in self._queue:
                self._queue.remove(turn)
            raise

    def _leave(self) -> None:
        """Hand the place to who waits longest, or keep it free."""
        while self._queue:
            turn = self._queue.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
