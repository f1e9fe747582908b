from datetime import timedelta

import pytest

from libs.contracts.faults import StaleFault
from libs.runtime.keys import answers_prefix
from services.indexer.erase import sweep_again
from services.indexer.handlers import on_chunked, on_erasure_requested, on_published
from tests.support.fake_catalog import NOW
from tests.support.fakes import Embedder, World
from tests.unit.indexer.making import NS, chunked, deps, erasure, published, said, work


async def build(world: World, *documents: str) -> None:
    for document_id in documents:
        event = await chunked(world, document_id, text=f"Words of {document_id} alone.")
        await on_chunked(deps(world), event, work(event))
        await on_published(deps(world), published(event), work(event))


async def erase(world: World, **settings: float) -> None:
    await world.documents.hide(NS, "doc-1", "era-1")
    await on_erasure_requested(deps(world, **settings), erasure(), work(erasure()))


async def test_everything_of_the_document_goes_and_nothing_of_another() -> None:
    world = World(embedder=Embedder())
    await build(world, "doc-1", "doc-2")
    world.runs.counts = {(NS, "doc-1"): {"t1": 2}, (NS, "doc-2"): {"t2": 1}}
    await erase(world)
    receipt = world.documents.receipts["era-1"]
    assert receipt.state == "erased"
    assert receipt.requery_hits == 0
    assert receipt.removed == {
        "objects": 7, "catalog": 3, "search": 3, "graph": 1, "hits": 1, "vectors": 3,
    }  # fmt: skip
    assert said(world)[-1] == "DocumentErased"
    left = {key.split("/")[1] for key in world.objects.data if not key.startswith(".")}
    assert left == {"doc-2", "corpus"}
    assert [revn for _, revn in world.index.documents] == [101]
    assert [revn for _, revn, _ in world.index.vectors] == [101]
    assert [revn for _, revn in world.graph.nodes] == [101]
    assert list(world.chunks.rows) == [101]
    assert list(world.runs.counts) == [(NS, "doc-2")]
    assert len(world.chunks.cache) == 3


async def test_what_models_said_of_it_goes_too() -> None:
    world = World()
    await build(world, "doc-1")
    await world.objects.put(f"{answers_prefix(NS, 'doc-1')}ab.json", b"{}")
    await erase(world)
    assert world.documents.receipts["era-1"].removed["objects"] == 8
    assert not any("doc-1" in key for key in world.objects.data if not key.startswith("."))


async def test_an_erasure_again_answers_the_same() -> None:
    world = World()
    await build(world, "doc-1")
    await erase(world)
    receipt = world.documents.receipts["era-1"]
    await on_erasure_requested(deps(world), erasure(), work(erasure()))
    assert world.documents.receipts["era-1"] == receipt
    assert said(world).count("DocumentErased") == 1


async def test_an_unknown_erasure_is_stale() -> None:
    with pytest.raises(StaleFault):
        await on_erasure_requested(deps(World()), erasure(), work(erasure()))


async def test_a_store_that_keeps_something_is_no_erasure() -> None:
    world = World()
    await build(world, "doc-1")

    async def keeps(namespace: str, revns: list[int]) -> int:
        return 0

    world.index.remove = keeps  # type: ignore[method-assign]
    with pytest.raises(RuntimeError, match="3 records are left"):
        await erase(world)
    assert world.documents.receipts["era-1"].state == "requested"


async def test_what_comes_late_is_swept_a_second_time() -> None:
    world = World()
    await build(world, "doc-1")
    documents = next(iter(world.index.documents.values()))
    await erase(world)
    await world.index.write(NS, 100, documents)
    await world.objects.put(f"{NS}/doc-1/1/.jobs/job/1/rows/0.jsonl.zst", b"late")
    await sweep_again(deps(world, at=NOW + timedelta(seconds=30)))
    assert world.index.documents
    assert world.index.purges == 0
    await sweep_again(deps(world, at=NOW + timedelta(seconds=61)))
    assert not world.index.documents
    assert {key.split("/")[1] for key in world.objects.data} == {"corpus"}
    assert world.index.purges == 1
    await sweep_again(deps(world, at=NOW + timedelta(seconds=99)))
    assert world.index.purges == 1


async def test_a_second_sweep_waits_for_the_first() -> None:
    world = World()
    await build(world, "doc-1")
    await world.documents.hide(NS, "doc-1", "era-1")

    async def away(namespace: str, revns: list[int]) -> int:
        raise OSError

    world.graph.remove = away  # type: ignore[method-assign]
    with pytest.raises(OSError):
        await on_erasure_requested(deps(world), erasure(), work(erasure()))
    await sweep_again(deps(world, at=NOW + timedelta(days=1)))
    assert any(key.startswith(".erasures/") for key in world.objects.data)


async def test_the_documents_next_life_is_left_alone() -> None:
    world = World(embedder=Embedder())
    await build(world, "doc-1")
    await erase(world)
    event = await chunked(world, "doc-1", revision=2)
    await on_chunked(deps(world), event, work(event))
    await on_published(deps(world), published(event), work(event))
    world.runs.counts = {(NS, "doc-1"): {"t1": 2}}
    await world.objects.put(f"{NS}/doc-1/1/late", b"late")
    before = {key for key in world.objects.data if key.startswith(f"{NS}/doc-1/")}
    await sweep_again(deps(world, at=NOW + timedelta(seconds=61)))
    left = {key for key in world.objects.data if not key.startswith(f"{NS}/corpus/")}
    assert left == before - {f"{NS}/doc-1/1/late"}
    record = await world.documents.revision(NS, "doc-1")
    assert record is not None
    assert (NS, record.revn) in world.index.documents
    assert world.runs.counts
    assert world.chunks.cache
