"""The parent of all local processes: one thread, no event loop, so that it can always fork.

It starts what it is given, starts again what dies, with growing delay, and at the end
stops everything in order and leaves no process behind.
"""

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable, Iterable
from types import FrameType, TracebackType

from deploy.local.logs import last_lines
from deploy.local.process import LONGEST_DELAY, Child, adopt_orphans, children_of

_HEARD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)
_STOP = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
LAST_GRACE = 0.5
ECHO_SECONDS = 0.5


def _note(_number: int, _frame: FrameType | None) -> None:
    """Signals are read from the wake-up pipe; a handler must exist for them to get there."""


class Supervisor:
    """Keeps children running until a signal asks for the end.

    Children end in the reverse order of their `rank`: the bus has rank 0 and goes last.
    `stop_seconds` bounds how long a rank may take before it is killed.
    """

    def __init__(self, *, stop_seconds: float, say: Callable[[str], None]) -> None:
        self._stop_seconds = stop_seconds
        self._say = say
        self._ranks: dict[str, int] = {}
        self._children: dict[str, Child] = {}
        self._stops_asked = 0
        self._asked_at = 0.0
        self._pipe: tuple[int, int] | None = None

    def __enter__(self) -> "Supervisor":
        adopt_orphans()
        read, write = os.pipe()
        os.set_blocking(read, False)
        os.set_blocking(write, False)
        self._pipe = (read, write)
        for number in _HEARD:
            signal.signal(number, _note)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        signal.set_wakeup_fd(-1)
        for end in self._pipe or ():
            os.close(end)

    @property
    def asked_to_stop(self) -> bool:
        """Whether a signal asked for the end."""
        return self._stops_asked > 0

    @property
    def children(self) -> list[Child]:
        """All children, in the order they were added."""
        return list(self._children.values())

    def start(self, child: Child, *, rank: int = 1) -> None:
        """Start a child and keep it running."""
        self._children[child.name] = child
        self._ranks[child.name] = rank
        child.start(time.monotonic())

    def tick(self, seconds: float) -> None:
        """Wait up to `seconds` for something to happen; reap what ended, start what is due."""
        now = time.monotonic()
        dues = [c.due - now for c in self._children.values() if c.due is not None]
        self._wait(max(0.0, min([seconds, *dues])))
        self._reap()
        if self.asked_to_stop:
            return
        now = time.monotonic()
        for child in self._children.values():
            if child.due is not None and child.due <= now:
                child.start(now)

    def run_once(self, child: Child, seconds: float) -> bool:
        """Run a child that is not kept; whether it ended well, in time, and nobody asked to stop.

        Other children are kept running meanwhile.
        """
        self.start(child)
        deadline = time.monotonic() + seconds
        try:
            while child.pid is not None and time.monotonic() < deadline:
                self.tick(0.2)
                if self.asked_to_stop:
                    return False
            return child.last_end == "exit code 0"
        finally:
            child.send(signal.SIGKILL, group=True)
            del self._children[child.name]

    def stop(self) -> None:
        """End everything: ask, wait, kill what stays; a second signal kills at once."""
        self._stops_asked = max(1, self._stops_asked)
        for rank in sorted(set(self._ranks.values()), reverse=True):
            group = [c for c in self._children.values() if self._ranks[c.name] == rank]
            self._end(group, self._stop_seconds if rank else LAST_GRACE)
        self._end_orphans()

    def _end(self, group: Iterable[Child], seconds: float) -> None:
        waiting = [child for child in group if child.pid is not None]
        for child in waiting:
            child.send(signal.SIGTERM)
        deadline = time.monotonic() + seconds
        while any(child.pid is not None for child in waiting):
            left = deadline - time.monotonic()
            if left <= 0 or self._stops_asked > 1:
                break
            self._wait(left)
            self._reap()
        for child in waiting:
            child.send(signal.SIGKILL, group=True)
        while any(child.pid is not None for child in waiting):
            self._wait(0.1)
            self._reap()

    def _end_orphans(self) -> None:
        """Kill and reap what the children left: their own children came to this process."""
        deadline = time.monotonic() + LAST_GRACE
        while (left := children_of(os.getpid())) and time.monotonic() < deadline:
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self._wait(0.02)
            self._reap()

    def _wait(self, seconds: float) -> None:
        """Sleep until a signal comes, counting those that ask for the end.

        One wish may come twice: from the terminal, and from `make` that passes it on.
        """
        if self._pipe is None:
            return
        ready, _, _ = select.select([self._pipe[0]], [], [], seconds)
        if not ready or not _STOP & set(os.read(self._pipe[0], 4096)):
            return
        now = time.monotonic()
        if not self._stops_asked or now - self._asked_at > ECHO_SECONDS:
            self._stops_asked += 1
            self._asked_at = now

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            for child in self._children.values():
                if child.pid == pid:
                    child.send(signal.SIGKILL, group=True)
                    child.ended(status, time.monotonic())
                    self._mourn(child)

    def _mourn(self, child: Child) -> None:
        """Say that a kept child ended; not again and again once the pauses grow no more."""
        if self.asked_to_stop or child.due is None:
            return
        pause = child.due - time.monotonic()
        told = f"{child.name} ended ({child.last_end}{_reason(child)})"
        if told != child.told or pause < LONGEST_DELAY - 1:
            self._say(f"{told}, starts again in {pause:.1f} s")
        child.told = told


def _reason(child: Child) -> str:
    """The last line of a crash, which is no log entry but the error itself."""
    last = last_lines(child.log, 1)
    crashed = child.last_end.startswith("exit code") and child.last_end != "exit code 0"
    return f": {last[0][:200]}" if crashed and last and not last[0].startswith("{") else ""
