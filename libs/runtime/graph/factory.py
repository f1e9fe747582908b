"""Chooses the graph store by the scheme of its URL."""

from libs.runtime.graph.port import GraphStore


def open_graph(url: str, catalog_url: str) -> GraphStore:
    """`catalog:` keeps the graph in the catalog's own tables; anything else is a `ValueError`."""
    if url == "catalog:":
        from libs.runtime.catalog.sql.catalog import open_catalog
        from libs.runtime.graph.sql import CatalogGraph

        return CatalogGraph(open_catalog(catalog_url))
    raise ValueError(f"GROUNDWIRE_GRAPH_URL is {url!r}: use catalog:")
