"""What a handler gets beside its event: progress, and the wish to stop."""

import asyncio
from collections.abc import Callable

from libs.contracts.faults import Code, StaleFault


class Work:
    """One delivery being worked on.

    Heartbeats renew the delivery only while `progress` is called, so a handler that hangs
    is found by the server. `check` raises once the job is cancelled.
    """

    def __init__(self, job_id: str, *, deliveries: int = 1) -> None:
        self.job_id = job_id
        self.deliveries = deliveries
        self.cancelled = asyncio.Event()
        self._moved = True
        self._on_cancel: Callable[[], None] | None = None

    def progress(self) -> None:
        """Say that the work moves: a page parsed, a batch written."""
        self._moved = True

    def take_progress(self) -> bool:
        """Whether there was progress since the last call."""
        moved, self._moved = self._moved, False
        return moved

    def on_cancel(self, call: Callable[[], None]) -> None:
        """Call this, once, when the job is cancelled."""
        self._on_cancel = call

    def cancel(self) -> None:
        """The job is not wanted any more."""
        if not self.cancelled.is_set():
            self.cancelled.set()
            if self._on_cancel is not None:
                self._on_cancel()

    def check(self) -> None:
        """Raise `StaleFault(CANCELLED)` when the job was cancelled; counts as progress."""
        if self.cancelled.is_set():
            raise StaleFault(Code.CANCELLED, "the job was cancelled")
        self.progress()
