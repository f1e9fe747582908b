"""The real servers of the stack for tests, each started when it is first asked for."""

import asyncio
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deploy.stack.cache import cache_folder
from deploy.stack.running import Running
from deploy.stack.servers import server_named
from libs.runtime.graph import neo4j_client
from tests.support.folders import run_folder
from tests.support.postgres import empty_database

STORES = ("seaweedfs", "postgres", "opensearch", "neo4j")


class Servers:
    """Servers by name over one folder; tests keep apart by the names of what they store."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._running: dict[str, Running] = {}

    def __getitem__(self, name: str) -> Running:
        """The running server; the test fails where the machine lacks what it needs."""
        if name not in self._running:
            self._running[name] = self.start(name)
        return self._running[name]

    def start(self, name: str) -> Running:
        """Start a server that is not running, or was killed, over its data."""
        server = server_named(name)
        if missing := server.missing():
            pytest.fail("; ".join(missing))
        server.provision(cache_folder())
        self._running[name] = server.start(cache_folder(), self.folder / name)
        return self._running[name]

    def stop(self) -> None:
        """End all."""
        for running in self._running.values():
            running.stop()


@contextmanager
def servers_in_a_folder() -> Iterator[Servers]:
    """Servers over a fresh folder that other users can pass through; removed afterwards."""
    with run_folder("servers") as folder:
        folder.chmod(0o711)
        servers = Servers(folder)
        try:
            yield servers
        finally:
            servers.stop()


@contextmanager
def own_places(servers: Servers, names: tuple[str, ...] = STORES) -> Iterator[dict[str, str]]:
    """Settings of services with places of their own on these servers, empty at first.

    The graph's server has one database: what others left in it is removed.
    """
    settings = {k: v for name in names for k, v in servers[name].settings.items()}
    mark = secrets.token_hex(6)
    for key, part in (("OBJECTS", "/groundwire?"), ("INBOX", "/inbox?"), ("INDEX", "/groundwire?")):
        if url := settings.get(f"GROUNDWIRE_{key}_URL"):
            settings[f"GROUNDWIRE_{key}_URL"] = url.replace(part, f"/{key.lower()}-{mark}?")
    if "neo4j" in names:
        asyncio.run(_empty_graph(settings))
    if "postgres" not in names:
        yield settings
        return
    with empty_database(servers["postgres"]) as url:
        yield {**settings, "GROUNDWIRE_CATALOG_URL": url}


async def _empty_graph(settings: dict[str, str]) -> None:
    address = neo4j_client.address_of(settings["GROUNDWIRE_GRAPH_URL"])
    driver = neo4j_client.connect(address, settings["GROUNDWIRE_GRAPH_PASSWORD"])
    async with driver, driver.session(database=address.database) as session:
        await (await session.run("MATCH (n) DETACH DELETE n")).consume()
