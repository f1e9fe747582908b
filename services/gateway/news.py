"""Who watches a job hears at once of what this replica records of it."""

import asyncio
from collections import defaultdict


class News:
    """Wakes those who wait for a job. What another replica records is not heard of here, so
    who waits looks again now and then."""

    def __init__(self) -> None:
        self._waiting: defaultdict[str, set[asyncio.Event]] = defaultdict(set)

    def tell(self, job_id: str) -> None:
        """Something of this job was recorded."""
        for event in self._waiting.get(job_id, ()):
            event.set()

    def watched(self, job_id: str) -> bool:
        """Whether anybody watches the job."""
        return job_id in self._waiting

    def watch(self, job_id: str) -> "Watch":
        """Hear of this job from now on, until the block is left."""
        return Watch(self._waiting, job_id)


class Watch:
    """One who watches a job; what is told between two waits is not missed."""

    def __init__(self, waiting: defaultdict[str, set[asyncio.Event]], job_id: str) -> None:
        self._waiting = waiting
        self._job_id = job_id
        self._event = asyncio.Event()

    def __enter__(self) -> "Watch":
        self._waiting[self._job_id].add(self._event)
        return self

    def __exit__(self, *_: object) -> None:
        rest = self._waiting[self._job_id]
        rest.discard(self._event)
        if not rest:
            del self._waiting[self._job_id]

    async def wait(self, seconds: float) -> None:
        """Until something was told, at most so long."""
        try:
            async with asyncio.timeout(seconds):
                await self._event.wait()
        except TimeoutError:
            return
        self._event.clear()
