"""The same handlers over the embedded stores."""

from types import SimpleNamespace
from typing import Any, cast

from libs.contracts.artefacts.document import DocumentFile
from libs.runtime.artefacts import save_json
from libs.runtime.index.port import LexicalQuery, Scope
from services.indexer.deps import Deps
from services.indexer.handlers import on_chunked, on_erasure_requested, on_published
from tests.unit.indexer.embedded import accepted
from tests.unit.indexer.making import NS, erasure, published, said, work


async def test_publish_embed_collect_and_erase(deps: Deps) -> None:
    stores = deps.stores
    for _ in range(4):
        event = await accepted(deps, "doc-1")
        await on_chunked(deps, event, work(event))
        await on_chunked(deps, event, work(event))
        await on_published(deps, published(event), work(event))
    (active,) = (await stores.catalog.documents.active_set(NS)).revisions
    assert (active.revision, active.chunk_count, active.dense_model) == (4, 3, "fake-v1")
    scope = Scope(NS, frozenset({active.revn}))
    query = LexicalQuery(["budget"])
    hits = await stores.index.search("content", query, scope, 10)
    assert [(hit.revn, hit.order) for hit in hits] == [(active.revn, n) for n in range(3)]
    states = {r.revision: r.state for r in await stores.catalog.documents.revisions(NS, "doc-1")}
    assert states == {4: "published", 3: "published", 2: "collected", 1: "collected"}
    file = DocumentFile.model_validate_json(await stores.objects.get(f"{NS}/doc-1/document.json"))
    assert (file.active_revision, file.highest_published) == (4, 4)
    assert [r.revision for r in file.revisions] == [4, 3]
    assert file.revisions[0].artefacts["chunks.json"].key == f"{NS}/doc-1/4/chunks.json"
    assert not [i async for i in stores.objects.walk(f"{NS}/doc-1/4/.jobs/")]
    kept = [i.key async for i in stores.objects.walk(f"{NS}/doc-1/")]
    assert {key.split("/")[2] for key in kept} == {"3", "4", "document.json"}

    await stores.catalog.documents.hide(NS, "doc-1", "era-1")
    asked = erasure(revision=4)
    await on_erasure_requested(deps, asked, work(asked))
    await on_erasure_requested(deps, asked, work(asked))
    receipt = await stores.catalog.documents.erasure(NS, "era-1")
    assert receipt is not None
    assert (receipt.state, receipt.requery_hits) == ("erased", 0)
    assert {k: receipt.removed[k] for k in ("catalog", "search", "graph", "vectors")} == {
        "catalog": 6, "search": 6, "graph": 2, "vectors": 3,
    }  # fmt: skip
    left = [i.key.removeprefix(f"{NS}/") async for i in stores.objects.walk(f"{NS}/")]
    assert left == [f"corpus/{one}.json" for one in ("collections", "erasures", "graph", "hits")]
    assert not await stores.index.search("content", query, scope, 10)
    assert said(cast(Any, SimpleNamespace(bus=deps.bus)))[-1] == "DocumentErased"


async def test_a_late_revision_is_superseded(deps: Deps) -> None:
    old, new = await accepted(deps, "doc-1"), await accepted(deps, "doc-1")
    await on_chunked(deps, new, work(new))
    await on_chunked(deps, old, work(old))
    assert said(cast(Any, SimpleNamespace(bus=deps.bus))) == [
        "DocumentPublished",
        "RevisionSuperseded",
    ]
    revisions = await deps.stores.catalog.documents.revisions(NS, "doc-1")
    held = {r.revision: (await deps.stores.catalog.chunks.digest(r.revn)).count for r in revisions}
    assert held == {2: 3, 1: 0}


async def test_documents_with_equal_keywords_are_joined(deps: Deps) -> None:
    for document_id in ("doc-1", "doc-2"):
        event = await accepted(deps, document_id)
        await on_chunked(deps, event, work(event))
    (one, _) = (await deps.stores.catalog.documents.active_set(NS)).revisions
    (other,) = await deps.stores.graph.neighbours(NS, one.revn, 5)
    assert (other.document_id, other.score) == ("doc-2", 1.0)


async def test_the_document_file_round_trips(deps: Deps) -> None:
    event = await accepted(deps, "doc-1")
    await on_chunked(deps, event, work(event))
    data = await deps.stores.objects.get(f"{NS}/doc-1/document.json")
    file = DocumentFile.model_validate_json(data)
    again = await save_json(deps.stores.objects, "copy.json", file)
    assert await deps.stores.objects.get(again.key) == data
