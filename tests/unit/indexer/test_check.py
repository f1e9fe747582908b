"""Drift of every kind is planted, and found where it is."""

from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
import pytest
from sqlalchemy import delete, update

from libs.contracts.api.ingest import DocumentMetadata
from libs.runtime.artefacts import save_json
from libs.runtime.catalog.sql.schema import chunk, document, revision
from libs.runtime.corpus import write_document_file
from libs.runtime.corpusfiles import follow_corpus
from libs.runtime.graph.port import GraphNode
from libs.runtime.index.port import IndexDocument
from libs.runtime.keys import document_key, revision_key
from services.indexer.check import Report, check
from services.indexer.deps import Deps
from services.indexer.handlers import on_erasure_requested
from services.indexer.kept import Place, document_file_at
from tests.unit.indexer.embedded import accepted, ingested
from tests.unit.indexer.making import NS, work
from tests.unit.indexer.making import erasure as erasure_event

REVN = 3
"""Of the document `doc-2`."""

Plant = Callable[[Deps], Awaitable[Any]]
Found = set[tuple[str | None, int | None, str, str]]
STRANGE = "holds something of {}, no revision that is kept"


@pytest.fixture
async def deps(deps: Deps) -> Deps:
    for document_id in ("doc-1", "doc-1", "doc-2"):
        await ingested(deps, document_id)
    await deps.stores.catalog.documents.activate(NS, "doc-1", 1)
    await follow_corpus(deps.corpus(), NS)
    await follow_corpus(deps.corpus(), NS)
    return deps


async def look(deps: Deps) -> Report:
    return await check(deps.corpus(), deps.stores.index, lambda *_: None, pause=0.0)


async def sql(deps: Deps, statement: Any) -> None:
    await deps.stores.catalog.database.write(  # type: ignore[attr-defined]
        lambda connection: connection.execute(statement)
    )


async def change_file(deps: Deps, **changes: Any) -> None:
    file = await document_file_at(deps.stores.objects, Place(NS, "doc-2"))
    key = document_key(NS, "doc-2")
    await save_json(deps.stores.objects, key, file.model_copy(update=changes))


async def lose_rows(deps: Deps) -> None:
    await sql(deps, delete(chunk).where(chunk.c.place == chunk.c.place, chunk.c.revn == REVN))


async def lose_a_document_row(deps: Deps) -> None:
    await sql(deps, update(document).where(document.c.document_id == "doc-2").values(file_name="x"))


async def lose_search(deps: Deps) -> None:
    await deps.stores.index.remove(NS, [REVN])


async def other_vectors(deps: Deps) -> None:
    ids = [f"t{number}" for number in range(3)]
    vectors = np.eye(3, 4, dtype=np.float32)
    await deps.stores.index.write_vectors(NS, REVN, "fake-v1", ids, vectors)


async def lose_a_node(deps: Deps) -> None:
    await deps.stores.graph.remove(NS, [REVN])


async def lose_edges(deps: Deps) -> None:
    (one,) = await deps.stores.graph.page(NS, REVN - 1, 1)
    await deps.stores.graph.write(NS, one.node, [])


async def a_strange_node(deps: Deps) -> None:
    await deps.stores.graph.write(NS, GraphNode(999, "nobody", frozenset({"x"})), [])


async def a_strange_chunk(deps: Deps) -> None:
    document = IndexDocument("t0", 0, "text", ["x"], [], "x")
    await deps.stores.index.write(NS, 999, [document])


async def leftovers_of_a_collected_revision(deps: Deps) -> None:
    """A collector was killed when it had barred the revision."""
    await ingested(deps, "doc-1")
    await ingested(deps, "doc-1")
    assert await deps.stores.catalog.documents.mark_collected(NS, "doc-1", [3]) == [3]
    await write_document_file(deps.stores.catalog, deps.stores.objects, NS, "doc-1")
    await follow_corpus(deps.corpus(), NS)


async def lose_an_artefact(deps: Deps) -> None:
    await deps.stores.objects.delete([revision_key(NS, "doc-2", 1, "manifest.json")])


async def another_artefact(deps: Deps) -> None:
    await deps.stores.objects.put(revision_key(NS, "doc-2", 1, "chunks.json"), b"{}")


async def lose_the_file(deps: Deps) -> None:
    await deps.stores.objects.delete([document_key(NS, "doc-2")])


async def break_the_file(deps: Deps) -> None:
    await deps.stores.objects.put(document_key(NS, "doc-2"), b"{")


async def other_metadata(deps: Deps) -> None:
    await change_file(deps, metadata=DocumentMetadata(year=1999))


async def an_unnamed_revision(deps: Deps) -> None:
    await change_file(deps, revisions=[])


async def an_unpublished_revision(deps: Deps) -> None:
    await sql(deps, update(revision).where(revision.c.revn == REVN).values(state="failed"))


async def a_document_the_catalog_never_had(deps: Deps) -> None:
    file = await document_file_at(deps.stores.objects, Place(NS, "doc-2"))
    strange = file.model_copy(update={"document_id": "strange"})
    await save_json(deps.stores.objects, document_key(NS, "strange"), strange)


async def leftovers_of_an_erased_document(deps: Deps) -> None:
    await deps.stores.catalog.documents.hide(NS, "doc-2", "era-1")
    await on_erasure_requested(deps, erasure_event("doc-2"), work(erasure_event("doc-2")))
    await deps.stores.objects.put(revision_key(NS, "doc-2", 1, "late"), b"late")


KINDS: list[tuple[Plant, Found]] = [
    (lose_rows, {("doc-2", 1, "catalog", "holds other chunks")}),
    (lose_a_document_row, {("doc-2", None, "catalog", "file_name differs")}),
    (
        lose_search,
        {
            ("doc-2", 1, "search", "holds other chunks"),
            ("doc-2", 1, "vectors", "holds other chunks"),
        },
    ),
    (other_vectors, {("doc-2", 1, "vectors", "holds other chunks")}),
    (
        lose_a_node,
        {
            ("doc-2", 1, "graph", "the node is not there"),
            ("doc-1", 2, "graph", "holds other edges"),
        },
    ),
    (
        lose_edges,
        {("doc-2", 1, "graph", "holds other edges"), ("doc-1", 2, "graph", "holds other edges")},
    ),
    (a_strange_node, {(None, None, "graph", STRANGE.format(999))}),
    (a_strange_chunk, {(None, None, "search", STRANGE.format(999))}),
    (
        leftovers_of_a_collected_revision,
        {
            ("doc-1", 3, "objects", "objects of a collected revision are left"),
            ("doc-2", 1, "graph", "holds other edges"),
            *((None, None, store, STRANGE.format(4)) for store in ("catalog", "search", "graph")),
        },
    ),
    (lose_an_artefact, {("doc-2", 1, "objects", "lacks manifest.json")}),
    (another_artefact, {("doc-2", 1, "objects", "lacks chunks.json")}),
    (lose_the_file, {("doc-2", None, "objects", "document.json is not there")}),
    (break_the_file, {("doc-2", None, "objects", "document.json cannot be read")}),
    (other_metadata, {("doc-2", None, "catalog", "metadata differs")}),
    (an_unnamed_revision, {("doc-2", 1, "objects", "document.json does not name the revision")}),
    (an_unpublished_revision, {("doc-2", 1, "catalog", "the revision is not published")}),
    (
        a_document_the_catalog_never_had,
        {("strange", None, "catalog", "the document is not in the catalog")},
    ),
    (
        leftovers_of_an_erased_document,
        {("doc-2", None, "objects", "objects of an erased document are left")},
    ),
]


async def test_stores_that_agree_show_no_drift(deps: Deps) -> None:
    await accepted(deps, "on-its-way")
    report = await look(deps)
    assert report.drift == []
    assert (report.documents, report.revisions) == (3, 3)


@pytest.mark.parametrize(("plant", "expected"), KINDS, ids=[one.__name__ for one, _ in KINDS])
async def test_drift_is_found_where_it_is(deps: Deps, plant: Plant, expected: Found) -> None:
    await plant(deps)
    drift = (await look(deps)).drift
    assert {(one.document_id, one.revision, one.store, one.detail) for one in drift} == expected


async def test_counts_and_digests_are_told(deps: Deps) -> None:
    await lose_search(deps)
    (one, _) = (await look(deps)).drift
    assert one.expected.startswith("3 chunks ")
    assert len(one.expected.split()[-1]) == 12
    assert one.found.startswith("0 chunks")


async def test_what_was_only_changing_is_no_drift(
    deps: Deps, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the first look a flip is not followed by its file yet."""
    await deps.stores.catalog.documents.activate(NS, "doc-1", 2)
    original, looks = deps.stores.catalog.documents.get, []

    async def get(namespace: str, document_id: str) -> Any:
        if document_id == "doc-1":
            looks.append(document_id)
            if len(looks) == 2:
                await deps.stores.catalog.documents.activate(NS, "doc-1", 1)
        return await original(namespace, document_id)

    monkeypatch.setattr(deps.stores.catalog.documents, "get", get)
    assert (await look(deps)).drift == []
    assert len(looks) == 2
