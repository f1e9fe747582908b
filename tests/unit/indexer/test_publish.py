import asyncio

import pytest

from libs.contracts.events import DocumentPublished, RevisionSuperseded
from libs.contracts.faults import Code, StaleFault, WorldFault
from libs.runtime.index.port import Digest
from services.indexer.handlers import on_chunked, on_published
from services.indexer.parity import ParityError
from tests.support.fakes import Embedder, World
from tests.support.waiting import PATIENCE
from tests.unit.indexer.making import NS, chunked, deps, published, said, work


async def test_a_revision_is_staged_promoted_and_flipped_to() -> None:
    world = World()
    event = await chunked(world)
    await on_chunked(deps(world), event, work(event))
    record = await world.documents.revision(NS, "doc-1")
    assert record is not None
    assert (record.state, record.counts["chunks"], record.counts["pages"]) == ("published", 3, 3)
    assert set(record.artefacts) == set(event.artefacts)
    for name, ref in record.artefacts.items():
        assert ref.key == f"{NS}/doc-1/1/{name}"
        assert world.objects.data[ref.key] == world.objects.data[event.artefacts[name].key]
    (announced,) = world.bus.announced.values()
    assert isinstance(announced, DocumentPublished)
    assert (announced.chunk_count, announced.corpus_version) == (3, 1)
    file = world.objects.data[f"{NS}/doc-1/document.json"]
    assert b'"active_revision":1' in file
    assert b"chunks.json" in file


async def test_a_redelivery_writes_nothing_and_announces_the_same() -> None:
    world = World()
    event = await chunked(world)
    await on_chunked(deps(world), event, work(event))
    await on_published(deps(world), published(event), work(event))
    before = dict(world.objects.data)
    await on_chunked(deps(world), event, work(event))
    assert world.objects.data == before
    assert world.index.writes == 1
    assert said(world) == ["DocumentPublished"]


async def test_what_attempts_left_is_swept_after_the_flip() -> None:
    world = World()
    event = await chunked(world)
    await world.objects.put(f"{NS}/doc-1/1/.jobs/other/1/rows.jsonl.zst", b"loser")
    await world.objects.put(f"{NS}/doc-1/1/.jobs/job/1/messages/chunked-0.json", b"body")
    await on_chunked(deps(world), event, work(event))
    await on_published(deps(world), published(event), work(event))
    jobs = [key for key in world.objects.data if "/.jobs/" in key]
    assert jobs == [f"{NS}/doc-1/1/.jobs/job/1/messages/chunked-0.json"]
    assert f"{NS}/doc-1/1/source/a.md" in world.objects.data


async def test_a_superseded_revision_is_withdrawn() -> None:
    world = World()
    old, new = await chunked(world, revision=1), await chunked(world, revision=2)
    await on_chunked(deps(world), new, work(new))
    await on_chunked(deps(world), old, work(old))
    assert said(world) == ["DocumentPublished", "RevisionSuperseded"]
    assert isinstance(list(world.bus.announced.values())[1], RevisionSuperseded)
    active = await world.documents.revision(NS, "doc-1")
    assert active is not None
    assert active.revision == 2
    assert list(world.index.documents) == [(NS, active.revn)]
    assert list(world.graph.nodes) == [(NS, active.revn)]
    assert list(world.chunks.rows) == [active.revn]


async def test_a_cancelled_job_leaves_nothing_staged() -> None:
    world = World()
    event = await chunked(world)
    world.documents.cancelled.add(event.job_id)
    with pytest.raises(StaleFault) as raised:
        await on_chunked(deps(world), event, work(event))
    assert raised.value.code is Code.CANCELLED
    assert not (world.index.documents or world.graph.nodes or world.chunks.rows)
    assert not said(world)


async def test_a_cancel_in_the_middle_leaves_nothing_staged() -> None:
    world = World()
    event = await chunked(world)
    doing = work(event)
    stage = world.chunks.stage

    async def staged_then_cancelled(*args: object) -> None:
        await stage(*args)  # type: ignore[arg-type]
        doing.cancel()

    world.chunks.stage = staged_then_cancelled  # type: ignore[method-assign]
    with pytest.raises(StaleFault):
        await on_chunked(deps(world), event, doing)
    assert not (world.index.documents or world.graph.nodes or world.chunks.rows)


async def test_a_handler_that_is_stopped_withdraws_for_a_cancel_alone() -> None:
    for cancel in (True, False):
        world = World(embedder=Embedder())
        event = await chunked(world, wait_for_dense=True)
        doing, reached = work(event), asyncio.Event()

        async def never(texts: list[str], reached: asyncio.Event = reached) -> None:
            reached.set()
            await asyncio.Event().wait()

        world.embedder.embed_passages = never  # type: ignore[union-attr, assignment]
        task = asyncio.ensure_future(on_chunked(deps(world), event, doing))
        await asyncio.wait_for(reached.wait(), PATIENCE)
        if cancel:
            doing.cancel()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert bool(world.index.documents) is not cancel


async def test_a_cancel_after_the_flip_does_not_withdraw_what_is_published() -> None:
    world = World()
    event = await chunked(world)
    await on_chunked(deps(world), event, work(event))
    world.documents.cancelled.add(event.job_id)
    await on_chunked(deps(world), event, work(event))
    assert said(world) == ["DocumentPublished"]
    assert world.index.documents


async def test_a_document_hidden_meanwhile_is_withdrawn_with_its_objects() -> None:
    world = World()
    event = await chunked(world)
    stage = world.chunks.stage

    async def staged_then_hidden(*args: object) -> None:
        await stage(*args)  # type: ignore[arg-type]
        await world.documents.hide(NS, "doc-1", "era-1")

    world.chunks.stage = staged_then_hidden  # type: ignore[method-assign]
    with pytest.raises(StaleFault) as raised:
        await on_chunked(deps(world), event, work(event))
    assert raised.value.code is Code.ERASED
    assert not (world.index.documents or world.graph.nodes or world.chunks.rows)
    assert not world.objects.data
    with pytest.raises(StaleFault):
        await on_chunked(deps(world), event, work(event))


async def test_a_store_that_disagrees_stops_the_flip() -> None:
    world = World()
    event = await chunked(world)
    write = world.index.write

    async def lossy(namespace: str, revn: int, documents: list, *, unseen: bool) -> Digest:
        return await write(namespace, revn, documents[:-1], unseen=unseen)

    world.index.write = lossy  # type: ignore[method-assign]
    with pytest.raises(ParityError, match="the search index holds 2 chunks where 3 belong"):
        await on_chunked(deps(world), event, work(event))
    assert world.documents.version == 0


async def test_an_artefact_that_changed_is_the_worlds_fault() -> None:
    world = World()
    event = await chunked(world)
    key = event.artefacts["hierarchy.json"].key
    world.objects.data[key] = b"{}"
    with pytest.raises(WorldFault, match=r"hierarchy\.json does not match its sha256"):
        await on_chunked(deps(world), event, work(event))
    del world.objects.data[key]
    world.objects.data.pop(f"{NS}/doc-1/1/hierarchy.json")
    with pytest.raises(WorldFault, match="is not in the store"):
        await on_chunked(deps(world), event, work(event))


async def test_wait_for_dense_embeds_before_the_flip() -> None:
    world = World(embedder=Embedder())
    event = await chunked(world, wait_for_dense=True)
    await on_chunked(deps(world), event, work(event))
    record = await world.documents.revision(NS, "doc-1")
    assert record is not None
    assert record.dense_model == "fake-v1"
    await on_published(deps(world), published(event), work(event))
    assert said(world) == ["DocumentPublished", "DocumentEmbedded"]
    assert world.documents.version == 1


async def test_the_dense_channel_follows_whole_and_from_the_cache() -> None:
    embedder = Embedder()
    world = World(embedder=embedder)
    event = await chunked(world)
    settled = deps(world, indexer_embed_batch=2)
    await on_chunked(settled, event, work(event))
    await on_published(settled, published(event), work(event))
    record = await world.documents.revision(NS, "doc-1")
    assert record is not None
    ids = [c.chunk_id for c in world.chunks.rows[record.revn]]
    assert list(world.index.vectors[NS, record.revn, "fake-v1"]) == ids
    assert (record.dense_model, world.documents.version) == ("fake-v1", 2)
    count = len(embedder.embedded)
    again = await chunked(world, "doc-2")
    await on_chunked(settled, again, work(again))
    await on_published(settled, published(again), work(again))
    assert len(embedder.embedded) == count == 3


async def test_without_an_embedder_there_is_nothing_to_do() -> None:
    world = World()
    event = await chunked(world)
    await on_chunked(deps(world), event, work(event))
    await on_published(deps(world), published(event), work(event))
    assert said(world) == ["DocumentPublished"]


async def test_a_revision_collected_while_it_was_embedded_keeps_no_vectors() -> None:
    world = World(embedder=Embedder())
    event = await chunked(world)
    await on_chunked(deps(world), event, work(event))
    record = await world.documents.revision(NS, "doc-1")
    assert record is not None
    write = world.index.write_vectors

    async def written_then_collected(*args: object) -> None:
        await write(*args)  # type: ignore[arg-type]
        world.documents.change(record, state="collected")

    world.index.write_vectors = written_then_collected  # type: ignore[method-assign]
    await on_published(deps(world), published(event), work(event))
    assert not world.index.vectors
    assert said(world) == ["DocumentPublished"]


async def test_only_the_last_revisions_are_kept() -> None:
    world = World(embedder=Embedder())
    for number in range(1, 5):
        event = await chunked(world, revision=number)
        await on_chunked(deps(world), event, work(event))
        await on_published(deps(world), published(event), work(event))
    states = {r.revision: r.state for r in await world.documents.revisions(NS, "doc-1")}
    assert states == {4: "published", 3: "published", 2: "collected", 1: "collected"}
    kept = {r.revn for r in await world.documents.revisions(NS, "doc-1") if r.revision > 2}
    assert {revn for _, revn in world.index.documents} == kept
    assert {revn for _, revn, _ in world.index.vectors} == kept
    assert {revn for _, revn in world.graph.nodes} == kept
    assert set(world.chunks.rows) == kept
    numbers = {key.split("/")[2] for key in world.objects.data}
    assert numbers == {"3", "4", "document.json"}


async def test_a_collection_that_was_killed_is_finished_by_the_next() -> None:
    world = World()
    event = await chunked(world, revision=1)
    await on_chunked(deps(world), event, work(event))
    record = await world.documents.revision(NS, "doc-1")
    assert record is not None
    for number in (2, 3):
        event = await chunked(world, revision=number)
        await on_chunked(deps(world), event, work(event))
    world.documents.change(record, state="collected")
    await on_published(deps(world), published(event), work(event))
    assert (NS, record.revn) not in world.index.documents
    assert not [key for key in world.objects.data if key.startswith(f"{NS}/doc-1/1/")]
