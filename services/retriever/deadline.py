"""How long a query may take, and how its parts are ended when the time is over."""

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass

ASSEMBLY_SHARE = 0.2
"""The share of a query's time that is kept for reading what the channels found."""


@dataclass(frozen=True)
class Deadline:
    """Times of the running loop's clock, None is without end: when channels end, those that
    stand in for one that found nothing, and all."""

    search: float | None
    late: float | None
    end: float | None

    @property
    def over(self) -> bool:
        """Whether the time has ended."""
        return self.end is not None and asyncio.get_running_loop().time() >= self.end


def deadline(milliseconds: int | None) -> Deadline:
    """The deadline of a query that arrives now."""
    if milliseconds is None:
        return Deadline(None, None, None)
    now, seconds = asyncio.get_running_loop().time(), milliseconds / 1000
    kept = seconds * ASSEMBLY_SHARE
    return Deadline(now + seconds - kept, now + seconds - kept / 2, now + seconds)


async def those_in_time(work: Mapping[str, Awaitable[None]], until: float | None) -> list[str]:
    """Run all at once; the names of those that did not end by `until`, which are cancelled.

    The first error of any of them is raised, once all others have been cancelled.
    """
    loop = asyncio.get_running_loop()
    tasks = {name: asyncio.ensure_future(each) for name, each in work.items()}
    try:
        left = None if until is None else max(0.0, until - loop.time())
        await asyncio.wait(tasks.values(), timeout=left, return_when=asyncio.FIRST_EXCEPTION)
        unfinished = [name for name, task in tasks.items() if not task.done()]
    finally:
        for task in tasks.values():
            task.cancel()
    for name, task in tasks.items():
        if name not in unfinished:
            task.result()
    return unfinished
