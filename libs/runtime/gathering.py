"""Calls that come while one is at work go together in the next: a group commit."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from libs.contracts.faults import WorldFault

A = TypeVar("A")
R = TypeVar("R")

MOST = 64


class Gathering(Generic[A, R]):
    """Hands `work` all items that wait, at most `most`, in their order of arrival, and each
    caller the result of its own.

    When `work` fails over several items it is given each alone, so that one fails alone; a
    world that is away is away for all of them, so nobody waits until each has found that. A
    caller that is cancelled leaves its item with those that it goes with.
    """

    def __init__(self, work: Callable[[list[A]], Awaitable[list[R]]], most: int = MOST) -> None:
        self._work = work
        self._most = most
        self._waiting: list[tuple[A, asyncio.Future[R]]] = []
        self.running: asyncio.Task[None] | None = None

    async def __call__(self, item: A) -> R:
        """The result of `work` for this item."""
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        if self.running is None:
            self.running = asyncio.create_task(self._run())
        return await future

    async def whole(self, item: A) -> R:
        """As a call, but a caller that is cancelled takes back an item that waits still, and
        else leaves only once the work on it has ended."""
        task = asyncio.ensure_future(self(item))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            before = len(self._waiting)
            self._waiting = [entry for entry in self._waiting if entry[0] is not item]
            if len(self._waiting) < before:
                task.cancel()
            await asyncio.wait([task])
            raise

    async def _run(self) -> None:
        try:
            while self._waiting:
                group, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
                await self._settle(group)
        finally:
            self.running = None
            for _, future in self._waiting:
                future.cancel()

    async def _settle(self, group: list[tuple[A, "asyncio.Future[R]"]]) -> None:
        try:
            results = await self._work([item for item, _ in group])
        except WorldFault as fault:
            for _, future in group:
                if not future.done():
                    future.set_exception(fault)
            return
        except Exception as error:
            if len(group) > 1:
                for one in group:
                    await self._settle([one])
            elif not group[0][1].done():
                group[0][1].set_exception(error)
            return
        except BaseException:
            for _, future in group:
                future.cancel()
            raise
        for (_, future), result in zip(group, results, strict=True):
            if not future.done():
                future.set_result(result)
