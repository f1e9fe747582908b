"""Chooses the graph store by the scheme of its URL."""

from libs.runtime.graph.neo4j_client import FORM
from libs.runtime.graph.port import GraphStore


def open_graph(
    url: str,
    catalog_url: str,
    catalog_password: str | None = None,
    *,
    password: str | None = None,
) -> GraphStore:
    """`catalog:` keeps the graph in the catalog's own tables, `neo4j://…` on a server, with the
    `password` of its user; anything else is a `ValueError`."""
    if url == "catalog:":
        from libs.runtime.catalog.sql.catalog import open_catalog
        from libs.runtime.graph.sql import CatalogGraph

        return CatalogGraph(open_catalog(catalog_url, catalog_password))
    scheme = url.partition(":")[0]
    if scheme == "neo4j":
        from libs.runtime.graph.neo4j_graph import Neo4jGraph

        return Neo4jGraph(url, password)
    raise ValueError(f"no graph store for {scheme!r}: use catalog: or {FORM}")


async def prepare_graph(url: str, password: str | None = None) -> None:
    """Make what the graph needs before its first use, on a server its constraints; idempotent.

    Raises `WorldFault(STORE_AWAY)` when it cannot be reached.
    """
    if url.startswith("neo4j:"):
        from libs.runtime.graph.neo4j_graph import Neo4jGraph

        graph = Neo4jGraph(url, password)
        try:
            await graph.prepare()
        finally:
            await graph.close()
