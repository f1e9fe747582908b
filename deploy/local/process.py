"""One child of the supervisor: forked, in a process group of its own, never outliving it."""

import contextlib
import ctypes
import os
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

FIRST_DELAY = 0.2
LONGEST_DELAY = 10.0
HEALTHY_AFTER = 30.0

_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15
_PR_SET_CHILD_SUBREAPER = 36


def _prctl(option: int, value: int | bytes) -> None:
    """Linux's `prctl`; other systems do without what it gives."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def adopt_orphans() -> None:
    """Let orphaned grandchildren become children of this process, so that it can end them."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def end_with_parent(number: signal.Signals) -> None:
    """Be sent this signal when the thread that started this process ends."""
    _prctl(_PR_SET_PDEATHSIG, int(number))


@dataclass
class Child:
    """A process: `run` is called in it, and when that returns it ends.

    It is started again unless `keep` is False; `delay` is the backoff in seconds before
    the next start, `due` the moment of it.
    """

    name: str
    run: Callable[[], None]
    log: Path
    keep: bool = True
    death_signal: signal.Signals = signal.SIGKILL
    pid: int | None = None
    started_at: float = 0.0
    delay: float = FIRST_DELAY
    due: float | None = None
    last_end: str = ""
    told: str = ""

    def start(self, now: float) -> None:
        """Fork. The parent must have one thread only."""
        sys.stdout.flush()
        sys.stderr.flush()
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            self._live(parent)
        with contextlib.suppress(OSError):  # the child does the same; whoever is first
            os.setpgid(pid, pid)
        self.pid, self.started_at, self.due = pid, now, None

    def ended(self, status: int, now: float) -> None:
        """Note how the process ended and when to start it again: 0.2 s, doubling to 10 s."""
        code = os.waitstatus_to_exitcode(status)
        self.last_end = f"exit code {code}" if code >= 0 else signal.Signals(-code).name
        self.pid = None
        if self.keep:
            if now - self.started_at >= HEALTHY_AFTER:
                self.delay = FIRST_DELAY
            self.due = now + self.delay
            self.delay = min(self.delay * 2, LONGEST_DELAY)

    def send(self, number: signal.Signals, *, group: bool = False) -> None:
        """Send a signal to the process, or to its whole group."""
        if self.pid is not None:
            with contextlib.suppress(ProcessLookupError):
                (os.killpg if group else os.kill)(self.pid, number)

    def _live(self, parent: int) -> None:
        code = 1
        try:
            os.setpgid(0, 0)
            end_with_parent(self.death_signal)
            _prctl(_PR_SET_NAME, f"gw-{self.name}".encode()[:15])
            if os.getppid() != parent:
                os._exit(1)
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
                signal.signal(number, signal.SIG_DFL)
            _redirect(self.log)
            self.run()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
            if isinstance(end.code, str):
                print(end.code, file=sys.stderr)
        except BaseException:
            traceback.print_exc()
        finally:
            with contextlib.suppress(Exception):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code)


def _redirect(log: Path) -> None:
    """Standard output and error into the log, nothing on standard input."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(nothing, 0)
    os.dup2(out, 1)
    os.dup2(out, 2)
    os.close(nothing)
    os.close(out)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(line_buffering=True)


def children_of(pid: int) -> list[int]:
    """The direct children of a process, from the system's own list."""
    try:
        listed = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [int(child) for child in listed.split()]
