"""What every catalog must do for a namespace as a whole. Give the fixture `catalog`."""

from datetime import timedelta

from libs.contracts.api.ingest import DocumentMetadata
from libs.contracts.artefacts.corpus import DocumentHits
from libs.contracts.artefacts.document import DocumentFile
from libs.contracts.events.planner import SearchHit, SearchRan
from libs.runtime.catalog.corpus import RevisionFacts
from libs.runtime.catalog.documents import DocumentRecord, RevisionRecord
from libs.runtime.catalog.port import Catalog
from libs.runtime.corpus import document_file
from tests.support.catalogs import (
    NS,
    OTHER,
    chunks,
    flipped,
    options,
    published,
    ready,
    running,
    tree,
)

FACTS = {"language": "ko", "year": 1999}


async def counted(catalog: Catalog, *hits: tuple[str, str], namespace: str = NS) -> None:
    """One run that returned these (document, chunk)."""
    found = [SearchHit(document_id=one, revision=1, chunk_id=chunk_id) for one, chunk_id in hits]
    run = SearchRan(
        run_id=f"run-{namespace}", namespace=namespace, key_id="k", mode="classic", status="ok",
        cached=False, corpus_version=1, latency_ms=1.0, trace_id=None, steps=[], trace={},
        hits=found,
    )  # fmt: skip
    await catalog.runs.append([run])


async def file_of(catalog: Catalog, document_id: str = "a") -> DocumentFile:
    record = await catalog.documents.get(NS, document_id)
    assert record is not None
    return document_file(record, await catalog.documents.revisions(NS, document_id))


async def two_revisions(catalog: Catalog) -> DocumentFile:
    """A document with two published revisions, rolled back to the first one."""
    for number in (1, 2):
        job = await running(catalog, "a", options=options(year=2000 + number), source=str(number))
        await catalog.chunks.stage(job.revn, chunks("one", f"of {number}"), tree("T"))
        assert await flipped(catalog, job, inferred=FACTS) == "flipped"
    await catalog.documents.activate(NS, "a", 1)
    await catalog.documents.set_metadata(NS, "a", DocumentMetadata(country="KR"))
    return await file_of(catalog)


async def rebuilt(catalog: Catalog, file: DocumentFile) -> list[int]:
    revns = await catalog.corpus.restore(file)
    assert revns is not None
    for number, revn in revns.items():
        await catalog.chunks.stage(revn, chunks("one", f"of {number}"), tree("T"))
    facts = {one.revision: RevisionFacts("pdf", FACTS) for one in file.revisions}
    return await catalog.corpus.restored(file, facts)


async def seen(
    catalog: Catalog, document_id: str = "a"
) -> tuple[DocumentRecord | None, list[RevisionRecord]]:
    documents = catalog.documents
    return await documents.get(NS, document_id), await documents.revisions(NS, document_id)


class CorpusStoreSuite:
    """The MUSTs of `libs/runtime/catalog/corpus.py`."""

    async def test_versions_are_of_every_namespace(self, catalog: Catalog) -> None:
        assert await catalog.corpus.versions() == {}
        await published(catalog, "a")
        await catalog.keys.create_namespace(OTHER)
        version = await catalog.documents.corpus_version(NS)
        assert await catalog.corpus.versions() == {NS: version, OTHER: 0}

    async def test_collections_are_those_of_active_documents(self, catalog: Catalog) -> None:
        for document_id, collection in (("a", "menus"), ("b", "acts"), ("c", "menus")):
            wanted = options().model_copy(update={"collection": collection})
            await published(catalog, document_id, options=wanted)
        await ready(catalog, "d", options=options().model_copy(update={"collection": "late"}))
        assert await catalog.corpus.collections(NS) == ["acts", "menus"]
        await catalog.documents.hide(NS, "b", "era-1")
        assert await catalog.corpus.collections(NS) == ["menus"]

    async def test_hits_come_by_document_without_the_hidden(self, catalog: Catalog) -> None:
        for document_id in ("a", "b", "c"):
            await published(catalog, document_id)
        await counted(catalog, ("a", "t2"), ("a", "t1"), ("a", "t2"), ("b", "t1"), ("c", "t9"))
        await counted(catalog, ("a", "other"), namespace=OTHER)
        await catalog.documents.hide(NS, "b", "era-1")
        first = await catalog.corpus.hits(NS, "", 1)
        assert first == [DocumentHits(document_id="a", chunks={"t1": 1, "t2": 2})]
        rest = await catalog.corpus.hits(NS, "a", 9)
        assert rest == [DocumentHits(document_id="c", chunks={"t9": 1})]
        assert await catalog.corpus.hits(NS, "c", 9) == []

    async def test_erasures_come_by_id(self, catalog: Catalog) -> None:
        for number in (1, 2):
            await published(catalog, f"d{number}")
            await catalog.documents.hide(NS, f"d{number}", f"era-{number}")
        await catalog.documents.erased(NS, "era-1", {"objects": 3}, 0)
        one, other = await catalog.corpus.erasures(NS, "", 9)
        assert (one.receipt.state, one.receipt.removed) == ("erased", {"objects": 3})
        assert (other.receipt.document_id, other.receipt.state) == ("d2", "requested")
        assert (one.highest_revision, other.highest_revision) == (1, 1)
        assert await catalog.corpus.erasures(NS, "era-1", 1) == [other]
        assert await catalog.corpus.erasures(OTHER, "", 9) == []

    async def test_changed_documents_are_those_with_a_newer_moment(self, catalog: Catalog) -> None:
        for document_id in ("a", "b", "c"):
            await published(catalog, document_id)
        await ready(catalog, "pending")
        await catalog.documents.hide(NS, "c", "era-1")
        record = await catalog.documents.get(NS, "a")
        assert record is not None
        assert await catalog.corpus.changed(NS, record.updated_at, "", 9) == ["a", "b"]
        assert await catalog.corpus.changed(NS, record.updated_at, "", 1) == ["a"]
        assert await catalog.corpus.changed(NS, record.updated_at, "a", 9) == ["b"]
        later = record.updated_at + timedelta(days=1)
        assert await catalog.corpus.changed(NS, later, "", 9) == []

    async def test_kept_are_published_revisions_that_are_not_hidden(self, catalog: Catalog) -> None:
        one, hidden = await published(catalog, "a"), await published(catalog, "b")
        waiting, foreign = await ready(catalog, "c"), await published(catalog, "a", namespace=OTHER)
        await catalog.documents.hide(NS, "b", "era-1")
        asked = [one.revn, hidden.revn, waiting.revn, foreign.revn, 999]
        assert await catalog.corpus.kept(NS, asked) == {one.revn}
        assert await catalog.corpus.kept(NS, []) == set()

    async def test_living_are_revisions_that_may_hold_something(self, catalog: Catalog) -> None:
        old, new = [await published(catalog, "a", source=source) for source in ("1", "2")]
        waiting, foreign = await ready(catalog, "c"), await published(catalog, "a", namespace=OTHER)
        hidden, erased = await published(catalog, "h"), await published(catalog, "e")
        await catalog.documents.mark_collected(NS, "a", [1])
        await catalog.documents.hide(NS, "h", "era-1")
        await catalog.documents.hide(NS, "e", "era-2")
        await catalog.documents.erased(NS, "era-2", {}, 0)
        asked = [one.revn for one in (old, new, waiting, foreign, hidden, erased)]
        living = await catalog.corpus.living(NS, [*asked, 999])
        assert living == {new.revn, waiting.revn, hidden.revn}

    async def test_staged_are_revisions_with_chunks(self, catalog: Catalog) -> None:
        one, two = await running(catalog, "a"), await running(catalog, "b")
        foreign = await running(catalog, "a", namespace=OTHER)
        await ready(catalog, "c")
        for job in (one, two, foreign):
            await catalog.chunks.stage(job.revn, chunks("one", "two"), tree("T"))
        assert await catalog.corpus.staged(NS, 0, 9) == [one.revn, two.revn]
        assert await catalog.corpus.staged(NS, 0, 1) == [one.revn]
        assert await catalog.corpus.staged(NS, one.revn, 9) == [two.revn]

    async def test_a_document_restored_over_itself_is_the_same(self, catalog: Catalog) -> None:
        file = await two_revisions(catalog)
        before = await seen(catalog), await catalog.documents.active_set(NS)
        for _ in range(2):
            assert await rebuilt(catalog, file) == []
            assert (await seen(catalog), await catalog.documents.active_set(NS)) == before

    async def test_an_empty_catalog_gets_the_document_back(
        self, catalog: Catalog, empty: Catalog
    ) -> None:
        file = await two_revisions(catalog)
        assert await rebuilt(empty, file) == []
        assert await seen(empty) == await seen(catalog)
        lost, found = [await one.documents.active_set(NS) for one in (catalog, empty)]
        assert found.revisions == lost.revisions
        for one in file.revisions:
            assert one.revn is not None
            assert await empty.chunks.digest(one.revn) == await catalog.chunks.digest(one.revn)
            assert await empty.chunks.sections(one.revn) == await catalog.chunks.sections(one.revn)
        job = await ready(empty, "a")
        assert job.revision == 3
        assert job.revn > max(one.revn or 0 for one in file.revisions)

    async def test_a_number_that_is_taken_is_not_given_twice(
        self, catalog: Catalog, empty: Catalog
    ) -> None:
        file = await two_revisions(catalog)
        other = await published(empty, "b")
        revns = await empty.corpus.restore(file)
        assert revns is not None
        assert other.revn not in revns.values()
        assert len(set(revns.values())) == 2

    async def test_revisions_that_the_file_lacks_are_collected(self, catalog: Catalog) -> None:
        file = await two_revisions(catalog)
        kept = file.model_copy(update={"revisions": [r for r in file.revisions if r.revision == 1]})
        (gone,) = [one.revn for one in file.revisions if one.revision == 2]
        assert await rebuilt(catalog, kept) == [gone]
        assert await catalog.documents.activate(NS, "a", 2) is None
        assert [one.state for one in await catalog.documents.revisions(NS, "a")] == [
            "collected",
            "published",
        ]

    async def test_what_is_hidden_is_not_restored(self, catalog: Catalog) -> None:
        file = await two_revisions(catalog)
        await catalog.documents.hide(NS, "a", "era-1")
        assert await catalog.corpus.restore(file) is None
        await catalog.documents.erased(NS, "era-1", {}, 0)
        assert await catalog.corpus.restore(file) is None

    async def test_erasures_are_restored_with_what_they_hide(
        self, catalog: Catalog, empty: Catalog
    ) -> None:
        files = {}
        for number in (1, 2, 3):
            await published(catalog, f"d{number}")
            files[number] = await file_of(catalog, f"d{number}")
            await catalog.documents.hide(NS, f"d{number}", f"era-{number}")
        for number in (1, 3):
            await catalog.documents.erased(NS, f"era-{number}", {"search": 2}, 0)
        again = await published(catalog, "d3")
        assert again.revision == 2
        files[3] = await file_of(catalog, "d3")
        known = await catalog.corpus.erasures(NS, "", 9)
        for _ in range(2):
            await empty.corpus.restore_erasures(NS, known)
            assert await empty.corpus.erasures(NS, "", 9) == known
        assert await empty.corpus.restore(files[1]) is None
        assert await empty.corpus.restore(files[2]) is None
        assert await empty.corpus.restore(files[3]) is not None
        states = [await empty.documents.get(NS, f"d{number}") for number in (1, 2)]
        assert [one.state for one in states if one is not None] == ["erased", "erasing"]
        ((_, receipt, highest),) = await empty.documents.unfinished_erasures(0)
        assert (receipt.document_id, highest) == ("d2", 1)
        assert (await ready(empty, "d1")).revision == 2

    async def test_an_erasure_that_a_catalog_missed_hides_the_document(
        self, catalog: Catalog, empty: Catalog
    ) -> None:
        """The catalog is of a backup from before the erasure; a later life is left alone."""
        for one in (catalog, empty):
            for document_id in ("d1", "d2", "d2"):
                await published(one, document_id)
        for document_id in ("d1", "d2"):
            await catalog.documents.hide(NS, document_id, f"era-{document_id}")
            await catalog.documents.erased(NS, f"era-{document_id}", {}, 0)
        known = await catalog.corpus.erasures(NS, "", 9)
        known[1] = known[1].model_copy(update={"highest_revision": 1})
        await empty.corpus.restore_erasures(NS, known)
        record = await empty.documents.get(NS, "d1")
        assert record is not None
        assert (record.state, record.file_name) == ("erased", "")
        shown = (await empty.documents.active_set(NS)).revisions
        assert [(one.document_id, one.revision) for one in shown] == [("d2", 2)]

    async def test_restored_hits_never_sink(self, catalog: Catalog) -> None:
        await published(catalog, "a")
        await counted(catalog, ("a", "t1"), ("a", "t1"))
        snapshot = [DocumentHits(document_id="a", chunks={"t1": 1, "t2": 5})]
        for _ in range(2):
            await catalog.corpus.restore_hits(NS, snapshot)
            assert await catalog.runs.hits(NS, "a") == {"t1": 2, "t2": 5}

    async def test_dense_channels_are_forgotten_in_one_namespace(self, catalog: Catalog) -> None:
        await published(catalog, "a", dense_model="m")
        await published(catalog, "a", dense_model="m", namespace=OTHER)
        await catalog.corpus.forget_dense(NS)
        models = [
            {one.dense_model for one in (await catalog.documents.active_set(name)).revisions}
            for name in (NS, OTHER)
        ]
        assert models == [{None}, {"m"}]
        assert {r.dense_model for r in await catalog.documents.revisions(NS, "a")} == {None}

    async def test_the_version_rises_above_what_was_said(self, catalog: Catalog) -> None:
        assert await catalog.corpus.raise_version("fresh", 7) == 8
        assert await catalog.corpus.raise_version("fresh", 3) == 9
        assert await catalog.documents.corpus_version("fresh") == 9

    async def test_the_listings_know_nothing_of_a_strange_namespace(self, catalog: Catalog) -> None:
        assert await catalog.corpus.collections("nobody") == []
        assert await catalog.corpus.hits("nobody", "", 9) == []
