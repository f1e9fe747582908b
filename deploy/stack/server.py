"""The port of a real server: what is missing, provision once, start, and what runs then."""

from pathlib import Path
from typing import Protocol

from deploy.stack.running import Running


class Server(Protocol):
    """A server that this machine can run for tests and trials, on loopback alone.

    Servers keep no state of their own: all of it lies in `cache` (programs, shared by
    every stack of the machine) and `data` (one instance). Several instances MAY run at
    once from one cache, each with its own data folder.
    """

    name: str
    """As it is shown and as its folders are called: lower case, no spaces."""

    def missing(self) -> list[str]:
        """A sentence for each thing this machine lacks, with the way to get it; cheap, offline.

        Empty means that `provision` can be tried.
        """
        ...

    def provision(self, cache: Path) -> None:
        """Put into `cache` all that `start` needs; at once when it is there (`cache.stamped`).

        MUST be safe beside another process that does the same. Raises `StartFailed`.
        """
        ...

    def start(self, cache: Path, data: Path) -> Running:
        """Start on loopback over `data`, made when absent, and return when it answers.

        Started again over the same `data` after any end, it MUST hold what was
        acknowledged, and come back at the same address where that is still free
        (`running.noted_ports`). Waits bounded; MUST leave nothing behind and raise
        `StartFailed` when it does not come up.
        """
        ...
