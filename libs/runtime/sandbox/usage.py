"""What a process and its descendants use, from /proc."""

import io
import os
from contextlib import suppress
from dataclasses import dataclass

PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")
MOST_PROCESSES = 256


@dataclass(frozen=True)
class Usage:
    """Resident bytes and CPU seconds, summed over the tree; zero once it is gone."""

    resident: int = 0
    cpu_seconds: float = 0.0


def usage_of(pid: int) -> Usage:
    """The present usage of `pid` and all its descendants; about 0.1 ms a process."""
    resident, ticks = 0, 0
    for process in tree(pid):
        with suppress(OSError, IndexError, ValueError):
            fields = _read(f"/proc/{process}/stat").rpartition(b")")[2].split()
            ticks += sum(int(f) for f in fields[11:15])
            resident += int(fields[21]) * PAGE
    return Usage(resident, ticks / TICKS)


def tree(pid: int) -> list[int]:
    """`pid` and its descendants, nearest first; of very many, only the first."""
    found = [pid]
    for known in found:
        found += children_of(known)
        if len(found) > MOST_PROCESSES:
            break
    return found


def children_of(pid: int) -> list[int]:
    """The children of a process; none where it is gone or the kernel does not tell."""
    found: list[int] = []
    with suppress(OSError), os.scandir(f"/proc/{pid}/task") as tasks:
        for task in tasks:
            found += map(int, _read(f"{task.path}/children").split())
    return found


def _read(path: str) -> bytes:
    with io.FileIO(path) as file:
        return file.readall()
