"""The stores of one process, each opened when it is first used, chosen by its URL."""

from functools import cached_property
from types import SimpleNamespace
from typing import cast

from libs.runtime.catalog.port import Catalog
from libs.runtime.graph.port import GraphStore
from libs.runtime.index.port import SearchIndex
from libs.runtime.inference.port import Embedder
from libs.runtime.objects.port import ObjectStore
from libs.runtime.settings import Settings
from libs.runtime.storecalls import watched


class Stores:
    """Adapters import their library when they are chosen, so an unused one costs nothing.

    `index_writer` marks the one service that writes the local search index.
    """

    def __init__(self, settings: Settings, *, index_writer: bool = False) -> None:
        self._settings = settings
        self._index_writer = index_writer

    @cached_property
    def objects(self) -> ObjectStore:
        """Sources and artefacts."""
        from libs.runtime.objects.factory import open_objects

        settings = self._settings
        store = open_objects(settings.resolved_objects_url(), settings.objects_keys())
        return watched(store, "objects")

    @cached_property
    def catalog(self) -> Catalog:
        """Identity and state."""
        from libs.runtime.catalog.sql.catalog import open_catalog

        settings = self._settings
        catalog = open_catalog(settings.resolved_catalog_url(), settings.catalog_secret())
        parts = {
            name: watched(
                getattr(catalog, name), f"catalog.{name}", settings.resolved_catalog_url()
            )
            for name in ("keys", "documents", "jobs", "chunks", "runs", "corpus", "audit")
        }
        return cast(Catalog, SimpleNamespace(**parts, ping=catalog.ping, close=catalog.close))

    @cached_property
    def index(self) -> SearchIndex:
        """Lexical channels and vectors."""
        from libs.runtime.index.factory import open_index

        index = open_index(
            self._settings.resolved_index_url(),
            writer=self._index_writer,
            password=self._settings.index_secret(),
        )
        return watched(index, "index", self._settings.resolved_index_url())

    @cached_property
    def graph(self) -> GraphStore:
        """Keyword-overlap edges."""
        from libs.runtime.graph.factory import open_graph

        settings = self._settings
        graph = open_graph(
            settings.resolved_graph_url(),
            settings.resolved_catalog_url(),
            settings.catalog_secret(),
            password=settings.graph_secret(),
        )
        return watched(graph, "graph", settings.resolved_graph_url())

    @cached_property
    def embedder(self) -> Embedder | None:
        """The embedder, or None where dense search is off."""
        from libs.runtime.inference.factory import open_embedder

        embedder = open_embedder(self._settings)
        return None if embedder is None else watched(embedder, "embedder")

    async def close(self) -> None:
        """Close what was opened."""
        for name in ("objects", "catalog", "index", "graph", "embedder"):
            store = self.__dict__.get(name)
            if store is not None:
                await store.close()
