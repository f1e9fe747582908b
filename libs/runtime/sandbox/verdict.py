"""How an attempt ended, and whose fault that is: pure."""

import signal
from dataclasses import dataclass
from typing import Any, Literal

from libs.contracts.faults import Code, DocumentFault, WorldFault
from libs.runtime.sandbox.child import OUT_OF_MEMORY
from libs.runtime.sandbox.limits import Limits

Killed = Literal["memory", "wall", "stall"]
LONGEST_DETAIL = 500
SMALLER = "split a document, scale down a picture"


class ChildCrashed(Exception):
    """The child died by a signal that nobody sent: its own code went wrong over this file."""

    def __init__(self, signal_name: str) -> None:
        super().__init__(f"a worker process died by {signal_name}")
        self.signal_name = signal_name


@dataclass(frozen=True)
class End:
    """What is known of an ended child: its exit status (negative: the signal), who killed it
    here, and its answer, if it left one."""

    status: int
    killed: Killed | None = None
    answer: dict[str, Any] | None = None


def verdict(end: End, limits: Limits) -> dict[str, Any]:
    """The result of a child that ended well; otherwise raises.

    `DocumentFault` when the file is to blame, `WorldFault(WORKER_LOST)` when the child was
    killed from outside, `ChildCrashed` when it died by itself, `RuntimeError` for our bugs.
    """
    if end.killed is not None:
        raise _over(end.killed, limits)
    if end.status == OUT_OF_MEMORY:
        raise _over("memory", limits)
    if end.status == -signal.SIGXCPU:
        raise DocumentFault(
            Code.TOO_SLOW, f"reading the file took over {limits.cpu_seconds} s of processor time"
        )
    if end.status == -signal.SIGXFSZ:
        raise DocumentFault(Code.TOO_LARGE, "reading the file wrote more than is allowed")
    if end.status == -signal.SIGKILL:
        raise WorldFault(Code.WORKER_LOST, "a worker process was killed from outside")
    if end.status < 0:
        raise ChildCrashed(signal.Signals(-end.status).name)
    return _answered(end)


def _over(killed: Killed, limits: Limits) -> DocumentFault:
    if killed == "memory":
        return DocumentFault(
            Code.TOO_LARGE,
            f"reading the file needs over {limits.memory_mb} MB of memory; {SMALLER}",
        )
    if killed == "wall":
        return DocumentFault(
            Code.TOO_SLOW, f"reading the file took over {limits.wall_seconds:g} s; {SMALLER}"
        )
    return DocumentFault(
        Code.TOO_SLOW, f"reading the file came no further for {limits.stall_seconds:g} s"
    )


def _answered(end: End) -> dict[str, Any]:
    answer = end.answer
    if end.status != 0 or answer is None:
        raise RuntimeError(f"a worker process ended with status {end.status} and no answer")
    fault = answer.get("fault")
    if fault is None:
        result = answer.get("result")
        if not isinstance(result, dict):
            raise RuntimeError("a worker process gave no result")
        return result
    detail = "".join(c for c in str(fault["detail"]) if c.isprintable())[:LONGEST_DETAIL]
    if fault["kind"] == "bug":
        raise RuntimeError(detail)
    if fault["kind"] == "world":
        raise WorldFault(Code(fault["code"]), detail)
    raise DocumentFault(Code(fault["code"]), detail)
