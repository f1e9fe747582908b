"""What every job store must do when jobs begin. Give the fixture `catalog`."""

from typing import Any

import pytest

from libs.contracts.api.ingest import IngestOptions
from libs.contracts.faults import CallerFault, Code
from libs.runtime.catalog.jobs import Admission
from libs.runtime.catalog.port import Catalog
from tests.support.catalogs import (
    NS,
    OTHER,
    admitted,
    entry,
    options,
    published,
    ready,
    ref,
    running,
)


class JobAdmissionSuite:
    """Admission, sources and release, as `libs/runtime/catalog/jobs.py` says."""

    async def test_admission_makes_document_revision_and_waiting_job(
        self, catalog: Catalog
    ) -> None:
        admission = Admission(
            NS, "report.pdf", options(year=2024), media_type="application/pdf", traceparent="00-a-b"
        )
        made = await catalog.jobs.admit(admission)
        job = made.job
        assert made.outcome == "new"
        assert (job.state, job.stage, job.revision, job.attempt) == ("waiting", "gateway", 1, 1)
        assert (job.file_name, job.media_type) == ("report.pdf", "application/pdf")
        assert (job.traceparent, job.options) == ("00-a-b", options(year=2024))
        assert (job.source, job.error, job.announced) == (None, None, None)
        assert await catalog.jobs.get(NS, job.job_id) == job
        document = await catalog.documents.get(NS, job.document_id)
        assert document is not None
        assert (document.state, document.file_name) == ("pending", "report.pdf")
        assert (document.active_revision, document.highest_published) == (None, 0)
        assert document.metadata.year == 2024
        (revision,) = await catalog.documents.revisions(NS, job.document_id)
        assert (revision.revision, revision.state, revision.revn) == (1, "accepted", job.revn)

    async def test_revisions_are_numbered_within_their_document(self, catalog: Catalog) -> None:
        first = await admitted(catalog, "doc-1")
        second = await admitted(catalog, "doc-1")
        other = await admitted(catalog, "doc-2")
        foreign = await admitted(catalog, "doc-1", OTHER)
        numbers = [job.revision for job in (first, second, other, foreign)]
        assert numbers == [1, 2, 1, 1]
        assert len({job.revn for job in (first, second, other, foreign)}) == 4

    async def test_without_a_document_id_each_admission_gets_its_own(
        self, catalog: Catalog
    ) -> None:
        assert (await admitted(catalog)).document_id != (await admitted(catalog)).document_id

    async def test_an_identity_makes_one_job_in_its_namespace(self, catalog: Catalog) -> None:
        admission = Admission(NS, "a.pdf", IngestOptions(), identity="bucket/key\x1fetag")
        first = await catalog.jobs.admit(admission)
        again = await catalog.jobs.admit(admission)
        assert (again.outcome, again.job) == ("replayed", first.job)
        assert await catalog.jobs.find(NS, "bucket/key\x1fetag") == first.job
        assert await catalog.jobs.find(NS, "another") is None
        assert await catalog.jobs.find(OTHER, "bucket/key\x1fetag") is None
        foreign = await catalog.jobs.admit(
            Admission(OTHER, "a.pdf", IngestOptions(), identity="bucket/key\x1fetag")
        )
        assert foreign.outcome == "new"
        assert foreign.job.job_id != first.job.job_id

    @pytest.mark.parametrize("document_id", ["a.b", "a/b", "*", "", " a", "x" * 129, "-a"])
    async def test_a_bad_document_id_is_refused(self, catalog: Catalog, document_id: str) -> None:
        admission = Admission(NS, "a.pdf", IngestOptions(), document_id=document_id or "\x00")
        with pytest.raises(CallerFault) as caught:
            await catalog.jobs.admit(admission)
        assert caught.value.code is Code.INVALID
        assert await catalog.documents.select(NS) == []

    async def test_a_file_name_cannot_leave_its_folder(self, catalog: Catalog) -> None:
        job = await admitted(catalog, file_name="../../etc/passwd\x00")
        assert job.file_name == "passwd"

    async def test_a_document_being_erased_takes_nothing_new(self, catalog: Catalog) -> None:
        await catalog.jobs.admit(
            Admission(NS, "a.pdf", IngestOptions(), document_id="doc-1", identity="one")
        )
        await catalog.documents.hide(NS, "doc-1", "erasure-1")
        for identity in (None, "one"):
            with pytest.raises(CallerFault) as caught:
                await catalog.jobs.admit(
                    Admission(NS, "a.pdf", IngestOptions(), "doc-1", identity=identity)
                )
            assert (caught.value.code, caught.value.status) == (Code.CONFLICT, 409)

    async def test_the_source_is_stored_once(self, catalog: Catalog) -> None:
        job = await admitted(catalog)
        stored = await catalog.jobs.source_stored(job.job_id, ref("one"))
        assert stored.source == ref("one")
        assert (await catalog.jobs.source_stored(job.job_id, ref("two"))).source == ref("one")
        (revision,) = await catalog.documents.revisions(NS, job.document_id)
        assert revision.source == ref("one")
        with pytest.raises(CallerFault) as caught:
            await catalog.jobs.source_stored("job-unknown", ref())
        assert caught.value.code is Code.NOT_FOUND

    async def test_equal_bytes_and_options_are_unchanged_while_wanted(
        self, catalog: Catalog
    ) -> None:
        sha256 = ref("bytes").sha256
        job = await ready(catalog, "doc-1", options=options(year=2024))

        async def found() -> str | None:
            known = await catalog.jobs.unchanged(NS, "doc-1", sha256, options(year=2024))
            return None if known is None else known.job_id

        assert await found() == job.job_id
        assert await catalog.jobs.unchanged(NS, "doc-1", ref("x").sha256, job.options) is None
        assert await catalog.jobs.unchanged(NS, "doc-1", sha256, options(year=2025)) is None
        assert await catalog.jobs.unchanged(NS, "doc-2", sha256, job.options) is None
        assert await catalog.jobs.unchanged(OTHER, "doc-1", sha256, job.options) is None
        await admitted(catalog, "doc-1")
        assert await found() == job.job_id, "an upload without a source is not the newest yet"
        await catalog.jobs.record(entry(job, "parser.failed", state="failed"))
        assert await found() is None

    async def test_published_bytes_are_unchanged_while_they_are_active(
        self, catalog: Catalog
    ) -> None:
        await published(catalog, "doc-1", source="one")
        second = await published(catalog, "doc-1", source="two")
        two = ref("two").sha256
        known = await catalog.jobs.unchanged(NS, "doc-1", two, IngestOptions())
        assert known is not None
        assert known.job_id == second.job_id
        assert await catalog.jobs.unchanged(NS, "doc-1", ref("one").sha256, IngestOptions()) is None
        await catalog.documents.activate(NS, "doc-1", 1)
        assert await catalog.jobs.unchanged(NS, "doc-1", two, IngestOptions()) is None

    async def test_a_discarded_job_leaves_nothing(self, catalog: Catalog) -> None:
        job = await admitted(catalog, "doc-1", identity="one")
        await catalog.jobs.discard(job.job_id)
        assert await catalog.jobs.get(NS, job.job_id) is None
        assert await catalog.jobs.standing(job.job_id) == "unknown"
        assert await catalog.jobs.find(NS, "one") is None
        assert await catalog.documents.get(NS, "doc-1") is None
        await catalog.jobs.discard(job.job_id)

    async def test_discarding_a_second_upload_keeps_the_document(self, catalog: Catalog) -> None:
        await published(catalog, "doc-1")
        job = await admitted(catalog, "doc-1")
        await catalog.jobs.discard(job.job_id)
        assert [one.revision for one in await catalog.documents.revisions(NS, "doc-1")] == [1]
        again = await admitted(catalog, "doc-1")
        assert again.revision == 2
        assert again.revn > job.revn

    async def test_discarding_leaves_an_unpublished_document_as_it_was(
        self, catalog: Catalog
    ) -> None:
        async def state() -> tuple[str, str]:
            document = await catalog.documents.get(NS, "doc-1")
            assert document is not None
            return document.state, document.file_name

        first = await ready(catalog, "doc-1", file_name="first.pdf")
        for _ in range(2):
            second = await admitted(catalog, "doc-1", file_name="second.pdf")
            assert await state() == ("pending", "second.pdf")
            before = await catalog.jobs.get(NS, first.job_id)
            assert before is not None
            await catalog.jobs.discard(second.job_id)
            expected = "pending" if before.state == "waiting" else "failed"
            assert await state() == (expected, "first.pdf")
            await catalog.jobs.record(entry(first, "parser.failed", state="failed"))

    async def test_a_job_with_its_source_is_not_discarded(self, catalog: Catalog) -> None:
        job = await ready(catalog)
        await catalog.jobs.discard(job.job_id)
        assert await catalog.jobs.get(NS, job.job_id) == job

    async def test_jobs_without_a_source_are_found_by_age_and_never_released(
        self, catalog: Catalog
    ) -> None:
        first, second = await admitted(catalog), await admitted(catalog)
        await ready(catalog)
        found = await catalog.jobs.unsourced(0.0, 10)
        assert [one.job_id for one in found] == [first.job_id, second.job_id]
        assert len(await catalog.jobs.unsourced(0.0, 1)) == 1
        assert await catalog.jobs.unsourced(3600.0, 10) == []
        released = await catalog.jobs.release(10, 10)
        assert not {one.job_id for one in found} & {one.job_id for one in released}

    async def test_a_paused_namespace_is_not_released_and_holds_up_nobody(
        self, catalog: Catalog
    ) -> None:
        held = await ready(catalog)
        other = await ready(catalog, namespace=OTHER)
        await catalog.keys.pause(NS, paused=True)
        assert [one.job_id for one in await catalog.jobs.release(2, 10)] == [other.job_id]
        assert await catalog.jobs.release(2, 10) == []
        assert await catalog.jobs.count(NS, "waiting") == 1
        await catalog.keys.pause(NS, paused=False)
        assert [one.job_id for one in await catalog.jobs.release(2, 10)] == [held.job_id]

    async def test_release_is_bounded_by_namespace_and_takes_the_oldest(
        self, catalog: Catalog
    ) -> None:
        jobs = [await ready(catalog) for _ in range(4)]
        released = await catalog.jobs.release(2, 10)
        assert [one.job_id for one in released] == [one.job_id for one in jobs[:2]]
        assert {one.state for one in released} == {"running"}
        assert await catalog.jobs.release(2, 10) == []
        await catalog.jobs.record(entry(jobs[0], "parser.failed", state="failed"))
        assert [one.job_id for one in await catalog.jobs.release(2, 10)] == [jobs[2].job_id]
        assert await catalog.jobs.count(NS, "running") == 2
        assert await catalog.jobs.count(NS, "waiting") == 1

    async def test_release_counts_the_shards_that_are_not_parsed_yet(
        self, catalog: Catalog
    ) -> None:
        jobs = [await ready(catalog) for _ in range(9)]

        async def released() -> int:
            return len(await catalog.jobs.release(9, 10, shards=3, shard_window=4))

        async def said(number: int, event: str, stage: str, **changes: Any) -> None:
            await catalog.jobs.record(entry(jobs[number], event, stage, **changes))

        assert [await released(), await released()] == [3, 0]
        await said(0, "profiler.profiled", "parser", done=0, total=50, unit="shard")
        await said(1, "parser.shards_done", "parser", done=2, total=5, unit="stage")
        assert await released() == 0
        await said(0, "parser.shard_parsed", "parser", done=49, total=50, unit="shard")
        assert [await released(), await released()] == [1, 0]
        await said(0, "parser.parsed", "chunker", done=3, total=5, unit="stage")
        await said(2, "gateway.accepted", "profiler", done=1, total=5, unit="stage")
        assert [await released(), await released()] == [1, 0]
        other = await ready(catalog, namespace=OTHER)
        assert [one.job_id for one in await catalog.jobs.release(9, 10, shards=3)] == [other.job_id]
        assert len(await catalog.jobs.release(6, 10)) == 1

    async def test_release_goes_round_the_namespaces(self, catalog: Catalog) -> None:
        crowd = [await ready(catalog) for _ in range(6)]
        late = [await ready(catalog, namespace=OTHER) for _ in range(2)]
        released = await catalog.jobs.release(10, 4)
        assert [one.job_id for one in released] == [
            crowd[0].job_id,
            late[0].job_id,
            crowd[1].job_id,
            late[1].job_id,
        ]
        later = await ready(catalog, namespace="third")
        (one,) = await catalog.jobs.release(10, 1)
        assert one.job_id == later.job_id, "who has fewest running comes first"
        assert await catalog.jobs.release(10, 0) == []

    async def test_jobs_are_listed_newest_first_in_pages(self, catalog: Catalog) -> None:
        jobs = sorted([(await ready(catalog)).job_id for _ in range(4)], reverse=True)
        await ready(catalog, namespace=OTHER)
        page = await catalog.jobs.select(NS, limit=3)
        assert [one.job_id for one in page] == jobs[:3]
        rest = await catalog.jobs.select(NS, before=page[-1].job_id, limit=3)
        assert [one.job_id for one in rest] == jobs[3:]
        await catalog.jobs.release(1, 1)
        assert len(await catalog.jobs.select(NS, state="running")) == 1

    async def test_foreign_jobs_are_absent(self, catalog: Catalog) -> None:
        job = await running(catalog)
        assert await catalog.jobs.get(OTHER, job.job_id) is None
        assert await catalog.jobs.get(None, job.job_id) == job
        assert await catalog.jobs.request_cancel(OTHER, job.job_id) is None
        assert await catalog.jobs.select(OTHER) == []
        assert await catalog.jobs.count(OTHER, "running") == 0
        assert await catalog.jobs.count(None, "running") == 1
        assert await catalog.jobs.standing(job.job_id) == "current"
