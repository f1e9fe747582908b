"""A supervisor with made-up services, run by the tests as a process of its own.

Usage: fake_stack.py FOLDER STOP_SECONDS SERVICE…; every start of a service leaves a line in
`FOLDER/<service>.starts`, and a polite end one in `FOLDER/ends`.

It ends when the process that started it does, and what its services leave behind ends by itself
after a while, so that tests that are killed leave nothing.
"""

import os
import signal
import sys
import time
from functools import partial
from pathlib import Path

from deploy.local.process import Child, end_with_parent
from deploy.local.supervisor import Supervisor

LIFE_SECONDS = 900
"""Longer than any test waits for an end that must not come by itself."""

folder = Path(sys.argv[1])


def note(file: str, line: str) -> None:
    with (folder / file).open("a") as out:
        out.write(line + "\n")


def steady(name: str) -> None:
    def end(_number: int, _frame: object) -> None:
        note("ends", name)
        sys.exit(0)

    signal.signal(signal.SIGTERM, end)
    note(f"{name}.starts", f"{os.getpid()} {time.monotonic()}")
    while True:
        signal.pause()


def deaf(name: str) -> None:
    signal.alarm(LIFE_SECONDS)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    note(f"{name}.starts", f"{os.getpid()} {time.monotonic()}")
    while True:
        signal.pause()


def crashing(name: str) -> None:
    note(f"{name}.starts", f"{os.getpid()} {time.monotonic()}")
    sys.exit(3)


def leaving(name: str) -> None:
    """Leaves a grandchild of its group behind, and one in a session of its own."""
    if os.fork() == 0:
        os.setsid()
        deaf(f"{name}-orphan")
    if os.fork() == 0:
        deaf(f"{name}-child")
    steady(name)


KINDS = {"steady": steady, "deaf": deaf, "crashing": crashing, "leaving": leaving, "bus": steady}


def main() -> None:
    def say(line: str) -> None:
        os.write(1, f"{line}\n".encode())

    end_with_parent(signal.SIGTERM)
    with Supervisor(stop_seconds=float(sys.argv[2]), say=say) as supervisor:
        for name in sys.argv[3:]:
            run = partial(KINDS[name], name)
            child = Child(name=name, run=run, log=folder / f"{name}.log")
            supervisor.start(child, rank=0 if name == "bus" else 1)
        while not supervisor.asked_to_stop:
            supervisor.tick(1.0)


main()
