"""What every catalog must do when several services act at once.

Give the fixtures `catalog` and `other`, two catalogs over one database, and `opening`,
source text of a module with a function `open_one()` that opens a third in a process of
its own.
"""

import asyncio
import contextlib
import json
import sys
from collections import Counter
from itertools import cycle

from libs.contracts.api.ingest import IngestOptions
from libs.contracts.artefacts.chunk import digest_ids
from libs.contracts.faults import StaleFault
from libs.runtime.catalog.jobs import Admission
from libs.runtime.catalog.port import Catalog
from tests.support.catalogs import (
    NS,
    chunks,
    entry,
    flip_of,
    flipped,
    published,
    ready,
    ref,
    running,
    tree,
)
from tests.support.waiting import PATIENCE

RACER = """
import asyncio, json, sys
{opening}
from libs.contracts.api.ingest import IngestOptions
from libs.contracts.events.base import ArtefactRef
from libs.runtime.catalog.jobs import Admission

async def main():
    catalog = open_one()
    await catalog.ping()
    print("ready", flush=True)
    sys.stdin.readline()
    new, released = [], []
    for number in range(25):
        made = await catalog.jobs.admit(
            Admission("acme", "a.pdf", IngestOptions(), document_id="doc", identity=str(number))
        )
        if made.outcome == "new":
            new.append((number, made.job.revision))
            source = ArtefactRef(key="k", sha256="0" * 64, size=1)
            await catalog.jobs.source_stored(made.job.job_id, source)
        released += [job.job_id for job in await catalog.jobs.release(10, 2)]
    print(json.dumps({{"new": new, "released": released}}), flush=True)
    await catalog.close()

asyncio.run(main())
"""


class CatalogRaceSuite:
    """Every change is a compare-and-set: of two callers at once, the second sees the first."""

    async def test_an_identity_is_admitted_once(self, catalog: Catalog, other: Catalog) -> None:
        admission = Admission(NS, "a.pdf", IngestOptions(), identity="one")
        admitted = await asyncio.gather(
            *(each.jobs.admit(admission) for each in (catalog, other) * 4)
        )
        assert Counter(one.outcome for one in admitted) == {"new": 1, "replayed": 7}
        assert len({one.job.job_id for one in admitted}) == 1

    async def test_revision_numbers_are_given_once(self, catalog: Catalog, other: Catalog) -> None:
        admission = Admission(NS, "a.pdf", IngestOptions(), document_id="doc-1")
        admitted = await asyncio.gather(
            *(each.jobs.admit(admission) for each in (catalog, other) * 4)
        )
        assert sorted(one.job.revision for one in admitted) == list(range(1, 9))

    async def test_a_job_is_released_once_and_the_bound_holds(
        self, catalog: Catalog, other: Catalog
    ) -> None:
        for _ in range(12):
            await ready(catalog)
        released = await asyncio.gather(*(each.jobs.release(7, 2) for each in (catalog, other) * 5))
        ids = [job.job_id for batch in released for job in batch]
        assert len(ids) == len(set(ids)) == 7
        assert await catalog.jobs.count(NS, "running") == 7

    async def test_one_of_equal_flips_wins(self, catalog: Catalog, other: Catalog) -> None:
        job = await running(catalog)
        outcomes = await asyncio.gather(*(flipped(each, job) for each in (catalog, other) * 3))
        assert Counter(outcomes) == {"flipped": 1, "already": 5}
        assert await catalog.documents.corpus_version(NS) == 1

    async def test_racing_revisions_end_at_the_highest(
        self, catalog: Catalog, other: Catalog
    ) -> None:
        jobs = [await running(catalog, "doc-1") for _ in range(8)]
        order = [jobs[index] for index in (5, 2, 7, 0, 6, 1, 4, 3)]
        outcomes = await asyncio.gather(
            *(flipped(each, job) for each, job in zip(cycle((catalog, other)), order, strict=False))
        )
        assert set(outcomes) <= {"flipped", "superseded"}
        seen = await catalog.documents.active_set(NS)
        assert [one.revision for one in seen.revisions] == [8]
        assert seen.corpus_version == outcomes.count("flipped")

    async def test_either_cancel_or_flip_wins(self, catalog: Catalog, other: Catalog) -> None:
        for _ in range(6):
            job = await running(catalog)
            outcome, wished = await asyncio.gather(
                flipped(catalog, job), other.jobs.request_cancel(NS, job.job_id)
            )
            assert wished is not None
            assert (outcome == "flipped") != wished.cancel_requested

    async def test_a_hidden_document_stays_hidden(self, catalog: Catalog, other: Catalog) -> None:
        for number in range(6):
            job = await running(catalog)
            await asyncio.gather(
                other.documents.hide(NS, job.document_id, f"erasure-{number}"),
                flipped(catalog, job),
            )
            assert (await catalog.documents.active_set(NS)).revisions == ()

    async def test_an_event_counts_once_and_sequences_are_unique(
        self, catalog: Catalog, other: Catalog
    ) -> None:
        job = await running(catalog)
        same = entry(job, "parser.parsed")
        told = await asyncio.gather(*(each.jobs.record(same) for each in (catalog, other) * 3))
        assert sum(one is not None for one in told) == 1
        events = [entry(job, "parser.shard_parsed", event_id=str(n)) for n in range(8)]
        await asyncio.gather(
            *(
                each.jobs.record(event)
                for each, event in zip(cycle((catalog, other)), events, strict=False)
            )
        )
        sequences = [line.sequence for line in await catalog.jobs.history(job.job_id)]
        assert sequences == list(range(1, 10))

    async def test_a_last_shard_is_seen_and_failures_add_up(
        self, catalog: Catalog, other: Catalog
    ) -> None:
        job = await running(catalog)
        seen = await asyncio.gather(
            *(
                each.jobs.shard_done(job.job_id, shard, 6, ref(str(shard)), {})
                for each, shard in zip(cycle((catalog, other)), range(6), strict=False)
            )
        )
        assert sorted(len(one) for one in seen) == [1, 2, 3, 4, 5, 6]
        counts = await asyncio.gather(
            *(each.jobs.failure("parser:j:0", "world") for each in (catalog, other) * 4)
        )
        assert sorted(counts) == list(range(1, 9))

    async def test_the_last_attempt_to_stage_wins_whole(
        self, catalog: Catalog, other: Catalog
    ) -> None:
        job = await running(catalog)
        attempts = [chunks(*(f"{name} {n}" for n in range(1300))) for name in ("left", "right")]
        results = await asyncio.gather(
            catalog.chunks.stage(job.revn, attempts[0], tree()),
            other.chunks.stage(job.revn, attempts[1], tree()),
            return_exceptions=True,
        )
        assert [one for one in results if one is None]
        assert all(one is None or isinstance(one, StaleFault) for one in results)
        found = await catalog.chunks.digest(job.revn)
        digests = [digest_ids(one.chunk_id for one in attempt) for attempt in attempts]
        winners = [digests[index] for index, one in enumerate(results) if one is None]
        assert found.digest in winners
        assert found.count == 1300

    async def test_the_active_set_is_of_its_version(self, catalog: Catalog, other: Catalog) -> None:
        jobs = [await running(catalog) for _ in range(15)]
        flips = asyncio.gather(*(flipped(catalog, job) for job in jobs))
        last = -1
        while last < len(jobs):
            seen = await other.documents.active_set(NS)
            assert len(seen.revisions) == seen.corpus_version >= last
            last = seen.corpus_version
        await flips

    async def test_a_flip_is_seen_elsewhere_once_it_returned(
        self, catalog: Catalog, other: Catalog
    ) -> None:
        await published(catalog, "doc-1")
        job = await running(catalog, "doc-1")
        await catalog.chunks.stage(job.revn, chunks("new"), tree())
        _, version = await catalog.documents.flip(flip_of(job))
        assert await other.documents.corpus_version(NS) == version
        (seen,) = (await other.documents.active_set(NS)).revisions
        assert (seen.revision, seen.chunk_count) == (2, 1)

    async def test_processes_admit_and_release_together(
        self, catalog: Catalog, opening: str
    ) -> None:
        source = RACER.format(opening=opening)
        racers = [
            await asyncio.create_subprocess_exec(
                sys.executable, "-c", source,
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            )
            for _ in range(2)
        ]  # fmt: skip
        try:
            async with asyncio.timeout(PATIENCE):
                for racer in racers:
                    assert racer.stdout is not None
                    assert await racer.stdout.readline() == b"ready\n"
                outputs = await asyncio.gather(*(racer.communicate(b"go\n") for racer in racers))
        finally:
            for racer in racers:
                with contextlib.suppress(ProcessLookupError):
                    racer.kill()
                await racer.wait()
        told = [json.loads(output) for output, _ in outputs]
        new = [tuple(one) for racer in told for one in racer["new"]]
        assert sorted(number for number, _ in new) == list(range(25))
        assert sorted(revision for _, revision in new) == list(range(1, 26))
        released = [job_id for racer in told for job_id in racer["released"]]
        assert len(released) == len(set(released)) == 10
        assert await catalog.jobs.count(NS, "running") == 10
