import asyncio
from contextlib import AsyncExitStack

import pytest

from libs.contracts.faults import StaleFault
from libs.runtime.work import Work
from services.indexer.room import Room
from tests.support.waiting import PATIENCE

SIZE = 100


class Revisions:
    """Revisions that want room, and those that have it."""

    def __init__(self) -> None:
        self.room = Room(SIZE)
        self.inside: list[str] = []
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ends: dict[str, asyncio.Event] = {}

    async def come(self, name: str, size: int, work: Work | None = None) -> None:
        self._ends[name] = asyncio.Event()

        async def stay() -> None:
            async with self.room.taken(size, work or Work(name)):
                self.inside.append(name)
                await self._ends[name].wait()
            self.inside.remove(name)

        self._tasks[name] = asyncio.create_task(stay())
        await settled()

    async def go(self, *names: str) -> None:
        for name in names:
            self._ends[name].set()
            await self._tasks[name]
        await settled()

    async def stopped(self, name: str) -> None:
        self._tasks[name].cancel()
        with pytest.raises(asyncio.CancelledError):
            await self._tasks[name]
        await settled()

    def task(self, name: str) -> asyncio.Task[None]:
        return self._tasks[name]


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_small_ones_are_beside_each_other_and_a_large_one_is_alone() -> None:
    revisions = Revisions()
    for name in "abcde":
        await revisions.come(name, 20)
    assert revisions.inside == list("abcde")
    await revisions.come("large", 7 * SIZE)
    await revisions.go(*"abcd")
    assert revisions.inside == ["e"]
    await revisions.go("e")
    assert revisions.inside == ["large"]
    await revisions.come("small", 1)
    assert revisions.inside == ["large"]
    await revisions.go("large")
    assert revisions.inside == ["small"]
    await revisions.go("small")


async def test_nobody_overtakes_one_that_waits() -> None:
    revisions = Revisions()
    await revisions.come("a", 60)
    await revisions.come("b", 60)
    await revisions.come("c", 10)
    assert revisions.inside == ["a"]
    await revisions.go("a")
    assert revisions.inside == ["b", "c"]
    await revisions.go("b", "c")


async def test_one_that_is_stopped_leaves_its_place_whether_it_waits_or_works() -> None:
    revisions = Revisions()
    await revisions.come("a", 60)
    await revisions.come("b", 60)
    await revisions.come("c", 10)
    await revisions.stopped("b")
    assert revisions.inside == ["a", "c"]
    await revisions.come("d", 60)
    await revisions.stopped("a")
    assert "d" in revisions.inside
    await revisions.go("c", "d")
    async with AsyncExitStack() as stack:
        await asyncio.wait_for(
            stack.enter_async_context(revisions.room.taken(SIZE, Work("all"))), 30
        )


async def test_a_wait_is_progress_and_ends_with_its_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.indexer.room.LOOK_SECONDS", 0.001)
    revisions, work = Revisions(), Work("job-b")
    await revisions.come("a", SIZE)
    await revisions.come("b", SIZE, work)
    async with asyncio.timeout(PATIENCE):
        for _ in range(3):
            work.take_progress()
            while not work.take_progress():
                await asyncio.sleep(0)
        work.cancel()
        with pytest.raises(StaleFault):
            await revisions.task("b")
    await revisions.go("a")
