"""A far fence of processor time around what hostile input must not make slow."""

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def cpu_fence(seconds: float = 20.0) -> Iterator[None]:
    """End the block with AssertionError once it has used so many CPU seconds.

    For inputs on which linear work takes well under a second and quadratic work minutes, so that
    neither a busy machine nor a slow one decides. Main thread only (POSIX interval timer).
    """

    def ended(_number: int, _frame: FrameType | None) -> None:
        raise AssertionError(f"used more than {seconds} CPU seconds")

    before = signal.signal(signal.SIGPROF, ended)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
