"""Pausing by HTTP: who may, what is answered, and what is refused."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.gateway_fakes import FakeBus, World


class Durables:
    """The durables of a server: which of them are paused."""

    def __init__(self) -> None:
        self.paused: set[str] = set()

    async def pause_consumer(self, stream: str, durable: str, until: str) -> None:
        self.paused.add(durable)

    async def resume_consumer(self, stream: str, durable: str) -> None:
        self.paused.discard(durable)

    async def consumer_info(self, stream: str, durable: str) -> Any:
        return SimpleNamespace(paused=durable in self.paused)


@pytest.fixture
def world() -> World:
    bus = FakeBus()
    bus.js = Durables()  # type: ignore[attr-defined]
    return World(bus)


async def test_a_stage_is_paused_with_all_its_durables_and_goes_on(world: World) -> None:
    async with world.client(role="admin") as client:
        for _ in range(2):
            paused = await client.put("/v1/pauses/stages/indexer")
        assert paused.json() == {"stages": ["indexer"], "namespaces": {}}
        assert world.deps.bus.js.paused == {  # type: ignore[attr-defined]
            "indexer", "indexer-embed", "indexer-erase",
            "indexer-again", "indexer-embed-again", "indexer-erase-again",
        }  # fmt: skip
        resumed = await client.delete("/v1/pauses/stages/indexer")
    assert resumed.json() == {"stages": [], "namespaces": {}}
    assert not world.deps.bus.js.paused  # type: ignore[attr-defined]


async def test_a_namespace_is_paused_and_goes_on(world: World) -> None:
    async with world.client(role="admin") as client:
        paused = await client.put("/v1/pauses/namespaces/acme")
        assert list(paused.json()["namespaces"]) == ["acme"]
        assert (await client.get("/v1/pauses")).json() == paused.json()
        resumed = await client.delete("/v1/pauses/namespaces/acme")
        assert resumed.json()["namespaces"] == {}
        assert (await client.put("/v1/pauses/namespaces/nobody")).status_code == 404


@pytest.mark.parametrize("stage", ["gateway", "planner", "nonsense"])
async def test_only_stages_of_the_pipeline_can_be_paused(world: World, stage: str) -> None:
    async with world.client(role="admin") as client:
        assert (await client.put(f"/v1/pauses/stages/{stage}")).status_code == 422


async def test_only_an_admin_may(world: World) -> None:
    async with world.client(role="operator") as client:
        assert (await client.get("/v1/pauses")).status_code == 403
        assert (await client.put("/v1/pauses/stages/parser")).status_code == 403
        assert (await client.put("/v1/pauses/namespaces/acme")).status_code == 403
    assert world.keys.held == {}
