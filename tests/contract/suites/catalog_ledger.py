"""What every job store must do while jobs go on and end. Give the fixture `catalog`."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs.contracts.api.problem import Problem, problem_of
from libs.contracts.faults import Code, DocumentFault, StaleFault
from libs.runtime.catalog.port import Catalog
from tests.support.catalogs import (
    NS,
    admitted,
    entry,
    flipped,
    published,
    ready,
    ref,
    running,
)

PROBLEM: Problem = problem_of(DocumentFault(Code.ENCRYPTED, "the file is encrypted"), 422)


STAGES = ("gateway", "profiler", "parser", "chunker", "indexer")
ENDS = ("published", "failed", "cancelled", "superseded")
EVENTS = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.sampled_from(STAGES),
        st.sampled_from([None, None, None, "running", *ENDS]),
        st.integers(0, 4),
    ),
    max_size=12,
)


class JobLedgerSuite:
    """Events, ends, cancel and standing, as `libs/runtime/catalog/jobs.py` says."""

    async def test_an_event_moves_stage_progress_and_announcement(self, catalog: Catalog) -> None:
        job = await running(catalog)
        changed = await catalog.jobs.record(
            entry(
                job,
                "profiler.profiled",
                stage="parser",
                done=0,
                total=7,
                unit="shard",
                attempt=2,
                announced=("profiler.profiled.j.1", '{"a":1}'),
            )
        )
        assert changed is not None
        assert (changed.stage, changed.done, changed.total, changed.unit) == (
            "parser", 0, 7, "shard",
        )  # fmt: skip
        assert (changed.state, changed.attempt) == ("running", 2)
        assert changed.announced == ("profiler.profiled.j.1", '{"a":1}')
        assert changed.timings == {"profiler.profiled": 1.5}
        assert await catalog.jobs.get(NS, job.job_id) == changed

    async def test_an_event_is_applied_once(self, catalog: Catalog) -> None:
        job = await running(catalog)
        first = await catalog.jobs.record(entry(job, "parser.parsed", done=3, total=5))
        assert await catalog.jobs.record(entry(job, "parser.parsed", done=4, total=5)) is None
        assert await catalog.jobs.get(NS, job.job_id) == first
        assert len(await catalog.jobs.history(job.job_id)) == 1

    async def test_an_event_of_an_unknown_job_changes_nothing(self, catalog: Catalog) -> None:
        job = await admitted(catalog)
        await catalog.jobs.discard(job.job_id)
        assert await catalog.jobs.record(entry(job, "parser.parsed")) is None
        assert await catalog.jobs.history(job.job_id) == []

    async def test_a_late_event_does_not_move_the_stage_back(self, catalog: Catalog) -> None:
        job = await running(catalog)
        await catalog.jobs.record(
            entry(job, "parser.parsed", stage="chunker", done=3, total=5, announced=("s", "b"))
        )
        late = await catalog.jobs.record(
            entry(job, "profiler.profiled", stage="parser", done=1, total=9, announced=("x", "y"))
        )
        assert late is not None
        assert (late.stage, late.done, late.total) == ("chunker", 3, 5)
        assert late.announced == ("s", "b")
        assert set(late.timings) == {"parser.parsed", "profiler.profiled"}

    async def test_progress_within_a_stage_does_not_go_back(self, catalog: Catalog) -> None:
        job = await running(catalog)
        for number, done in enumerate((2, 5, 3)):
            event = entry(
                job,
                "parser.shard_parsed",
                event_id=f"e{number}",
                done=done,
                total=9,
                unit="shard",
                announced=("s", str(number)),
            )
            changed = await catalog.jobs.record(event)
        assert changed is not None
        assert (changed.done, changed.announced) == (5, ("s", "2"))
        kept = await catalog.jobs.record(entry(job, "parser.heartbeat", unit="stage"))
        assert kept is not None
        assert (kept.done, kept.total, kept.unit) == (5, 9, "shard"), "total 0 leaves progress"

    @settings(
        max_examples=40,
        deadline=None,
        suppress_health_check=[
            HealthCheck.function_scoped_fixture,
            HealthCheck.differing_executors,  # the suite runs over several adapters
        ],
    )
    @given(events=EVENTS)
    async def test_whatever_comes_each_event_counts_once_and_nothing_goes_back(
        self, catalog: Catalog, events: list[tuple[int, str, Any, int]]
    ) -> None:
        job = await running(catalog)
        seen: set[int] = set()
        for number, stage, state, done in events:
            event = entry(
                job, f"{stage}.told", event_id=str(number), state=state, done=done, total=4
            )
            changed = await catalog.jobs.record(event)
            assert (changed is None) == (number in seen)
            seen.add(number)
            after = await catalog.jobs.get(NS, job.job_id)
            assert after is not None
            assert changed in (None, after)
            assert STAGES.index(after.stage) >= STAGES.index(job.stage)
            if job.state in ENDS:
                assert (after.state, after.stage, after.done) == (job.state, job.stage, job.done)
            if after.stage == job.stage and job.total:
                assert after.done >= job.done
            job = after
        assert len(await catalog.jobs.history(job.job_id)) == len(seen)

    async def test_history_keeps_order_and_resumes(self, catalog: Catalog) -> None:
        job = await running(catalog)
        events = ["gateway.accepted", "profiler.profiled", "parser.parsed"]
        for event in events:
            await catalog.jobs.record(entry(job, event))
        lines = await catalog.jobs.history(job.job_id)
        assert [line.event for line in lines] == events
        sequences = [line.sequence for line in lines]
        assert sequences == sorted(set(sequences))
        rest = await catalog.jobs.history(job.job_id, sequences[0])
        assert rest == lines[1:]
        assert lines[0].occurred_at == job.created_at + timedelta(seconds=1.5)
        current = await catalog.jobs.get(job.namespace, job.job_id)
        followed = await catalog.jobs.followed(job.namespace, job.job_id, sequences[0])
        assert followed == (current, rest)
        assert await catalog.jobs.followed("other", job.job_id, 0) is None
        assert await catalog.jobs.followed(job.namespace, "job-none", 0) is None

    async def test_published_ends_a_job(self, catalog: Catalog) -> None:
        job = await running(catalog)
        assert await flipped(catalog, job) == "flipped"
        assert await catalog.jobs.standing(job.job_id) == "current"
        ended = await catalog.jobs.record(entry(job, "indexer.published"))
        assert ended is not None
        assert ended.state == "published"
        assert await catalog.jobs.standing(job.job_id) == "finished"

    async def test_an_end_is_final(self, catalog: Catalog) -> None:
        job = await published(catalog)
        late = await catalog.jobs.record(
            entry(job, "indexer.failed", state="failed", error=PROBLEM, done=1, total=3)
        )
        assert late is not None
        assert (late.state, late.error, late.done) == ("published", None, job.done)
        assert (await catalog.jobs.history(job.job_id))[-1].event == "indexer.failed"
        embedded = await catalog.jobs.record(entry(job, "indexer.embedded"))
        assert embedded is not None
        assert "indexer.embedded" in embedded.timings

    async def test_a_running_job_does_not_wait_again(self, catalog: Catalog) -> None:
        job = await running(catalog)
        changed = await catalog.jobs.record(entry(job, "gateway.accepted", state="waiting"))
        assert changed is not None
        assert changed.state == "running"

    async def test_failure_fails_revision_and_unpublished_document(self, catalog: Catalog) -> None:
        job = await running(catalog, "doc-1")
        failed = await catalog.jobs.record(
            entry(job, "parser.failed", state="failed", error=PROBLEM)
        )
        assert failed is not None
        assert (failed.state, failed.error) == ("failed", PROBLEM)
        (revision,) = await catalog.documents.revisions(NS, "doc-1")
        document = await catalog.documents.get(NS, "doc-1")
        assert document is not None
        assert (revision.state, document.state) == ("failed", "failed")
        again = await admitted(catalog, "doc-1", file_name="b.pdf")
        document = await catalog.documents.get(NS, "doc-1")
        assert document is not None
        assert (again.revision, document.state, document.file_name) == (2, "pending", "b.pdf")

    async def test_failure_leaves_a_published_document_alone(self, catalog: Catalog) -> None:
        await published(catalog, "doc-1")
        job = await running(catalog, "doc-1")
        await catalog.jobs.record(entry(job, "parser.failed", state="failed", error=PROBLEM))
        document = await catalog.documents.get(NS, "doc-1")
        assert document is not None
        assert (document.state, document.active_revision) == ("active", 1)
        states = [one.state for one in await catalog.documents.revisions(NS, "doc-1")]
        assert states == ["failed", "published"]

    async def test_a_document_is_pending_while_another_job_goes_on(self, catalog: Catalog) -> None:
        first = await running(catalog, "doc-1")
        second = await running(catalog, "doc-1")
        await catalog.jobs.record(entry(first, "parser.failed", state="failed"))
        document = await catalog.documents.get(NS, "doc-1")
        assert document is not None
        assert document.state == "pending"
        await catalog.jobs.record(entry(second, "parser.failed", state="failed"))
        document = await catalog.documents.get(NS, "doc-1")
        assert document is not None
        assert document.state == "failed"

    async def test_failure_after_the_flip_leaves_the_revision_published(
        self, catalog: Catalog
    ) -> None:
        job = await running(catalog, "doc-1")
        await flipped(catalog, job)
        await catalog.jobs.record(entry(job, "indexer.failed", state="failed", error=PROBLEM))
        (revision,) = await catalog.documents.revisions(NS, "doc-1")
        assert revision.state == "published"
        assert await flipped(catalog, job) == "already"

    async def test_superseded_ends_job_and_revision(self, catalog: Catalog) -> None:
        old = await running(catalog, "doc-1")
        await published(catalog, "doc-1")
        assert await catalog.jobs.standing(old.job_id) == "superseded"
        assert await flipped(catalog, old) == "superseded"
        ended = await catalog.jobs.record(entry(old, "indexer.superseded"))
        assert ended is not None
        assert ended.state == "superseded"
        assert await catalog.jobs.standing(old.job_id) == "superseded"
        states = [one.state for one in await catalog.documents.revisions(NS, "doc-1")]
        assert states == ["published", "superseded"]

    async def test_a_newer_accepted_revision_does_not_supersede(self, catalog: Catalog) -> None:
        old = await running(catalog, "doc-1")
        await running(catalog, "doc-1")
        assert await catalog.jobs.standing(old.job_id) == "current"

    async def test_a_waiting_job_is_cancelled_at_once(self, catalog: Catalog) -> None:
        job = await ready(catalog, "doc-1")
        cancelled = await catalog.jobs.request_cancel(NS, job.job_id)
        assert cancelled is not None
        assert (cancelled.state, cancelled.cancel_requested) == ("cancelled", True)
        assert await catalog.jobs.standing(job.job_id) == "cancelled"
        assert [one.event for one in await catalog.jobs.history(job.job_id)] == [
            "gateway.cancelled"
        ]
        document = await catalog.documents.get(NS, "doc-1")
        assert document is not None
        assert document.state == "failed"
        assert await catalog.jobs.release(10, 10) == []
        assert (await catalog.jobs.source_stored(job.job_id, ref())).state == "cancelled"
        assert await catalog.jobs.request_cancel(NS, job.job_id) == cancelled

    async def test_a_running_job_remembers_the_wish(self, catalog: Catalog) -> None:
        job = await running(catalog)
        wished = await catalog.jobs.request_cancel(NS, job.job_id)
        assert wished is not None
        assert (wished.state, wished.cancel_requested) == ("running", True)
        assert await catalog.jobs.standing(job.job_id) == "cancelled"
        assert await flipped(catalog, job) == "cancelled"
        ended = await catalog.jobs.record(entry(job, "parser.failed", state="cancelled"))
        assert ended is not None
        assert ended.state == "cancelled"

    async def test_cancel_is_too_late_after_the_flip(self, catalog: Catalog) -> None:
        job = await running(catalog)
        await flipped(catalog, job)
        late = await catalog.jobs.request_cancel(NS, job.job_id)
        assert late is not None
        assert (late.state, late.cancel_requested) == ("running", False)
        told = await catalog.jobs.record(entry(job, "indexer.failed", state="cancelled"))
        assert told is not None
        assert told.state == "running"
        assert await catalog.jobs.standing(job.job_id) == "current"

    async def test_a_failed_job_is_reopened_for_a_replay(self, catalog: Catalog) -> None:
        job = await running(catalog, "doc-1")
        assert await catalog.jobs.reopen(job.job_id) is None
        await catalog.jobs.record(entry(job, "parser.failed", state="failed", error=PROBLEM))
        opened = await catalog.jobs.reopen(job.job_id)
        assert opened is not None
        assert (opened.state, opened.error, opened.attempt) == ("running", None, 2)
        assert await catalog.jobs.standing(job.job_id) == "current"
        document = await catalog.documents.get(NS, "doc-1")
        assert document is not None
        assert document.state == "pending"
        assert await flipped(catalog, opened) == "flipped"
        assert await catalog.jobs.reopen("job-unknown") is None

    async def test_a_hidden_document_is_not_reopened(self, catalog: Catalog) -> None:
        job = await running(catalog, "doc-1")
        await catalog.jobs.record(entry(job, "parser.failed", state="failed"))
        await catalog.documents.hide(NS, "doc-1", "erasure-1")
        assert await catalog.jobs.reopen(job.job_id) is None

    async def test_quiet_jobs_are_running_ones_longest_first(self, catalog: Catalog) -> None:
        first, second = await running(catalog), await running(catalog)
        await ready(catalog)
        await catalog.jobs.record(entry(first, "parser.parsed"))
        found = await catalog.jobs.quiet(0.0, 10)
        assert [one.job_id for one in found] == [second.job_id, first.job_id]
        assert [one.job_id for one in await catalog.jobs.quiet(0.0, 1)] == [second.job_id]
        assert await catalog.jobs.quiet(3600.0, 10) == []
        await catalog.jobs.alive(second.job_id)
        found = await catalog.jobs.quiet(0.0, 10)
        assert [one.job_id for one in found] == [first.job_id, second.job_id]

    async def test_only_a_running_job_is_alive(self, catalog: Catalog) -> None:
        job = await ready(catalog)
        await catalog.jobs.alive(job.job_id)
        await catalog.jobs.alive("job-unknown")
        assert await catalog.jobs.get(None, job.job_id) == job

    async def test_shards_come_back_in_order_the_latest_of_each(self, catalog: Catalog) -> None:
        job = await running(catalog)
        await catalog.jobs.shard_done(job.job_id, 2, 3, ref("two"), {"pages": 4})
        await catalog.jobs.shard_done(job.job_id, 0, 3, ref("old"), {})
        stored = await catalog.jobs.shard_done(job.job_id, 0, 3, ref("zero"), {"assets": ["a"]})
        assert stored == [(ref("zero"), {"assets": ["a"]}), (ref("two"), {"pages": 4})]
        whole = await catalog.jobs.shard_done(job.job_id, 1, 3, ref("one"), {})
        assert [rows for rows, _ in whole] == [ref("zero"), ref("one"), ref("two")]
        with pytest.raises(ValueError, match="3"):
            await catalog.jobs.shard_done(job.job_id, 3, 3, ref(), {})

    async def test_a_shard_of_an_unknown_job_is_stale(self, catalog: Catalog) -> None:
        with pytest.raises(StaleFault):
            await catalog.jobs.shard_done("job-unknown", 0, 1, ref(), {})

    async def test_failures_are_counted_by_task_and_kind(self, catalog: Catalog) -> None:
        assert await catalog.jobs.failure("parser:job-1:0", "world") == 1
        assert await catalog.jobs.failure("parser:job-1:0", "world") == 2
        assert await catalog.jobs.failure("parser:job-1:0", "bug") == 1
        assert await catalog.jobs.failure("parser:job-1:1", "world") == 1
