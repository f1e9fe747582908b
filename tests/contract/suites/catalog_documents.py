"""What every document store must do about the flip. Give the fixture `catalog`."""

import asyncio

import pytest

from libs.contracts.api.ingest import DocumentMetadata, IngestOptions
from libs.contracts.faults import WorldFault
from libs.runtime.catalog.documents import ActiveRevision
from libs.runtime.catalog.port import Catalog
from tests.support.catalogs import (
    NS,
    OTHER,
    admitted,
    chunks,
    entry,
    flip_of,
    flipped,
    options,
    published,
    ref,
    running,
    tree,
)


async def active(catalog: Catalog, namespace: str = NS) -> list[ActiveRevision]:
    return list((await catalog.documents.active_set(namespace)).revisions)


class DocumentStoreSuite:
    """The MUSTs of `libs/runtime/catalog/documents.py`, deletion aside."""

    async def test_the_flip_shows_the_revision(self, catalog: Catalog) -> None:
        job = await running(catalog, "doc-1", file_name="report.pdf", options=options(year=2024))
        await catalog.chunks.stage(job.revn, chunks("a", "b", "c"), tree())
        outcome, version = await catalog.documents.flip(
            flip_of(job, inferred={"language": "ko", "year": 1999}, counts={"chunks": 3, "rows": 9})
        )
        assert (outcome, version) == ("flipped", 1)
        document = await catalog.documents.get(NS, "doc-1")
        assert document is not None
        assert (document.state, document.active_revision, document.highest_published) == (
            "active", 1, 1,
        )  # fmt: skip
        assert document.inferred == {"language": "ko", "year": 1999}
        revision = await catalog.documents.revision(NS, "doc-1")
        assert revision is not None
        assert (revision.revision, revision.state) == (1, "published")
        assert revision.artefacts == {"chunks.json": ref("chunks")}
        assert revision.counts == {"chunks": 3, "rows": 9}
        assert revision.published_at is not None
        assert await catalog.documents.active_set(NS) == await catalog.documents.active_set(NS)
        (seen,) = await active(catalog)
        assert seen == ActiveRevision(
            revn=job.revn,
            document_id="doc-1",
            revision=1,
            file_name="report.pdf",
            collection="default",
            format="pdf",
            metadata=DocumentMetadata(year=2024, language="ko"),
            chunk_count=3,
            dense_model=None,
        )

    async def test_the_same_flip_again_is_already(self, catalog: Catalog) -> None:
        job = await running(catalog)
        assert await catalog.documents.flip(flip_of(job)) == ("flipped", 1)
        assert await catalog.documents.flip(flip_of(job, format="txt")) == ("already", 1)
        assert (await active(catalog))[0].format == "pdf"

    async def test_the_flip_never_lowers_what_was_published(self, catalog: Catalog) -> None:
        old = await running(catalog, "doc-1")
        new = await running(catalog, "doc-1")
        assert await flipped(catalog, new) == "flipped"
        assert await flipped(catalog, old) == "superseded"
        document = await catalog.documents.get(NS, "doc-1")
        assert document is not None
        assert (document.active_revision, document.highest_published) == (2, 2)

    async def test_a_flip_that_was_rolled_back_is_not_repeated(self, catalog: Catalog) -> None:
        await published(catalog, "doc-1")
        second = await published(catalog, "doc-1")
        await catalog.documents.activate(NS, "doc-1", 1)
        assert await flipped(catalog, second) == "already"
        assert [one.revision for one in await active(catalog)] == [1]

    async def test_only_the_job_of_the_revision_flips_it(self, catalog: Catalog) -> None:
        job = await running(catalog, "doc-1")
        stranger = await running(catalog, "doc-2")
        wrong = flip_of(job)
        outcome, _ = await catalog.documents.flip(
            type(wrong)(**{**wrong.__dict__, "job_id": stranger.job_id})
        )
        assert outcome == "cancelled"
        outcome, _ = await catalog.documents.flip(
            type(wrong)(**{**wrong.__dict__, "namespace": OTHER})
        )
        assert outcome == "erased"
        assert await active(catalog) == []

    async def test_a_failed_job_does_not_flip(self, catalog: Catalog) -> None:
        job = await running(catalog)
        await catalog.jobs.record(entry(job, "parser.failed", state="failed"))
        assert await flipped(catalog, job) == "cancelled"

    async def test_other_chunks_than_expected_are_not_flipped(self, catalog: Catalog) -> None:
        job = await running(catalog)
        await catalog.chunks.stage(job.revn, chunks("a", "b"), tree())
        digest = (await catalog.chunks.digest(job.revn)).digest
        await catalog.chunks.stage(job.revn, chunks("a"), tree())
        with pytest.raises(WorldFault):
            await catalog.documents.flip(flip_of(job, expected_digest=digest))
        assert await active(catalog) == []
        digest = (await catalog.chunks.digest(job.revn)).digest
        assert await flipped(catalog, job, expected_digest=digest) == "flipped"

    async def test_flips_at_once_are_each_as_alone(self, catalog: Catalog) -> None:
        jobs = [await running(catalog, f"doc-{n}") for n in range(6)]
        for job in jobs:
            await catalog.chunks.stage(job.revn, chunks("a"), tree())
        good = (await catalog.chunks.digest(jobs[0].revn)).digest
        digests = [good, "0" * 64, good, good, "0" * 64, good]
        found = await asyncio.gather(
            *(
                catalog.documents.flip(flip_of(job, expected_digest=digest))
                for job, digest in zip(jobs, digests, strict=True)
            ),
            return_exceptions=True,
        )
        lost = [n for n, one in enumerate(found) if isinstance(one, WorldFault)]
        assert lost == [1, 4]
        told = [one for one in found if isinstance(one, tuple)]
        assert {outcome for outcome, _ in told} == {"flipped"}
        assert sorted(version for _, version in told) == [1, 2, 3, 4]
        shown = [one.document_id for one in await active(catalog)]
        assert shown == ["doc-0", "doc-2", "doc-3", "doc-5"]

    async def test_a_new_upload_renames_only_by_its_flip(self, catalog: Catalog) -> None:
        first = await admitted(catalog, "doc-1", file_name="draft.pdf")
        document = await catalog.documents.get(NS, "doc-1")
        assert document is not None
        assert document.file_name == "draft.pdf"
        await catalog.jobs.discard(first.job_id)
        await published(catalog, "doc-1", file_name="old.pdf")
        job = await running(
            catalog, "doc-1", file_name="new.pdf", options=IngestOptions(collection="manuals")
        )
        document = await catalog.documents.get(NS, "doc-1")
        assert document is not None
        assert (document.file_name, document.collection) == ("old.pdf", "default")
        assert (await active(catalog))[0].file_name == "old.pdf"
        await flipped(catalog, job)
        document = await catalog.documents.get(NS, "doc-1")
        assert document is not None
        assert (document.file_name, document.collection) == ("new.pdf", "manuals")
        (seen,) = await active(catalog)
        assert (seen.file_name, seen.collection) == ("new.pdf", "manuals")
        await catalog.documents.activate(NS, "doc-1", 1)
        (seen,) = await active(catalog)
        assert (seen.file_name, seen.collection) == ("old.pdf", "default")

    async def test_activate_goes_back_and_forward(self, catalog: Catalog) -> None:
        await published(catalog, "doc-1", inferred={"language": "en"})
        await published(catalog, "doc-1", inferred={"language": "ko"})
        version = await catalog.documents.corpus_version(NS)
        assert await catalog.documents.activate(NS, "doc-1", 2) == version
        assert await catalog.documents.activate(NS, "doc-1", 1) == version + 1
        assert [(one.revision, one.metadata.language) for one in await active(catalog)] == [
            (1, "en")
        ]
        document = await catalog.documents.get(NS, "doc-1")
        assert document is not None
        assert (document.active_revision, document.highest_published) == (1, 2)
        assert await catalog.documents.activate(NS, "doc-1", 2) == version + 2

    async def test_only_what_is_published_and_kept_is_activated(self, catalog: Catalog) -> None:
        for _ in range(3):
            await published(catalog, "doc-1")
        await running(catalog, "doc-1")
        assert await catalog.documents.mark_collected(NS, "doc-1", [1, 3, 4]) == [1]
        for revision in (1, 4, 9):
            assert await catalog.documents.activate(NS, "doc-1", revision) is None
        assert await catalog.documents.activate(OTHER, "doc-1", 2) is None
        assert await catalog.documents.activate(NS, "doc-1", 2) is not None

    async def test_collectable_keeps_the_newest_the_active_and_what_is_built(
        self, catalog: Catalog
    ) -> None:
        async def numbers(keep: int) -> list[int]:
            found = await catalog.documents.collectable(NS, "doc-1", keep)
            return sorted(one.revision for one in found)

        assert await numbers(2) == []
        await published(catalog, "doc-1")
        failed = await running(catalog, "doc-1")
        await catalog.jobs.record(entry(failed, "parser.failed", state="failed"))
        assert await numbers(1) == [], "what failed after the newest published one is kept"
        for _ in range(3):
            await published(catalog, "doc-1")
        await running(catalog, "doc-1")
        assert await numbers(2) == [1, 2, 3]
        await catalog.documents.activate(NS, "doc-1", 1)
        assert await numbers(2) == [2, 3]
        assert await catalog.documents.mark_collected(NS, "doc-1", [2, 3]) == [2, 3]
        assert await numbers(2) == []
        states = {one.revision: one.state for one in await catalog.documents.revisions(NS, "doc-1")}
        assert (states[2], states[3]) == ("collected", "collected")

    async def test_the_dense_flip_is_seen_once(self, catalog: Catalog) -> None:
        await published(catalog, "doc-1")
        await published(catalog, "doc-1")
        version = await catalog.documents.corpus_version(NS)
        assert await catalog.documents.set_dense(NS, "doc-1", 2, "e5") == version + 1
        assert await catalog.documents.set_dense(NS, "doc-1", 2, "e5") == version + 1
        assert [one.dense_model for one in await active(catalog)] == ["e5"]
        assert await catalog.documents.set_dense(NS, "doc-1", 1, "e5") == version + 1
        assert await catalog.documents.set_dense(NS, "nobody", 1, "e5") == version + 1
        await catalog.documents.activate(NS, "doc-1", 1)
        assert [one.dense_model for one in await active(catalog)] == ["e5"]

    async def test_dense_channels_are_switched_at_once(self, catalog: Catalog) -> None:
        for document_id in ("doc-1", "doc-2", "doc-3"):
            await published(catalog, document_id)
            await catalog.documents.set_dense(NS, document_id, 1, "old")
        version = await catalog.documents.corpus_version(NS)
        revns = [one.revn for one in await active(catalog)][:2]
        assert await catalog.documents.switch_dense(NS, revns, "new") == version + 1
        assert [one.dense_model for one in await active(catalog)] == ["new", "new", "old"]
        assert await catalog.documents.switch_dense(NS, revns, "new") == version + 1
        assert await catalog.documents.switch_dense("another", revns, "old") == 0
        assert [one.dense_model for one in await active(catalog)] == ["new", "new", "old"]
        kept = await catalog.documents.revision(NS, "doc-1")
        assert kept is not None
        assert kept.dense_model == "new"

    async def test_a_flip_may_bring_its_vectors(self, catalog: Catalog) -> None:
        await published(catalog, "doc-1", dense_model="e5")
        assert [one.dense_model for one in await active(catalog)] == ["e5"]

    async def test_metadata_is_replaced_and_seen(self, catalog: Catalog) -> None:
        await published(catalog, "doc-1", options=options(year=2020, country="KR"))
        version = await catalog.documents.corpus_version(NS)
        stated = DocumentMetadata(year=2021, tags=["a"])
        changed = await catalog.documents.set_metadata(NS, "doc-1", stated)
        assert changed is not None
        assert changed.metadata == stated
        assert changed == await catalog.documents.get(NS, "doc-1")
        assert await catalog.documents.corpus_version(NS) == version + 1
        assert [one.metadata for one in await active(catalog)] == [stated]
        assert await catalog.documents.set_metadata(OTHER, "doc-1", stated) is None

    async def test_metadata_of_an_upload_is_seen_from_its_flip(self, catalog: Catalog) -> None:
        await published(catalog, "doc-1", options=options(year=2020, country="KR"))
        job = await running(catalog, "doc-1", options=options(year=2021))
        assert (await active(catalog))[0].metadata.year == 2020
        await flipped(catalog, job)
        assert (await active(catalog))[0].metadata == DocumentMetadata(year=2021, country="KR")

    async def test_metadata_set_after_an_upload_wins_over_it(self, catalog: Catalog) -> None:
        job = await running(catalog, "doc-1", options=options(year=2021))
        stated = DocumentMetadata(year=1987)
        await catalog.documents.set_metadata(NS, "doc-1", stated)
        assert await catalog.documents.corpus_version(NS) == 0, "nothing visible has changed"
        await flipped(catalog, job)
        assert [one.metadata for one in await active(catalog)] == [stated]

    async def test_inferred_values_that_are_no_metadata_are_left_out(
        self, catalog: Catalog
    ) -> None:
        inferred = {"year": "soon", "language": "ko", "colour": "red", "tags": ["x"]}
        await published(catalog, "doc-1", inferred=inferred)
        (seen,) = await active(catalog)
        assert seen.metadata == DocumentMetadata(language="ko", tags=["x"])
        document = await catalog.documents.get(NS, "doc-1")
        assert document is not None
        assert document.inferred == inferred

    async def test_the_corpus_version_is_of_its_namespace(self, catalog: Catalog) -> None:
        assert await catalog.documents.corpus_version(NS) == 0
        await published(catalog)
        await published(catalog)
        await admitted(catalog)
        assert await catalog.documents.corpus_version(NS) == 2
        assert await catalog.documents.corpus_version(OTHER) == 0
        assert (await catalog.documents.active_set(NS)).corpus_version == 2
        empty = await catalog.documents.active_set(OTHER)
        assert (empty.corpus_version, empty.revisions) == (0, ())

    async def test_the_active_set_is_ordered_and_of_its_namespace(self, catalog: Catalog) -> None:
        for document_id in ("doc-b", "doc-a"):
            await published(catalog, document_id)
        await published(catalog, "doc-c", namespace=OTHER)
        await running(catalog, "doc-d")
        assert [one.document_id for one in await active(catalog)] == ["doc-a", "doc-b"]

    async def test_documents_are_listed_in_pages_by_id(self, catalog: Catalog) -> None:
        for name in ("doc-3", "doc-1", "doc-2"):
            await published(catalog, name)
        await admitted(catalog, "doc-4", options=IngestOptions(collection="manuals"))
        await admitted(catalog, "doc-5", namespace=OTHER)

        async def ids(**filters: object) -> list[str]:
            found = await catalog.documents.select(NS, **filters)  # type: ignore[arg-type]
            return [one.document_id for one in found]

        assert await ids() == ["doc-1", "doc-2", "doc-3", "doc-4"]
        assert await ids(limit=2) == ["doc-1", "doc-2"]
        assert await ids(limit=2, after="doc-2") == ["doc-3", "doc-4"]
        assert await ids(collection="manuals") == ["doc-4"]
        assert await ids(state="pending") == ["doc-4"]

    async def test_foreign_documents_are_absent(self, catalog: Catalog) -> None:
        await published(catalog, "doc-1")
        assert await catalog.documents.get(OTHER, "doc-1") is None
        assert await catalog.documents.revisions(OTHER, "doc-1") == []
        assert await catalog.documents.revision(OTHER, "doc-1") is None
        assert await catalog.documents.revision(NS, "doc-1", 7) is None
        assert await catalog.documents.collectable(OTHER, "doc-1", 0) == []
        assert await catalog.documents.mark_collected(OTHER, "doc-1", [1]) == []
        assert await catalog.documents.hide(OTHER, "doc-1", "erasure-1") is None
        assert len(await active(catalog)) == 1
