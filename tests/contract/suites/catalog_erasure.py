"""What every document store must do about deletion. Give the fixture `catalog`."""

from datetime import UTC, datetime

import pytest

from libs.contracts.events.planner import SearchHit, SearchRan
from libs.contracts.faults import StaleFault
from libs.runtime.catalog.port import Catalog
from tests.support.catalogs import (
    NS,
    OTHER,
    admitted,
    chunks,
    entry,
    flipped,
    published,
    ready,
    ref,
    running,
    tree,
)


def hit_of(document_id: str, run_id: str = "run-1") -> SearchRan:
    return SearchRan(
        run_id=run_id,
        namespace=NS,
        key_id="key-1",
        mode="classic",
        status="ok",
        cached=False,
        corpus_version=1,
        latency_ms=1.0,
        trace_id=None,
        steps=[],
        hits=[SearchHit(document_id=document_id, chunk_id="t1")],
        trace={"documents": [document_id]},
    )


async def erase(catalog: Catalog, document_id: str, erasure_id: str) -> None:
    assert await catalog.documents.hide(NS, document_id, erasure_id) is not None
    assert await catalog.documents.erased(NS, erasure_id, {"objects": 3}, 0) is not None


class ErasureSuite:
    """Hide, erase, tombstone, as `libs/runtime/catalog/documents.py` says."""

    async def test_a_hidden_document_is_found_by_no_reader(self, catalog: Catalog) -> None:
        await published(catalog, "doc-1")
        await published(catalog, "doc-2")
        version = await catalog.documents.corpus_version(NS)
        receipt = await catalog.documents.hide(NS, "doc-1", "erasure-1")
        assert receipt is not None
        assert (receipt.erasure_id, receipt.document_id) == ("erasure-1", "doc-1")
        assert (receipt.state, receipt.removed, receipt.erased_at) == ("requested", {}, None)
        seen = await catalog.documents.active_set(NS)
        assert [one.document_id for one in seen.revisions] == ["doc-2"]
        assert seen.corpus_version == version + 1
        assert await catalog.documents.revision(NS, "doc-1") is None
        assert await catalog.documents.revision(NS, "doc-1", 1) is None
        assert [one.document_id for one in await catalog.documents.select(NS)] == ["doc-2"]
        assert await catalog.documents.activate(NS, "doc-1", 1) is None
        document = await catalog.documents.get(NS, "doc-1")
        assert document is not None
        assert document.state == "erasing"
        assert [one.revision for one in await catalog.documents.revisions(NS, "doc-1")] == [1]
        (listed,) = await catalog.documents.select(NS, state="erasing")
        assert listed == document

    async def test_hiding_again_answers_the_first_receipt(self, catalog: Catalog) -> None:
        await published(catalog, "doc-1")
        first = await catalog.documents.hide(NS, "doc-1", "erasure-1")
        version = await catalog.documents.corpus_version(NS)
        assert await catalog.documents.hide(NS, "doc-1", "erasure-2") == first
        assert await catalog.documents.corpus_version(NS) == version
        assert await catalog.documents.erasure(NS, "erasure-1") == first
        assert await catalog.documents.erasure(NS, "erasure-2") is None
        assert await catalog.documents.erasure(OTHER, "erasure-1") is None
        assert await catalog.documents.hide(NS, "doc-2", "erasure-3") is None

    async def test_jobs_of_a_hidden_document_end(self, catalog: Catalog) -> None:
        job, waiting = await running(catalog, "doc-1"), await ready(catalog, "doc-1")
        await catalog.documents.hide(NS, "doc-1", "erasure-1")
        for one in (job, waiting):
            ended = await catalog.jobs.get(NS, one.job_id)
            assert ended is not None
            assert ended.state == "cancelled"
            assert await catalog.jobs.standing(one.job_id) == "erased"
        assert await flipped(catalog, job) == "erased"
        assert await catalog.jobs.release(10, 10) == []
        with pytest.raises(StaleFault):
            await catalog.chunks.stage(job.revn, chunks("late"), tree())
        with pytest.raises(StaleFault):
            await catalog.jobs.shard_done(job.job_id, 0, 1, ref(), {})

    async def test_erasing_leaves_nothing_but_the_tombstone(self, catalog: Catalog) -> None:
        job = await running(catalog, "doc-1", file_name="secret-plan.pdf", identity="id-1")
        await catalog.jobs.record(entry(job, "parser.parsed", announced=("s", "secret-plan.pdf")))
        await catalog.jobs.shard_done(job.job_id, 0, 1, ref(), {"name": "secret-plan"})
        await catalog.chunks.stage(job.revn, chunks("a secret plan", "b"), tree("Secret plan"))
        await flipped(catalog, job, inferred={"domain": "secret-plan"})
        await catalog.runs.append([hit_of("doc-1")])
        await catalog.documents.hide(NS, "doc-1", "erasure-1")
        receipt = await catalog.documents.erased(NS, "erasure-1", {"objects": 7, "index": 2}, 0)
        assert receipt is not None
        assert (receipt.state, receipt.removed, receipt.requery_hits) == (
            "erased", {"objects": 7, "index": 2}, 0,
        )  # fmt: skip
        assert receipt.erased_at is not None
        assert await catalog.chunks.digest(job.revn) == await catalog.chunks.digest(10**6)
        assert await catalog.chunks.sections(job.revn) is None
        assert await catalog.documents.revisions(NS, "doc-1") == []
        assert await catalog.runs.hits(NS, "doc-1") == {}
        assert await catalog.jobs.history(job.job_id) == []
        assert await catalog.jobs.find(NS, "id-1") is None
        left = await catalog.jobs.get(NS, job.job_id)
        document = await catalog.documents.get(NS, "doc-1")
        assert document is not None
        assert document.state == "erased"
        assert "secret" not in repr(left) + repr(document)
        assert await catalog.documents.select(NS) == []
        assert await catalog.documents.select(NS, state="erased") == [document]

    async def test_finishing_an_erasure_again_changes_nothing(self, catalog: Catalog) -> None:
        await published(catalog, "doc-1")
        assert await catalog.documents.erased(NS, "erasure-1", {}, 0) is None
        await catalog.documents.hide(NS, "doc-1", "erasure-1")
        first = await catalog.documents.erased(NS, "erasure-1", {"objects": 1}, 0)
        await published(catalog, "doc-1")
        assert await catalog.documents.erased(NS, "erasure-1", {"objects": 9}, 5) == first
        assert await catalog.documents.erased(OTHER, "erasure-1", {}, 0) is None
        assert await catalog.documents.revision(NS, "doc-1") is not None

    async def test_what_comes_late_does_not_bring_a_document_back(self, catalog: Catalog) -> None:
        job = await running(catalog, "doc-1")
        await erase(catalog, "doc-1", "erasure-1")
        version = await catalog.documents.corpus_version(NS)
        assert await flipped(catalog, job) == "erased"
        assert await catalog.documents.activate(NS, "doc-1", 1) is None
        assert await catalog.documents.set_dense(NS, "doc-1", 1, "e5") == version
        with pytest.raises(StaleFault):
            await catalog.chunks.stage(job.revn, chunks("late"), tree())
        assert await catalog.jobs.record(entry(job, "parser.failed", state="failed")) is None
        assert await catalog.jobs.history(job.job_id) == []
        await catalog.runs.append([hit_of("doc-1")])
        assert await catalog.runs.hits(NS, "doc-1") == {}
        run = await catalog.runs.get(NS, "run-1")
        assert run is not None
        assert "doc-1" not in repr(run.trace)
        assert await catalog.documents.active_set(NS) == await catalog.documents.active_set(NS)
        assert (await catalog.documents.active_set(NS)).revisions == ()
        document = await catalog.documents.get(NS, "doc-1")
        assert document is not None
        assert document.state == "erased"

    async def test_an_erased_document_may_begin_a_new_life(self, catalog: Catalog) -> None:
        old = await running(catalog, "doc-1")
        await published(catalog, "doc-1")
        await erase(catalog, "doc-1", "erasure-1")
        fresh = await running(catalog, "doc-1", file_name="fresh.pdf")
        assert fresh.revision == 3
        document = await catalog.documents.get(NS, "doc-1")
        assert document is not None
        assert (document.state, document.file_name) == ("pending", "fresh.pdf")
        assert (document.active_revision, document.highest_published) == (None, 0)
        assert await catalog.jobs.standing(old.job_id) == "erased"
        assert await catalog.jobs.standing(fresh.job_id) == "current"
        assert await flipped(catalog, old) == "erased"
        assert await flipped(catalog, fresh) == "flipped"
        assert await catalog.jobs.standing(old.job_id) == "erased"
        second = await catalog.documents.hide(NS, "doc-1", "erasure-2")
        assert second is not None
        assert second.erasure_id == "erasure-2"

    async def test_a_new_life_that_never_began_is_none(self, catalog: Catalog) -> None:
        await published(catalog, "doc-1")
        await erase(catalog, "doc-1", "erasure-1")
        before = await catalog.documents.get(NS, "doc-1")
        job = await admitted(catalog, "doc-1", file_name="fresh.pdf")
        await catalog.jobs.discard(job.job_id)
        after = await catalog.documents.get(NS, "doc-1")
        assert before is not None
        assert after is not None
        assert (after.state, after.file_name) == (before.state, "") == ("erased", "")
        receipt = await catalog.documents.hide(NS, "doc-1", "erasure-2")
        assert receipt is not None
        assert receipt.erasure_id == "erasure-1"

    async def test_unfinished_erasures_are_found(self, catalog: Catalog) -> None:
        await published(catalog, "doc-1")
        await admitted(catalog, "doc-1")
        await published(catalog, "doc-2")
        receipt = await catalog.documents.hide(NS, "doc-1", "erasure-1")
        await erase(catalog, "doc-2", "erasure-2")
        assert await catalog.documents.unfinished_erasures(0.0) == [(NS, receipt, 2)]
        assert await catalog.documents.unfinished_erasures(3600.0) == []
        assert receipt is not None
        assert receipt.requested_at <= datetime.now(UTC)
