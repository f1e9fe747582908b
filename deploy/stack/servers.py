"""The servers of the stack, in the order in which they are started."""

from deploy.stack.jaeger import Jaeger
from deploy.stack.neo4j import Neo4j
from deploy.stack.opensearch import OpenSearch
from deploy.stack.postgres import Postgres
from deploy.stack.seaweedfs import SeaweedFs
from deploy.stack.server import Server

SERVERS: tuple[Server, ...] = (SeaweedFs(), Postgres(), OpenSearch(), Neo4j(), Jaeger())


def server_named(name: str) -> Server:
    """The server with this name; `KeyError` for any other."""
    return {server.name: server for server in SERVERS}[name]
