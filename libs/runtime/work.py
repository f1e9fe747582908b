"""What a handler gets beside its event: progress, and the wish to stop."""

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Literal

from libs.contracts.faults import Code, StaleFault, TakenOverFault

Mark = tuple[str, int, datetime]
"""One message of one consumer: durable, stream sequence, and the time the server stored it, since
a stream that is made anew counts from 1 again."""

Standing = Literal["free", "held", "ended"]
"""Of a message: work on it may begin, earlier work on it moves, or it was acknowledged."""

ENDED_KEPT = 4096


class Work:
    """One delivery being worked on.

    Heartbeats renew the delivery only while `progress` is called, so a handler that hangs
    is found by the server. `check` raises once the job is cancelled, or once the delivery
    was given to another.
    """

    def __init__(self, job_id: str, *, deliveries: int = 1) -> None:
        self.job_id = job_id
        self.deliveries = deliveries
        self.cancelled = asyncio.Event()
        self.stalled = False
        self.lost = False
        self.handed_over = False
        self._moved = True
        self._on_end: Callable[[], None] | None = None

    def progress(self) -> None:
        """Say that the work moves: a page parsed, a batch written."""
        self._moved = True

    def take_progress(self) -> bool:
        """Whether there was progress since the last call."""
        moved, self._moved = self._moved, False
        return moved

    def on_end(self, call: Callable[[], None]) -> None:
        """Call this when the work is to end: the job was cancelled, or another has it."""
        self._on_end = call

    def cancel(self) -> None:
        """The job is not wanted any more."""
        if not self.cancelled.is_set():
            self.cancelled.set()
            self._end()

    def lose(self) -> None:
        """The delivery was given to another."""
        if not self.lost:
            self.lost = True
            self._end()

    def hand_over(self) -> None:
        """This process ends: another shall do the work."""
        if not self.handed_over:
            self.handed_over = True
            self._end()

    def check(self) -> None:
        """Raise `StaleFault(CANCELLED)` when the job was cancelled and `TakenOverFault` when
        another works on it, or shall; counts as progress."""
        if self.cancelled.is_set():
            raise StaleFault(Code.CANCELLED, "the job was cancelled")
        if self.lost:
            raise TakenOverFault("the work did not move and was given to another worker")
        if self.handed_over:
            raise TakenOverFault("the process ends and the work is given to another worker")
        self.progress()

    def _end(self) -> None:
        if self._on_end is not None:
            self._on_end()


class WorkRegistry:
    """The deliveries in progress in this process: by job, so that a cancel finds them, and by
    message, so that one that is delivered again is not worked on twice, neither meanwhile nor
    when the copy was on its way while the work ended."""

    def __init__(self) -> None:
        self._by_job: dict[str, set[Work]] = {}
        self._by_message: dict[Mark, Work] = {}
        self._ended: OrderedDict[Mark, None] = OrderedDict()

    def standing(self, message: Mark) -> Standing:
        """How the message stands here; earlier work on it that stalled is made to end."""
        if message in self._ended:
            return "ended"
        earlier = self._by_message.get(message)
        if earlier is None:
            return "free"
        if not earlier.stalled:
            return "held"
        earlier.lose()
        return "free"

    def end(self, message: Mark) -> None:
        """The message is acknowledged; the last `ENDED_KEPT` of them are remembered."""
        self._ended[message] = None
        while len(self._ended) > ENDED_KEPT:
            self._ended.popitem(last=False)

    @contextlib.contextmanager
    def working(self, work: Work, message: Mark) -> Iterator[None]:
        """Register `work` on a message while it lasts."""
        self._by_job.setdefault(work.job_id, set()).add(work)
        self._by_message[message] = work
        try:
            yield
        finally:
            rest = self._by_job[work.job_id]
            rest.discard(work)
            if not rest:
                del self._by_job[work.job_id]
            if self._by_message.get(message) is work:
                del self._by_message[message]

    def cancel(self, job_id: str) -> None:
        """Cancel what works on this job here."""
        for work in self._by_job.get(job_id, ()):
            work.cancel()

    async def hand_over(self, seconds: float) -> None:
        """After so long, give away all that is still being worked on."""
        await asyncio.sleep(seconds)
        for work in list(self._by_message.values()):
            work.hand_over()
