"""Room for what is worked on at once: small revisions beside each other, a large one alone."""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator

from libs.runtime.work import Work

LOOK_SECONDS = 1.0


class Room:
    """Takes revisions in the order in which they come while their sizes fit together; one that
    is larger than the room has it alone."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._free = size
        self._queue: deque[tuple[int, asyncio.Event]] = deque()

    @contextlib.asynccontextmanager
    async def taken(self, size: int, work: Work) -> AsyncIterator[None]:
        """Hold room of this size; while it is waited for, the work counts as moving, and what
        `work.check` raises ends the wait."""
        share, turn = min(size, self._size), asyncio.Event()
        entry = share, turn
        self._queue.append(entry)
        self._admit()
        try:
            while not turn.is_set():
                work.check()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(turn.wait(), LOOK_SECONDS)
            yield
        finally:
            if turn.is_set():
                self._free += share
            else:
                self._queue.remove(entry)
            self._admit()

    def _admit(self) -> None:
        while self._queue and self._queue[0][0] <= self._free:
            share, turn = self._queue.popleft()
            self._free -= share
            turn.set()
