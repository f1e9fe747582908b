"""The corpus files follow what readers see, whenever their writer comes to it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from libs.contracts.artefacts.corpus import (
    CorpusCollections,
    CorpusErasures,
    CorpusGraph,
    CorpusHits,
)
from libs.contracts.artefacts.document import DocumentFile
from libs.contracts.base import Contract
from libs.runtime.artefacts import canonical_json, save_json
from libs.runtime.corpusfiles import FILES, stored_versions
from libs.runtime.keys import corpus_key, document_key
from services.indexer.deps import Deps
from services.indexer.following import (
    LONGEST_SECONDS,
    MOST_REST_SECONDS,
    QUIET_SECONDS,
    REST_FACTOR,
    Following,
    Pace,
)
from services.indexer.handlers import on_erasure_requested
from tests.unit.indexer.embedded import ingested
from tests.unit.indexer.making import NS, erasure, work

MODELS: dict[str, type[Contract]] = {
    "graph.json": CorpusGraph,
    "hits.json": CorpusHits,
    "erasures.json": CorpusErasures,
    "collections.json": CorpusCollections,
}


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.now += seconds


async def read(deps: Deps, name: str) -> Any:
    data = await deps.stores.objects.get(corpus_key(NS, name))
    found = MODELS[name].model_validate_json(data)
    assert canonical_json(found) == data
    return found


async def look(deps: Deps, clock: Clock, following: Following | None = None) -> Following:
    """A process that looks until what has moved is quiet."""
    following = following or Following(deps, clock)
    await following.look()
    clock.pass_by(QUIET_SECONDS)
    await following.look()
    return following


async def test_the_files_show_the_last_flip_of_a_burst(deps: Deps) -> None:
    clock = Clock()
    following = Following(deps, clock)
    for number in range(6):
        await ingested(deps, f"doc-{number % 3}")
        await following.look()
    assert await stored_versions(deps.stores.objects, NS) == [0, 0, 0, 0], "no flip wrote them"
    await look(deps, clock, following)
    version = await deps.stores.catalog.documents.corpus_version(NS)
    assert await stored_versions(deps.stores.objects, NS) == [version] * 4
    graph = await read(deps, "graph.json")
    kept = {
        (record.revn, record.document_id)
        for number in range(3)
        for record in await deps.stores.catalog.documents.revisions(NS, f"doc-{number}")
    }
    assert {(node.revn, node.document_id) for node in graph.nodes} == kept
    stored = {
        edge.edge_id: (edge.score, list(edge.shared))
        for one in await deps.stores.graph.page(NS, 0, 99)
        for edge in one.edges
    }
    assert stored
    assert {
        f"{node.revn}:{edge.revn}": (edge.score, edge.shared)
        for node in graph.nodes
        for edge in node.edges
    } == stored
    assert [one.name for one in (await read(deps, "collections.json")).collections] == ["default"]
    assert (await read(deps, "hits.json")).documents == []
    assert (await read(deps, "erasures.json")).erasures == []


async def test_what_a_killed_writer_left_is_mended_at_the_next_start(deps: Deps) -> None:
    await ingested(deps, "doc-1")
    clock = Clock()
    await look(deps, clock)
    first = await stored_versions(deps.stores.objects, NS)
    await ingested(deps, "doc-2")
    await look(deps, clock)  # another process: the first one was killed after the flip
    second = await stored_versions(deps.stores.objects, NS)
    assert min(second) > max(first)
    assert len((await read(deps, "graph.json")).nodes) == 2


@pytest.mark.parametrize("broken", FILES)
async def test_a_file_that_is_not_of_the_version_is_written_again(deps: Deps, broken: str) -> None:
    await ingested(deps, "doc-1")
    await look(deps, Clock())
    whole = {name: await read(deps, name) for name in FILES}
    old = whole[broken].model_copy(update={"corpus_version": 1})
    await save_json(deps.stores.objects, corpus_key(NS, broken), old)
    await look(deps, Clock())
    assert {name: await read(deps, name) for name in FILES} == whole


async def test_a_catalog_that_has_lost_something_replaces_nothing(deps: Deps) -> None:
    await ingested(deps, "doc-1")
    await look(deps, Clock())
    newer = (await read(deps, "graph.json")).model_copy(update={"corpus_version": 999})
    await save_json(deps.stores.objects, corpus_key(NS, "graph.json"), newer)
    await look(deps, Clock())
    assert await read(deps, "graph.json") == newer


async def test_a_document_file_whose_writer_was_killed_is_mended(deps: Deps) -> None:
    """The gateway flips back and is killed before it has written the file."""
    for _ in range(2):
        await ingested(deps, "doc-1")
    await look(deps, Clock())
    await deps.stores.catalog.documents.activate(NS, "doc-1", 1)

    async def active() -> int | None:
        data = await deps.stores.objects.get(document_key(NS, "doc-1"))
        return DocumentFile.model_validate_json(data).active_revision

    assert await active() == 2
    await look(deps, Clock())
    assert await active() == 1


async def test_nothing_of_an_erased_document_is_left_but_its_receipt(deps: Deps) -> None:
    for document_id in ("doc-1", "doc-2"):
        await ingested(deps, document_id)
    await look(deps, Clock())
    assert [node.edges[0].shared for node in (await read(deps, "graph.json")).nodes[:1]]
    await deps.stores.catalog.documents.hide(NS, "doc-1", "era-1")
    await on_erasure_requested(deps, erasure(), work(erasure()))
    graph = await read(deps, "graph.json")
    assert [(node.document_id, node.edges) for node in graph.nodes] == [("doc-2", [])]
    (tombstone,) = (await read(deps, "erasures.json")).erasures
    assert (tombstone.receipt.document_id, tombstone.receipt.state) == ("doc-1", "erased")
    assert tombstone.receipt.removed["objects"] > 0
    assert tombstone.highest_revision == 1


def due(pace: Pace, version: int) -> bool:
    return pace.due({NS: version}) == [NS]


def test_a_change_is_due_once_nothing_has_moved_for_a_moment() -> None:
    clock = Clock()
    pace = Pace(clock)
    assert not due(pace, 1)
    clock.pass_by(QUIET_SECONDS / 2)
    assert not due(pace, 2)
    clock.pass_by(QUIET_SECONDS / 2)
    assert not due(pace, 2)
    clock.pass_by(QUIET_SECONDS / 2)
    assert due(pace, 2)
    pace.settled(NS, 2, 0.0)
    clock.pass_by(3600)
    assert not due(pace, 2)


def test_a_corpus_that_never_rests_is_written_all_the_same() -> None:
    clock = Clock()
    pace = Pace(clock)
    waited = 0
    while not due(pace, version=waited):
        clock.pass_by(1)
        waited += 1
    assert waited == LONGEST_SECONDS


@pytest.mark.parametrize(
    ("took", "rest"), [(1.0, REST_FACTOR), (1000.0, MOST_REST_SECONDS)], ids=["long", "bounded"]
)
def test_the_larger_the_corpus_the_longer_the_rest(took: float, rest: float) -> None:
    clock = Clock()
    pace = Pace(clock)
    pace.settled(NS, 1, took)
    assert not due(pace, 2)
    clock.pass_by(rest - 1)
    assert not due(pace, 2)
    clock.pass_by(1)
    assert due(pace, 2)


async def test_looking_at_a_corpus_at_rest_reads_no_object(
    deps: Deps, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ingested(deps, "doc-1")
    clock = Clock()
    following = await look(deps, clock)
    calls: list[str] = []

    def counted(name: str) -> Callable[..., Any]:
        original = getattr(deps.stores.objects, name)

        def call(*args: Any, **options: Any) -> Any:
            calls.append(name)
            return original(*args, **options)

        return call

    for name in ("get", "stream", "stat", "put"):
        monkeypatch.setattr(deps.stores.objects, name, counted(name))
    for _ in range(5):
        clock.pass_by(timedelta(hours=1).total_seconds())
        await following.look()
    assert calls == []
