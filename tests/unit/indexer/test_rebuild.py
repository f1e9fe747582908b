"""What is made again from the objects is what was lost, row by row."""

import contextlib
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, select

from libs.contracts.api.ingest import DocumentMetadata
from libs.contracts.events.planner import SearchHit, SearchRan
from libs.runtime.catalog.sql.graph_schema import graph_edge, graph_keyword, graph_node
from libs.runtime.catalog.sql.schema import (
    active,
    chunk,
    document,
    erasure,
    hit,
    revision,
    section,
)
from libs.runtime.corpusfiles import follow_corpus, stored_versions
from libs.runtime.index.port import IndexDocument, LexicalChannel, LexicalQuery, Scope
from libs.runtime.keys import corpus_key, document_key, revision_key, source_key
from services.indexer.deps import Deps
from services.indexer.handlers import on_erasure_requested
from services.indexer.rebuild import (
    RESERVE,
    TARGETS,
    NothingToRebuildFrom,
    Report,
    Target,
    rebuild,
)
from tests.support.catalogs import fast_folder
from tests.unit.indexer.embedded import accepted, embedded, ingested
from tests.unit.indexer.making import NS, work
from tests.unit.indexer.making import erasure as erasure_event

CONTENT = (document, active, chunk, section, hit, erasure, graph_node, graph_keyword, graph_edge)
CHANNELS: tuple[LexicalChannel, ...] = ("content", "path", "term")
QUERY = LexicalQuery(["budget", "hospitals", "Part"], ["harbour"])
ALL = frozenset(TARGETS)


@pytest.fixture
def folder() -> Iterator[Path]:
    with fast_folder() as made:
        yield made


async def fill(deps: Deps) -> None:
    """Two revisions, one rolled back, another collection, stated metadata, hits, one erased
    document, one hidden, one that was sent anew after its erasure, one that never came out."""
    documents = deps.stores.catalog.documents
    for document_id, text in (
        ("doc-1", "The budget settlement covers hospitals and harbours."),
        ("doc-2", "The budget settlement covers hospitals and railways."),
        ("doc-1", "The budget settlement covers hospitals, harbours and bridges."),
        ("doc-3", "The budget settlement covers hospitals and harbours."),
        ("gone", "The budget settlement covers nothing."),
        ("hidden", "The budget settlement covers hospitals and harbours."),
        ("again", "The budget settlement covers hospitals."),
    ):
        await ingested(deps, document_id, text=text)
    await documents.activate(NS, "doc-1", 1)
    await documents.set_metadata(NS, "doc-2", DocumentMetadata(year=1999, tags=["old"]))
    (first, *_) = await deps.stores.catalog.chunks.whole([1], 1)
    hits = [SearchHit(document_id="doc-1", revision=1, chunk_id=first[1].chunk_id)] * 2
    run = SearchRan(
        run_id="run-1", namespace=NS, key_id="k", mode="classic", status="ok", cached=False,
        corpus_version=1, latency_ms=1.0, trace_id=None, steps=[], trace={}, hits=hits,
    )  # fmt: skip
    await deps.stores.catalog.runs.append([run])
    for document_id in ("gone", "again", "hidden"):
        await documents.hide(NS, document_id, f"era-{document_id}")
    for document_id in ("gone", "again"):
        event = erasure_event(document_id).model_copy(update={"job_id": f"era-{document_id}"})
        await on_erasure_requested(deps, event, work(event))
    record = next(r for r in await documents.revisions(NS, "hidden"))  # erased by half
    await deps.stores.index.remove(NS, [record.revn])
    await deps.stores.graph.remove(NS, [record.revn])
    await deps.stores.catalog.chunks.remove([record.revn])
    await ingested(deps, "again", text="The budget settlement covers hospitals and harbours.")
    await accepted(deps, "unpublished")
    await follow_corpus(deps.corpus(), NS)


async def rows(deps: Deps) -> dict[str, list[Any]]:
    """All rows of content; of revisions only those that are kept."""
    database = deps.stores.catalog.database  # type: ignore[attr-defined]

    def read(connection: Any) -> dict[str, list[Any]]:
        found = {
            table.name: sorted(tuple(row) for row in connection.execute(select(table)) if row != ())
            for table in CONTENT
        }
        kept = connection.execute(
            select(revision).where(
                revision.c.state == "published", revision.c.document_id != "hidden"
            )
        )
        found["revision"] = [tuple(row) for row in kept]
        return found

    tables = await database.read(read)
    kept = {(row[0], row[1]): row for row in tables["document"] if row[1] != "unpublished"}
    for key, row in kept.items():
        if row[4] in ("erasing", "erased"):  # of these only the tombstone is made again
            kept[key] = (*key, row[4], row[7], row[11])
    tables["document"] = list(kept.values())
    return {name: sorted(map(repr, found)) for name, found in tables.items()}


async def answers(deps: Deps, query: LexicalQuery = QUERY) -> dict[str, Any]:
    """What every channel finds in the active revisions, and what it holds of all kept ones."""
    stores = deps.stores
    shown = (await stores.catalog.documents.active_set(NS)).revisions
    scope = Scope(NS, frozenset(one.revn for one in shown))
    assert stores.embedder is not None
    model = stores.embedder.model
    (vector,) = await stores.embedder.embed_passages(["budget"])
    found: dict[str, Any] = {
        channel: await stores.index.search(channel, query, scope, 50) for channel in CHANNELS
    }
    assert all(found.values())
    near = await stores.index.search_vectors(model, vector, scope, 50)
    assert len(near) == sum(one.chunk_count for one in shown)
    # how an engine sums may differ in the last bits from one search to the next
    rounded = (hit._replace(score=round(hit.score, 5)) for hit in near)
    found["dense"] = sorted(rounded, key=lambda hit: (-hit.score, hit.revn, hit.order))
    found["active"] = shown
    for one in await stores.graph.page(NS, 0, 99):
        revn = one.node.revn
        found[f"held {revn}"] = (
            await stores.index.digest(NS, revn),
            await stores.index.vector_digest(NS, revn, model),
            await stores.graph.digest(NS, revn),
        )
    return found


async def run(deps: Deps, *targets: Target) -> Report:
    return await rebuild(deps, frozenset(targets) or ALL, lambda step, done, total: None)


def lose(folder: Path) -> None:
    """Everything but the objects."""
    for path in folder.iterdir():
        if path.is_dir() and path.name != "objects":
            shutil.rmtree(path)
        elif path.is_file():
            path.unlink()


async def empty_tables(deps: Deps, *tables: Any) -> None:
    def clear(connection: Any) -> None:
        for table in tables:
            connection.execute(delete(table))

    await deps.stores.catalog.database.write(clear)  # type: ignore[attr-defined]


@contextlib.asynccontextmanager
async def filled(folder: Path) -> AsyncIterator[tuple[Deps, dict[str, Any], dict[str, Any]]]:
    async with embedded(folder) as deps:
        await fill(deps)
        yield deps, await rows(deps), await answers(deps)


async def test_what_was_lost_is_made_again_equal(folder: Path) -> None:
    async with filled(folder) as (deps, tables, found):
        version = await deps.stores.catalog.documents.corpus_version(NS)
    assert tables["graph_edge"]
    lose(folder)
    async with embedded(folder) as deps:
        report = await run(deps)
        assert report.troubles == []
        assert await rows(deps) == tables
        assert await answers(deps) == found
        assert (report.documents, report.revisions, report.vectors) == (4, 5, 5)
        assert (report.erasures, report.hidden) == (3, 1)
        assert report.edges == len(tables["graph_edge"])
        after = await deps.stores.catalog.documents.corpus_version(NS)
        assert after > version + RESERVE, "an answer cached before must not be taken for a new one"
        assert await stored_versions(deps.stores.objects, NS) == [after] * 4
        again = await run(deps)
        assert (await rows(deps), await answers(deps), again) == (tables, found, report)


async def test_work_goes_on_where_it_ended(folder: Path) -> None:
    async with filled(folder):
        pass
    lose(folder)
    async with embedded(folder) as deps:
        await run(deps)
        event = await ingested(deps, "doc-1", text="A third one covers budget and hospitals.")
        assert event.revision == 3
        late = await ingested(deps, "unpublished")
        assert late.revision == 1
        assert await deps.stores.catalog.documents.activate(NS, "doc-1", 2) is not None
        event = erasure_event("hidden").model_copy(update={"job_id": "era-hidden"})
        await on_erasure_requested(deps, event, work(event))
        receipt = await deps.stores.catalog.documents.erasure(NS, "era-hidden")
        assert receipt is not None
        assert receipt.state == "erased"


async def test_the_search_index_alone(folder: Path) -> None:
    async with filled(folder) as (_, tables, found):
        pass
    shutil.rmtree(folder / "index")
    async with embedded(folder) as deps:
        report = await run(deps, "search")
        assert (await rows(deps), await answers(deps)) == (tables, found)
        assert (report.chunks, report.nodes) == (15, 0)


async def test_the_graph_alone(folder: Path) -> None:
    async with filled(folder) as (deps, tables, found):
        await empty_tables(deps, graph_node, graph_keyword, graph_edge)
        report = await run(deps, "graph")
        assert (await rows(deps), await answers(deps)) == (tables, found)
        assert (report.chunks, report.nodes) == (0, 5)


async def test_the_catalog_alone_finds_search_as_it_is(folder: Path) -> None:
    async with filled(folder) as (deps, tables, found):
        await empty_tables(deps, active, chunk, section, hit)
        report = await run(deps, "catalog")
        assert (await rows(deps), await answers(deps)) == (tables, found)
        assert report.chunks == 0


async def test_a_graph_whose_file_is_lost_joins_what_belongs_together(folder: Path) -> None:
    async with filled(folder) as (deps, tables, _):
        await deps.stores.objects.delete([corpus_key(NS, "graph.json")])
        await empty_tables(deps, graph_node, graph_keyword, graph_edge)
        await run(deps, "graph")
        assert await rows(deps) == tables


async def test_what_nobody_knows_leaves_the_graph(folder: Path) -> None:
    from libs.runtime.graph.port import GraphNode

    async with filled(folder) as (deps, tables, _):
        await deps.stores.graph.write(NS, GraphNode(999, "nobody", frozenset({"x"})), [])
        await run(deps, "graph")
        assert await rows(deps) == tables


async def test_what_nobody_knows_leaves_the_index(folder: Path) -> None:
    async with filled(folder) as (deps, _, found):
        index, held = deps.stores.index, await deps.stores.index.revisions(NS)
        await index.write(NS, 999, [IndexDocument("t0", 0, "text", ["budget"], [], "budget")])
        await run(deps, "search")
        assert await index.revisions(NS) == held
        assert await answers(deps) == found


async def test_a_rebuild_that_was_killed_is_run_again(folder: Path) -> None:
    class Killed(BaseException):
        pass

    async with filled(folder) as (_, tables, found):
        pass
    lose(folder)
    for step in ("catalog", "search", "graph", "vectors"):

        def tell(name: str, done: int, total: int, step: str = step) -> None:
            if name.endswith(step) and done == total // 2:
                raise Killed

        async with embedded(folder) as deps:
            with pytest.raises(Killed):
                await rebuild(deps, ALL, tell)
    async with embedded(folder) as deps:
        await run(deps)
        assert (await rows(deps), await answers(deps)) == (tables, found)


async def test_a_document_that_cannot_be_read_is_told_and_the_others_are_made(
    folder: Path,
) -> None:
    async with filled(folder) as (deps, _, _):
        objects = deps.stores.objects
        await objects.put(revision_key(NS, "doc-1", 2, "chunks.json"), b"{}")
        await objects.delete([revision_key(NS, "doc-2", 1, "profile.json")])
        await objects.put(document_key(NS, "doc-3"), b"not json")
    lose(folder)
    async with embedded(folder) as deps:
        report = await run(deps)
        told = [(one.document_id, one.revision, one.detail) for one in report.troubles]
        assert told == [
            ("doc-1", 2, "the store lacks chunks.json"),
            ("doc-2", 1, "the store lacks profile.json"),
            ("doc-3", None, "DocumentFile cannot be read"),
        ]
        shown = (await deps.stores.catalog.documents.active_set(NS)).revisions
        assert [(one.document_id, one.revision) for one in shown] == [("again", 2), ("doc-1", 1)]


async def test_what_a_store_does_not_need_it_is_made_without(folder: Path) -> None:
    async with filled(folder) as (deps, tables, found):
        lost = [source_key(NS, "doc-1", 1, "a.md"), revision_key(NS, "doc-2", 1, "profile.json")]
        await deps.stores.objects.delete(lost)
        report = await run(deps, "search", "graph")
        assert [one.detail for one in report.troubles] == [
            "the store lacks source",
            "the store lacks profile.json",
        ]
        assert (await rows(deps), await answers(deps)) == (tables, found)


async def test_search_without_a_catalog_says_what_is_missing(folder: Path) -> None:
    async with filled(folder):
        pass
    lose(folder)
    async with embedded(folder) as deps:
        report = await run(deps, "search")
        assert {one.detail for one in report.troubles} == {
            "the catalog does not know it: rebuild that too"
        }


async def test_an_empty_object_store_is_refused_before_anything_is_touched(folder: Path) -> None:
    touched: list[str] = []
    async with embedded(folder) as deps:
        with pytest.raises(NothingToRebuildFrom):
            await rebuild(deps, ALL, lambda *_: None, lambda: touched.append("index"))
    assert touched == []
