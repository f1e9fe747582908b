"""Equal work at the same time is done once."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class Flights(Generic[K, T]):
    """Work under way, by key: who asks for the same meanwhile waits for the same result."""

    def __init__(self) -> None:
        self._flying: dict[K, asyncio.Task[T]] = {}

    async def join(self, key: K, work: Callable[[], Awaitable[T]]) -> tuple[T, bool]:
        """The result, or the error, of the work under `key`, and whether it was begun here.

        A caller that is cancelled leaves the work to the others.
        """
        task = self._flying.get(key)
        own = task is None
        if task is None:
            task = asyncio.ensure_future(self._run(key, work))
            self._flying[key] = task
        return await asyncio.shield(task), own

    async def _run(self, key: K, work: Callable[[], Awaitable[T]]) -> T:
        try:
            return await work()
        finally:
            del self._flying[key]
