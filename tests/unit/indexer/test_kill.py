"""A process killed at any call, before or after it was done, and the message given again:
the end is the same as of an undisturbed run."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from libs.contracts.events import JobEvent
from libs.runtime.work import Work
from services.indexer.deps import Deps
from services.indexer.handlers import on_chunked, on_erasure_requested, on_published
from tests.support.fakes import Crash, Embedder, Killed, World
from tests.unit.indexer.making import NS, chunked, deps, erasure, published, work

Prepared = tuple[World, Callable[[Deps, Any, Work], Awaitable[None]], JobEvent]


async def publishing() -> Prepared:
    """A second revision beside another document that shares its keywords."""
    world = World(embedder=Embedder())
    for document_id, revision in (("doc-2", 1), ("doc-1", 1)):
        event = await chunked(world, document_id, revision)
        await on_chunked(deps(world), event, work(event))
    return world, on_chunked, await chunked(world, "doc-1", 2)


async def publishing_with_vectors() -> Prepared:
    world = World(embedder=Embedder())
    return world, on_chunked, await chunked(world, wait_for_dense=True)


async def superseded() -> Prepared:
    world = World()
    old, new = await chunked(world, "doc-1", 1), await chunked(world, "doc-1", 2)
    await on_chunked(deps(world), new, work(new))
    return world, on_chunked, old


async def embedding_and_collecting() -> Prepared:
    world = World(embedder=Embedder())
    for revision in (1, 2, 3, 4):
        event = await chunked(world, "doc-1", revision)
        await on_chunked(deps(world), event, work(event))
    return world, on_published, published(event)


async def erasing() -> Prepared:
    world = World(embedder=Embedder())
    for document_id in ("doc-1", "doc-2"):
        event = await chunked(world, document_id, text=f"Of {document_id} alone.")
        await on_chunked(deps(world), event, work(event))
        await on_published(deps(world), published(event), work(event))
    world.runs.counts = {(NS, "doc-1"): {"t1": 2}}
    await world.documents.hide(NS, "doc-1", "era-1")
    return world, on_erasure_requested, erasure()


def state(world: World) -> dict[str, Any]:
    """All that the world holds. The count of vectors in a receipt is of the last run alone."""
    for key, receipt in world.documents.receipts.items():
        removed = {k: v for k, v in receipt.removed.items() if k != "vectors"}
        world.documents.receipts[key] = receipt.model_copy(update={"removed": removed})
    announced = {
        key: event.model_dump(exclude={"occurred_at"}) for key, event in world.bus.announced.items()
    }
    corpus = f"{NS}/corpus/erasures.json"
    return {
        "objects": {key: data for key, data in world.objects.data.items() if key != corpus},
        "index": (world.index.documents, world.index.vectors),
        "graph": (world.graph.nodes, world.graph.edges),
        "chunks": (world.chunks.rows, world.chunks.roots, world.chunks.cache),
        "documents": (world.documents.documents, world.documents.all, world.documents.version),
        "receipts": world.documents.receipts,
        "runs": world.runs.counts,
        "announced": announced,
    }


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    "prepare",
    [publishing, publishing_with_vectors, superseded, embedding_and_collecting, erasing],
)
async def test_killed_at_any_call_and_run_again(
    prepare: Callable[[], Awaitable[Prepared]], done: bool
) -> None:
    world, handler, event = await prepare()
    await handler(deps(world), event, work(event))
    expected = state(world)
    reached = at = 0
    while reached == at:
        at += 1
        world, handler, event = await prepare()
        crash = Crash(at, done)
        # a step that is shared among documents ends with its process, not with its caller
        with contextlib.suppress(Killed, asyncio.CancelledError):
            await handler(deps(world, crash), event, work(event))
        await handler(deps(world), event, work(event))
        found = state(world)
        for part, value in expected.items():
            assert found[part] == value, f"{part} after a kill at call {at}"
        reached = min(crash.calls, at)
    assert at > 8
