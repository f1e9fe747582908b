import asyncio

import pytest

from libs.contracts.faults import Code, WorldFault
from libs.runtime.gathering import MOST, Gathering


class Work:
    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.go = asyncio.Event()

    async def __call__(self, items: list[int]) -> list[int]:
        self.groups.append(items)
        await self.go.wait()
        if 13 in items:
            raise ValueError("13")
        return [10 * item for item in items]


async def test_what_comes_meanwhile_goes_together_next() -> None:
    work = Work()
    gathering = Gathering(work)
    first = asyncio.create_task(gathering(0))
    while not work.groups:
        await asyncio.sleep(0)
    numbers = range(100, 99 + 2 * MOST)
    later = [asyncio.create_task(gathering(number)) for number in numbers]
    await asyncio.sleep(0)
    work.go.set()
    assert await first == 0
    assert await asyncio.gather(*later) == [10 * number for number in numbers]
    assert [len(group) for group in work.groups] == [1, MOST, MOST - 1]
    assert await gathering(7) == 70


async def test_one_fails_alone_and_one_that_is_cancelled_takes_nobody_along() -> None:
    work = Work()
    gathering = Gathering(work)
    tasks = [asyncio.create_task(gathering(number)) for number in (1, 12, 13, 14)]
    while not work.groups:
        await asyncio.sleep(0)
    tasks[1].cancel()
    work.go.set()
    with pytest.raises(ValueError, match="13"):
        await tasks[2]
    assert (await tasks[0], await tasks[3]) == (10, 140)


async def test_a_world_that_is_away_is_asked_once_for_all() -> None:
    groups: list[list[int]] = []

    async def away(items: list[int]) -> list[int]:
        groups.append(items)
        raise WorldFault(Code.STORE_AWAY, "away")

    gathering = Gathering(away)
    found = await asyncio.gather(*(gathering(n) for n in (1, 2, 3)), return_exceptions=True)
    assert [type(one) for one in found] == [WorldFault] * 3
    assert groups == [[1, 2, 3]]


async def test_who_wants_it_whole_takes_back_what_waits_and_stays_for_what_has_begun() -> None:
    work = Work()
    gathering = Gathering(work)
    begun = asyncio.create_task(gathering.whole(1))
    while not work.groups:
        await asyncio.sleep(0)
    waiting = asyncio.create_task(gathering.whole(2))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    begun.cancel()
    for _ in range(10):
        await asyncio.sleep(0)
    assert not begun.done()
    work.go.set()
    with pytest.raises(asyncio.CancelledError):
        await begun
    assert await gathering.whole(3) == 30
    assert work.groups == [[1], [3]]


async def test_who_waits_is_not_left_behind_when_the_work_ends_for_good() -> None:
    work = Work()
    gathering = Gathering(work)
    first = asyncio.create_task(gathering(0))
    while not work.groups:
        await asyncio.sleep(0)
    second = asyncio.create_task(gathering(1))
    await asyncio.sleep(0)
    assert gathering.running is not None
    gathering.running.cancel()
    for task in (first, second):
        with pytest.raises(asyncio.CancelledError):
            await task
