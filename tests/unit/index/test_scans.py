"""Shared scans: who waits goes along, and nobody suffers from another."""

import asyncio
from pathlib import Path

import numpy as np
import pytest

from libs.runtime.index.matrix import Nearest
from libs.runtime.index.port import Hit, Scope
from libs.runtime.index.scans import MOST, Scanned, SharedScans
from libs.runtime.index.tantivy_index import TantivyIndex
from tests.support.waiting import until

ONE, OTHER = Scanned("a", "m", (2,)), Scanned("b", "m", (2,))


def nearest(number: int) -> Nearest:
    return Nearest(np.array([number, 1], np.float32), frozenset([1]), None, 5)


def hits_of(query: Nearest) -> list[Hit]:
    return [Hit(1, int(query.vector[0]), "c", 1.0)]


class Scans:
    """Scans that end when `ended` is set; what each was for."""

    def __init__(self) -> None:
        self.shared = SharedScans(self.scan)
        self.ended = asyncio.Event()
        self.error: Exception | None = None
        self.seen: list[tuple[str, int]] = []

    async def scan(self, of: Scanned, queries: list[Nearest]) -> list[list[Hit]]:
        self.seen.append((of.namespace, len(queries)))
        await self.ended.wait()
        if self.error is not None:
            raise self.error
        return [hits_of(query) for query in queries]

    def ask(self, of: Scanned, number: int) -> asyncio.Task[list[Hit]]:
        return asyncio.create_task(self.shared.search(of, nearest(number)))

    async def first(self) -> asyncio.Task[list[Hit]]:
        """One whose scan has begun."""
        task = self.ask(ONE, 0)
        await until(lambda: bool(self.seen))
        return task


async def test_all_that_wait_share_the_next_scan() -> None:
    scans = Scans()
    tasks = [await scans.first()]
    tasks += [scans.ask(ONE, number) for number in range(1, MOST + 4)]
    apart = scans.ask(OTHER, 77)
    await until(lambda: len(scans.seen) == 2)
    scans.ended.set()
    assert await asyncio.gather(*tasks) == [hits_of(nearest(n)) for n in range(MOST + 4)]
    assert await apart == hits_of(nearest(77))
    assert sorted(scans.seen) == [("a", 1), ("a", 3), ("a", MOST), ("b", 1)]


async def test_who_left_is_not_searched_for_and_others_stay() -> None:
    scans = Scans()
    begun = await scans.first()
    waiting = [scans.ask(ONE, number) for number in range(1, 4)]
    await asyncio.gather(*(asyncio.wait([task], timeout=0) for task in waiting))
    begun.cancel()
    waiting[1].cancel()
    await asyncio.wait([begun, waiting[1]])
    scans.ended.set()
    assert [await waiting[0], await waiting[2]] == [hits_of(nearest(1)), hits_of(nearest(3))]
    assert scans.seen == [("a", 1), ("a", 2)]


async def test_an_error_reaches_all_of_its_scan_and_the_next_scan_runs() -> None:
    scans = Scans()
    scans.error = ValueError("3 dimensions here")
    scans.ended.set()
    failed = await asyncio.gather(
        *(scans.ask(ONE, number) for number in range(3)), return_exceptions=True
    )
    assert failed == [scans.error] * 3
    scans.error = None
    assert await scans.ask(ONE, 9) == hits_of(nearest(9))


async def test_a_wrong_vector_beside_right_ones_fails_alone(tmp_path: Path) -> None:
    index = TantivyIndex(tmp_path, writer=True)
    vectors = np.eye(4, dtype=np.float32)
    await index.write_vectors(
        "a",
        1,
        "m",
        [f"c{n}" for n in range(4)],
        vectors,
    )
    scope = Scope("a", frozenset([1]))
    answers = await asyncio.gather(
        *(index.search_vectors("m", vector, scope, 1) for vector in vectors),
        index.search_vectors("m", np.ones(3, np.float32), scope, 1),
        return_exceptions=True,
    )
    *right, wrong = answers
    assert [hits[0].chunk_id for hits in right] == ["c0", "c1", "c2", "c3"]  # type: ignore[index]
    with pytest.raises(ValueError, match="4 dimensions"):
        raise wrong  # type: ignore[misc]
    await index.close()
