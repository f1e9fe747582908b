"""What each of the four servers holds of a document, asked of the servers themselves."""

import asyncio
from dataclasses import dataclass

import psycopg

from libs.runtime.graph import neo4j_client
from libs.runtime.index import opensearch_client
from libs.runtime.index import opensearch_queries as queries
from libs.runtime.objects import s3_client
from libs.runtime.objects.s3_place import S3Keys, S3Place

Settings = dict[str, str]


@dataclass(frozen=True)
class Holdings:
    """Counts of records by store."""

    objects: int
    catalog: int
    search: int
    vectors: int
    graph: int


def revns_of(settings: Settings, namespace: str, document_id: str) -> list[int]:
    """The catalog's integers for the revisions of a document."""
    with psycopg.connect(settings["GROUNDWIRE_CATALOG_URL"]) as catalog:
        query = "SELECT revn FROM revision WHERE namespace = %s AND document_id = %s ORDER BY 1"
        return [row[0] for row in catalog.execute(query, [namespace, document_id])]


def held(
    settings: Settings, namespace: str, document_id: str, revns: list[int] | None = None
) -> Holdings:
    """What there is of a document's revisions, staged ones included: objects, chunk and section
    rows, search documents, vectors, graph nodes. `revns` where the catalog knows none any more.
    """
    known = revns_of(settings, namespace, document_id) if revns is None else revns
    with psycopg.connect(settings["GROUNDWIRE_CATALOG_URL"]) as catalog:
        rows = sum(
            catalog.execute(
                f"SELECT count(*) FROM {table} WHERE revn = ANY(%s)", [known]
            ).fetchone()[0]
            for table in ("chunk", "section")
        )
    search, vectors, graph = asyncio.run(_elsewhere(settings, namespace, known))
    return Holdings(_objects(settings, namespace, document_id), rows, search, vectors, graph)


def _objects(settings: Settings, namespace: str, document_id: str) -> int:
    place = S3Place.of(settings["GROUNDWIRE_OBJECTS_URL"])
    keys = S3Keys(
        settings["GROUNDWIRE_OBJECTS_ACCESS_KEY"], settings["GROUNDWIRE_OBJECTS_SECRET_KEY"]
    )
    prefix = f"{namespace}/{document_id}/"
    client = s3_client.connect(place, keys, 1)
    return sum(1 for _ in client.list_objects(place.bucket, prefix=prefix, recursive=True))


async def _elsewhere(settings: Settings, namespace: str, revns: list[int]) -> tuple[int, int, int]:
    address = opensearch_client.address_of(settings["GROUNDWIRE_INDEX_URL"])
    client = opensearch_client.connect(address, None)
    await client.indices.refresh(index=f"{address.prefix}-*")
    query = {"query": queries.revisions(namespace, revns)}
    counts = []
    for name in ("chunks", "vectors-*"):
        answer = await client.count(index=f"{address.prefix}-{name}", body=query)
        counts.append(int(answer["count"]))
    await client.close()
    graph = neo4j_client.address_of(settings["GROUNDWIRE_GRAPH_URL"])
    driver = neo4j_client.connect(graph, settings["GROUNDWIRE_GRAPH_PASSWORD"])
    async with driver, driver.session(database=graph.database) as session:
        result = await session.run(
            "MATCH (r:Revision) WHERE r.namespace = $namespace AND r.revn IN $revns "
            "RETURN count(r)",
            namespace=namespace,
            revns=revns,
        )
        nodes = (await result.value())[0]
    return counts[0], counts[1], int(nodes)
