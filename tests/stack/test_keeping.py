"""`rebuild`, `check`, `backup` and `restore` on the four servers, by what each of them answers."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar, cast

import pytest
from sqlalchemy import delete

from deploy.local import check, rebuild
from deploy.local.backup import backup, restore
from deploy.local.bootstrap import prepare_stores
from libs.runtime.catalog.sql import open_catalog
from libs.runtime.catalog.sql.schema import chunk
from libs.runtime.graph.factory import open_graph
from libs.runtime.index import opensearch_client
from libs.runtime.index.factory import open_index
from libs.runtime.index.port import LexicalQuery
from libs.runtime.index.tokenizer import tokenize
from libs.runtime.inference.seeded import SeededEmbedder
from libs.runtime.keys import revision_key
from libs.runtime.objects.factory import open_objects
from libs.runtime.settings import Settings
from services.indexer.deps import Deps
from services.indexer.rebuild import TARGETS, Target
from services.indexer.settings import Settings as IndexerSettings
from tests.support.fake_catalog import NOW
from tests.support.fakes import Bus
from tests.support.servers import Servers, own_places
from tests.support.waiting import until
from tests.unit.indexer.making import NS
from tests.unit.indexer.test_rebuild import answers, fill, rows

T = TypeVar("T")
QUERY = LexicalQuery(tokenize("budget hospitals Part"), ["harbour"])
DOCUMENT, REVISION = "doc-2", 1


@dataclass(frozen=True)
class Places:
    """Stores of a corpus, by the settings that lead to them."""

    settings: Settings

    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncIterator[Deps]:
        """An indexer on them."""
        it = self.settings
        catalog = open_catalog(it.resolved_catalog_url(), it.catalog_secret())
        stores = SimpleNamespace(
            objects=open_objects(it.resolved_objects_url(), it.objects_keys()),
            catalog=catalog,
            index=open_index(it.resolved_index_url(), writer=True, password=it.index_secret()),
            graph=open_graph(it.resolved_graph_url(), "", password=it.graph_secret()),
            embedder=SeededEmbedder(),
        )
        known = IndexerSettings(_env_file=None)  # type: ignore[call-arg]
        try:
            yield Deps(cast(Any, Bus()), cast(Any, stores), tokenize, known, lambda: NOW)
        finally:
            for store in (stores.objects, stores.index, stores.graph, catalog):
                await store.close()

    def on(self, act: Callable[[Deps], Awaitable[T]]) -> T:
        """What `act` returns of an indexer on them."""

        async def run() -> T:
            async with self.opened() as deps:
                return await act(deps)

        return asyncio.run(run())

    def state(self) -> dict[str, Any]:
        """Rows, graph, and answers of every channel, best first."""
        asyncio.run(self._merge())
        return self.on(_state)

    async def _merge(self) -> None:
        """Let what was removed leave the segments: it weighs in the scores until then. The
        server keeps it until its checkpoints have moved on, so more than one merge may be due."""
        address = opensearch_client.address_of(self.settings.resolved_index_url())
        client = opensearch_client.connect(address, None)
        ours = f"{address.prefix}-*"

        async def gone() -> bool:
            await client.indices.flush(index=ours, force=True, wait_if_ongoing=True)
            await client.indices.forcemerge(index=ours, max_num_segments=1)
            await client.indices.refresh(index=ours)
            stats = await client.indices.stats(index=ours, metric="docs")
            return not stats["_all"]["primaries"]["docs"]["deleted"]

        try:
            await until(gone, what="what was removed to leave the segments")
        finally:
            await client.close()

    def drift(self, capsys: pytest.CaptureFixture[str]) -> set[tuple[str, str, str]]:
        """What `groundwire check` says: document, store, what is wrong."""
        result = check.run(self.settings, as_json=True)
        found = json.loads(capsys.readouterr().out)["drift"]
        assert result == int(bool(found))
        return {(one["document_id"], one["store"], one["detail"]) for one in found}

    def rebuild(self, *targets: Target) -> int:
        """`groundwire rebuild`; the number that it exits with."""
        return rebuild.run(self.settings, frozenset(targets), as_json=True)


async def _state(deps: Deps) -> dict[str, Any]:
    graph = [one async for one in _graph(deps)]
    assert any(one.edges for one in graph)
    return {**await rows(deps), **await answers(deps, QUERY), "graph": graph}


async def _graph(deps: Deps) -> AsyncIterator[Any]:
    for one in await deps.stores.graph.page(NS, 0, 99):
        yield one


@contextlib.contextmanager
def places_of(servers: Servers, folder: Path, **changes: str) -> Iterator[Places]:
    """Empty stores of their own; the graph's server has room for one corpus, the last one."""
    with own_places(servers) as given:
        named = {name.removeprefix("GROUNDWIRE_").lower(): value for name, value in given.items()}
        known = {**named, "data_dir": folder, "embedder": "seeded", **changes}
        places = Places(Settings(_env_file=None, **known))  # type: ignore[call-arg, arg-type]
        asyncio.run(prepare_stores(places.settings))
        yield places


@pytest.fixture(scope="module")
def filled(
    servers: Servers, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Places, dict[str, Any]]]:
    """A corpus of several states (see `fill`), and what all stores say of it."""
    with places_of(servers, tmp_path_factory.mktemp("filled")) as places:
        places.on(fill)
        yield places, places.state()


async def lose_rows(deps: Deps) -> None:
    revn = await _revn(deps)
    database = deps.stores.catalog.database  # type: ignore[attr-defined]
    await database.write(lambda it: it.execute(delete(chunk).where(chunk.c.revn == revn)))


async def lose_search(deps: Deps) -> None:
    await deps.stores.index.remove(NS, [await _revn(deps)])


async def lose_a_node(deps: Deps) -> None:
    await deps.stores.graph.remove(NS, [await _revn(deps)])


async def _revn(deps: Deps) -> int:
    record = await deps.stores.catalog.documents.revision(NS, DOCUMENT, REVISION)
    assert record is not None
    return record.revn


@pytest.mark.parametrize(
    ("plant", "target", "told"),
    [
        (lose_rows, "catalog", {("catalog", "holds other chunks")}),
        (lose_search, "search", {(s, "holds other chunks") for s in ("search", "vectors")}),
        (lose_a_node, "graph", {("graph", "the node is not there")}),
    ],
    ids=["catalog", "search", "graph"],
)
def test_drift_is_found_in_its_store_and_mended_from_the_objects(
    filled: tuple[Places, dict[str, Any]],
    capsys: pytest.CaptureFixture[str],
    plant: Callable[[Deps], Awaitable[None]],
    target: Target,
    told: set[tuple[str, str]],
) -> None:
    places, before = filled
    assert places.drift(capsys) == set()
    places.on(plant)
    found = places.drift(capsys)
    assert {(store, detail) for name, store, detail in found if name == DOCUMENT} == told
    assert {store for _, store, _ in found} == {store for store, _ in told}
    assert places.rebuild(target) == 0
    capsys.readouterr()
    assert places.drift(capsys) == set()
    assert places.state() == before


def test_a_lost_object_is_found(
    filled: tuple[Places, dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    places, _ = filled
    key = revision_key(NS, DOCUMENT, REVISION, "manifest.json")

    async def lose(deps: Deps) -> bytes:
        data = await deps.stores.objects.get(key)
        await deps.stores.objects.delete([key])
        return data

    data = places.on(lose)
    assert places.drift(capsys) == {(DOCUMENT, "objects", "lacks manifest.json")}
    places.on(lambda deps: deps.stores.objects.put(key, data))
    assert places.drift(capsys) == set()


def test_what_was_lost_is_made_again_from_the_objects_alone(
    filled: tuple[Places, dict[str, Any]],
    servers: Servers,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    places, before = filled
    objects = places.settings.resolved_objects_url()
    with places_of(servers, tmp_path, objects_url=objects) as empty:
        assert empty.rebuild(*TARGETS) == 0
        report = json.loads(capsys.readouterr().out)
        assert (report["documents"], report["revisions"], report["troubles"]) == (4, 5, [])
        assert empty.state() == before
        assert empty.drift(capsys) == set()
    assert places.rebuild("graph") == 0


def test_a_backup_is_put_into_empty_stores_and_proved(
    filled: tuple[Places, dict[str, Any]],
    servers: Servers,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    places, before = filled
    assert backup(places.settings, tmp_path / "kept", as_json=True) == 0
    note = json.loads(capsys.readouterr().out)
    with places_of(servers, tmp_path / "there") as there:
        assert restore(there.settings, tmp_path / "kept", as_json=False) == 0
        assert capsys.readouterr().out.splitlines()[-1] == "the stores agree"
        assert there.state() == before
        assert restore(there.settings, tmp_path / "kept", as_json=False) == 1
        assert "the catalog has documents already" in capsys.readouterr().err
        assert backup(there.settings, tmp_path / "again", as_json=True) == 0
        again = json.loads(capsys.readouterr().out)
    for name in ("objects", "catalog_version"):
        assert again[name] == note[name]
    assert places.rebuild("graph") == 0
