"""What every chunk store must do. Give the fixture `catalog`."""

import pytest

from libs.contracts.artefacts.chunk import digest_ids
from libs.contracts.faults import StaleFault
from libs.runtime.catalog.port import Catalog
from libs.runtime.index.port import EMPTY_DIGEST, Digest
from tests.support.catalogs import (
    NS,
    OTHER,
    chunks,
    entry,
    flipped,
    published,
    running,
    tree,
)


class ChunkStoreSuite:
    """The MUSTs of `libs/runtime/catalog/chunks.py`."""

    async def test_what_is_staged_is_read_back(self, catalog: Catalog) -> None:
        job = await running(catalog)
        pieces = chunks("first", "둘째 조각", 'third "quoted" \x00 nul')
        await catalog.chunks.stage(job.revn, pieces, tree("Part", "Section"))
        keys = [(job.revn, order) for order in range(4)]
        found = await catalog.chunks.fetch([*keys, (job.revn + 1, 0), keys[0]])
        assert found == dict(zip(keys, pieces, strict=False))
        assert await catalog.chunks.fetch([]) == {}
        ids = [one.chunk_id for one in pieces]
        assert await catalog.chunks.digest(job.revn) == Digest(3, digest_ids(ids))
        assert await catalog.chunks.find(job.revn, ids[1]) == pieces[1]
        assert await catalog.chunks.find(job.revn + 1, ids[1]) is None
        assert await catalog.chunks.find(job.revn, "t0") is None
        wanted = [(job.revn, ids[2]), (job.revn, ids[0]), (job.revn, "t0"), (job.revn + 1, ids[1])]
        assert await catalog.chunks.named(wanted * 2) == {
            (job.revn, ids[0]): pieces[0],
            (job.revn, ids[2]): pieces[2],
        }
        assert await catalog.chunks.named([]) == {}
        assert await catalog.chunks.sections(job.revn) == tree("Part", "Section")
        (revision,) = await catalog.documents.revisions(NS, job.document_id)
        assert revision.state == "staged"

    async def test_an_empty_revision_has_the_empty_digest(self, catalog: Catalog) -> None:
        job = await running(catalog)
        assert await catalog.chunks.digest(job.revn) == EMPTY_DIGEST
        await catalog.chunks.stage(job.revn, [], tree())
        assert await catalog.chunks.digest(job.revn) == EMPTY_DIGEST
        assert await catalog.chunks.sections(job.revn) == tree()

    async def test_staging_makes_the_rows_exactly_these(self, catalog: Catalog) -> None:
        job = await running(catalog)
        await catalog.chunks.stage(job.revn, chunks("a", "b", "c"), tree("Old", "Older"))
        for _ in range(2):
            await catalog.chunks.stage(job.revn, chunks("b", "d"), tree("New"))
            whole = await catalog.chunks.whole([job.revn], 10)
            assert [one.content for _, one in whole] == ["b", "d"]
            assert await catalog.chunks.sections(job.revn) == tree("New")

    async def test_a_revision_of_any_size_is_staged(self, catalog: Catalog) -> None:
        job = await running(catalog)
        leaf = tree().children[0]
        root = tree(*map(str, range(40)))
        root.children.extend([leaf] * 600)
        for size in (1201, 800):
            pieces = chunks(*(f"piece {number}" for number in range(size)))
            await catalog.chunks.stage(job.revn, pieces, root)
            assert (await catalog.chunks.digest(job.revn)).count == size
            assert await catalog.chunks.sections(job.revn) == root
            whole = await catalog.chunks.whole([job.revn], 2000)
            assert [one for _, one in whole] == pieces
        assert await catalog.chunks.remove([job.revn]) == 800

    async def test_a_repeated_id_or_order_is_refused_whole(self, catalog: Catalog) -> None:
        job = await running(catalog)
        one, two = chunks("a", "b")
        for wrong in (two.model_copy(update={"order": 0}), one.model_copy(update={"order": 1})):
            with pytest.raises(ValueError, match=str(job.revn)):
                await catalog.chunks.stage(job.revn, [one, wrong], tree())
        assert await catalog.chunks.digest(job.revn) == EMPTY_DIGEST

    async def test_a_published_revision_is_never_rewritten(self, catalog: Catalog) -> None:
        job = await running(catalog)
        await catalog.chunks.stage(job.revn, chunks("a"), tree())
        await flipped(catalog, job)
        await catalog.chunks.stage(job.revn, chunks("a"), tree())
        with pytest.raises(StaleFault):
            await catalog.chunks.stage(job.revn, chunks("b"), tree())
        assert [one.content for _, one in await catalog.chunks.whole([job.revn], 9)] == ["a"]

    async def test_what_is_not_wanted_is_not_staged(self, catalog: Catalog) -> None:
        failed = await running(catalog)
        await catalog.jobs.record(entry(failed, "parser.failed", state="failed"))
        for revn in (failed.revn, 10**6):
            with pytest.raises(StaleFault):
                await catalog.chunks.stage(revn, chunks("a"), tree())
            assert await catalog.chunks.digest(revn) == EMPTY_DIGEST

    async def test_whole_reads_revisions_in_order_up_to_the_limit(self, catalog: Catalog) -> None:
        first, second = await running(catalog), await running(catalog)
        for job in (second, first):
            await catalog.chunks.stage(job.revn, chunks("a", "b"), tree())
        whole = await catalog.chunks.whole([second.revn, first.revn], 3)
        assert [(revn, one.order) for revn, one in whole] == [
            (first.revn, 0), (first.revn, 1), (second.revn, 0),
        ]  # fmt: skip
        assert await catalog.chunks.whole([first.revn], 0) == []
        assert await catalog.chunks.whole([], 5) == []

    async def test_texts_are_what_is_embedded(self, catalog: Catalog) -> None:
        job = await running(catalog)
        pieces = chunks("see [[image:i1]] here", "plain")
        await catalog.chunks.stage(job.revn, pieces, tree())
        texts = await catalog.chunks.texts(job.revn)
        assert [chunk_id for chunk_id, _, _ in texts] == [one.chunk_id for one in pieces]
        first, second = (text for _, _, text in texts)
        assert "Section" in first
        assert "here" in first
        assert "[[" not in first
        assert "plain" in second
        assert texts[0][1] != texts[1][1]

    async def test_the_hash_is_of_the_very_text_that_is_embedded(self, catalog: Catalog) -> None:
        jobs = [await running(catalog) for _ in range(3)]
        for job, path in zip(jobs, (("A",), ("A",), ("B",)), strict=True):
            await catalog.chunks.stage(job.revn, chunks("same", path=path), tree())
        hashes = [(await catalog.chunks.texts(job.revn))[0][1] for job in jobs]
        assert hashes[0] == hashes[1] != hashes[2]

    async def test_vectors_are_cached_by_namespace_model_and_hash(self, catalog: Catalog) -> None:
        many = {f"h{number}": bytes([number % 256]) * 8 for number in range(1100)}
        await catalog.chunks.cache_vectors(NS, "e5", many)
        await catalog.chunks.cache_vectors(NS, "e5", {"h0": b"other", "new": b"new"})
        found = await catalog.chunks.cached_vectors(NS, "e5", [*many, "new", "absent"])
        assert found == many | {"new": b"new"}
        assert await catalog.chunks.cached_vectors(NS, "use", ["h0"]) == {}
        assert await catalog.chunks.cached_vectors(OTHER, "e5", ["h0"]) == {}
        assert await catalog.chunks.cached_vectors(NS, "e5", []) == {}

    async def test_vectors_go_with_their_last_member(self, catalog: Catalog) -> None:
        jobs = [await running(catalog), await running(catalog)]
        foreign = await running(catalog, namespace=OTHER)
        for job in (*jobs, foreign):
            await catalog.chunks.stage(job.revn, chunks("shared"), tree())
        ((_, key, _),) = await catalog.chunks.texts(jobs[0].revn)
        for namespace in (NS, OTHER):
            await catalog.chunks.cache_vectors(namespace, "e5", {key: b"v", "orphan": b"o"})
        assert await catalog.chunks.sweep_vectors(NS) == 1
        await catalog.chunks.remove([jobs[0].revn])
        assert await catalog.chunks.sweep_vectors(NS) == 0
        await catalog.chunks.remove([jobs[1].revn])
        assert await catalog.chunks.sweep_vectors(NS) == 1
        assert await catalog.chunks.cached_vectors(NS, "e5", [key]) == {}
        found = await catalog.chunks.cached_vectors(OTHER, "e5", [key, "orphan"])
        assert set(found) == {key, "orphan"}

    async def test_removal_takes_only_what_is_named(self, catalog: Catalog) -> None:
        first, second = await published(catalog), await running(catalog)
        await catalog.chunks.stage(second.revn, chunks("a", "b"), tree())
        assert await catalog.chunks.remove([first.revn, second.revn, 10**6]) == 2
        assert await catalog.chunks.remove([second.revn]) == 0
        assert await catalog.chunks.sections(second.revn) is None
        await catalog.chunks.stage(second.revn, chunks("a", "b"), tree())
        assert (await catalog.chunks.digest(second.revn)).count == 2
