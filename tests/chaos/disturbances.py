"""What is done to services, bus and stores in the middle of a batch, and undone again."""

import contextlib
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from deploy.local.process import children_of
from tests.support.proxy import Proxy
from tests.support.servers import Servers
from tests.support.stack import Stack

PAUSE_SECONDS = 4.0
"""Longer than the stack's `ack_wait`: what is in hand is given to another meanwhile."""

SLOW_SECONDS = 0.03
TIMES = 3
BACK_SECONDS = 120.0
SERVERS = {"objects": "seaweedfs", "catalog": "postgres", "index": "opensearch", "graph": "neo4j"}


@dataclass
class World:
    """All that can be disturbed."""

    stack: Stack
    servers: Servers
    relays: dict[str, Proxy]
    disk: Path | None
    clock: Path


Disturbance = Callable[[World], AbstractContextManager[None]]


def bus_pid(world: World) -> int:
    """The nats-server of the stack."""
    assert world.stack.process is not None
    for pid in children_of(world.stack.process.pid):
        with contextlib.suppress(OSError):
            if "nats-server" in Path(f"/proc/{pid}/cmdline").read_text():
                return pid
    raise AssertionError("the stack runs no bus")


def _service_pid(world: World, name: str) -> int:
    return bus_pid(world) if name == "bus" else world.stack.services()[name][0]


def killed(*names: str) -> Disturbance:
    """Services, or the bus, are killed at once; their supervisor starts them again."""

    @contextmanager
    def disturb(world: World) -> Iterator[None]:
        for pid in [_service_pid(world, name) for name in names]:
            os.kill(pid, signal.SIGKILL)
        yield

    return disturb


def killed_again_and_again(name: str) -> Disturbance:
    """A service, or the bus, is killed, and twice more as soon as it is back."""

    @contextmanager
    def disturb(world: World) -> Iterator[None]:
        killed_before: set[int] = set()
        deadline = time.monotonic() + BACK_SECONDS
        while len(killed_before) < TIMES:
            assert time.monotonic() < deadline, f"{name} did not come back"
            with contextlib.suppress(AssertionError, KeyError, ProcessLookupError):
                if (pid := _service_pid(world, name)) not in killed_before:
                    os.kill(pid, signal.SIGKILL)
                    killed_before.add(pid)
            time.sleep(0.02)
        yield

    return disturb


def paused(name: str) -> Disturbance:
    """A service, or the bus, stands still for a while."""

    @contextmanager
    def disturb(world: World) -> Iterator[None]:
        pid = _service_pid(world, name)
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
            time.sleep(PAUSE_SECONDS)
        finally:
            os.kill(pid, signal.SIGCONT)

    return disturb


def store_killed(*stores: str) -> Disturbance:
    """Servers of stores are killed at once, and started again over their data."""

    @contextmanager
    def disturb(world: World) -> Iterator[None]:
        for store in stores:
            world.servers[SERVERS[store]].kill()
        try:
            yield
        finally:
            for store in stores:
                world.servers.start(SERVERS[store])

    return disturb


def store_paused(store: str, seconds: float = PAUSE_SECONDS) -> Disturbance:
    """A store's server stands still for a while."""

    @contextmanager
    def disturb(world: World) -> Iterator[None]:
        world.servers[SERVERS[store]].pause()
        try:
            yield
            time.sleep(seconds)
        finally:
            world.servers[SERVERS[store]].resume()

    return disturb


def store_refusing(store: str) -> Disturbance:
    """Connections to a store break, and new ones are refused."""

    @contextmanager
    def disturb(world: World) -> Iterator[None]:
        world.relays[store].cut()
        try:
            yield
            time.sleep(PAUSE_SECONDS / 4)
        finally:
            world.relays[store].restore()

    return disturb


def store_slow(store: str) -> Disturbance:
    """Every piece to and from a store takes its time."""

    @contextmanager
    def disturb(world: World) -> Iterator[None]:
        world.relays[store].delay = SLOW_SECONDS
        try:
            yield
            time.sleep(PAUSE_SECONDS / 4)
        finally:
            world.relays[store].restore()

    return disturb


def disk_full() -> Disturbance:
    """The disk under the catalog's server has no byte left."""

    @contextmanager
    def disturb(world: World) -> Iterator[None]:
        assert world.disk is not None
        filler = world.disk / "filler"
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 16 if shutil.disk_usage(world.disk).free > 1 << 16 else 1))
        try:
            yield
            time.sleep(PAUSE_SECONDS / 4)
        finally:
            filler.unlink()
            if not world.servers["postgres"].alive:
                world.servers.start("postgres")

    return disturb


def clock_steps(seconds: float) -> Disturbance:
    """The clock of all services jumps, and jumps back."""

    @contextmanager
    def disturb(world: World) -> Iterator[None]:
        world.clock.write_text(f"{seconds:g}")
        try:
            yield
            time.sleep(PAUSE_SECONDS / 4)
        finally:
            world.clock.write_text("0")

    return disturb
