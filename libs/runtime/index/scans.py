"""Queries that wait for a scan of the same vectors share the next one."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from libs.runtime.index.matrix import Nearest
from libs.runtime.index.port import Hit

MOST = 16
"""Queries of one scan: 16 at once take three times as long as one (measured at 110,000
vectors of 384), and more would make the first wait for the last."""


class Scanned(NamedTuple):
    """What one scan is for; queries of a shape that does not fit have an error of their
    own."""

    namespace: str
    model: str
    shape: tuple[int, ...]


Scan = Callable[[Scanned, list[Nearest]], Awaitable[list[list[Hit]]]]
Waiting = tuple[Nearest, asyncio.Future[list[Hit]]]


class SharedScans:
    """Runs one scan after another for each of the `Scanned`, each for all that wait.

    A scan begins after its queries came, so each sees what was written before it. For one
    event loop.
    """

    def __init__(self, scan: Scan) -> None:
        self._scan = scan
        self._waiting: dict[Scanned, list[Waiting]] = {}
        self._running: dict[Scanned, asyncio.Task[None]] = {}

    async def search(self, of: Scanned, wanted: Nearest) -> list[Hit]:
        """The hits of `wanted`; raises what the scan raised."""
        found: asyncio.Future[list[Hit]] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(of, []).append((wanted, found))
        if of not in self._running:
            self._running[of] = asyncio.create_task(self._run(of))
        return await found

    async def _run(self, of: Scanned) -> None:
        try:
            while waiting := self._waiting.get(of):
                taken = [(wanted, found) for wanted, found in waiting[:MOST] if not found.done()]
                del waiting[:MOST]
                if taken:
                    await self._one(of, taken)
        finally:
            del self._running[of]
            for _, found in self._waiting.pop(of, []):
                found.cancel()

    async def _one(self, of: Scanned, taken: list[Waiting]) -> None:
        try:
            answers = await self._scan(of, [wanted for wanted, _ in taken])
        except asyncio.CancelledError:
            for _, found in taken:
                found.cancel()
            raise
        except Exception as error:
            for _, found in taken:
                if not found.done():
                    found.set_exception(error)
            return
        for (_, found), hits in zip(taken, answers, strict=True):
            if not found.done():
                found.set_result(hits)
