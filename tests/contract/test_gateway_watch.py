"""What operators are told of the bus, on a real nats-server."""

import asyncio
import dataclasses
import uuid
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from faststream.nats import NatsBroker
from nats.js.errors import NotFoundError
from prometheus_client import REGISTRY

from libs.contracts.artefacts.profile import PageRange
from libs.contracts.events import ArtefactRef, DocumentParsed, DocumentSharded
from libs.contracts.faults import WorldFault
from libs.contracts.subjects import CHUNK, CONSUMERS, PARSE, STREAMS, Stage
from libs.contracts.tokens import new_id
from libs.runtime.bus import Bus
from libs.runtime.deadletters import park_stored
from libs.runtime.routes import durable_name, stream_name
from libs.runtime.streams import bootstrap
from services.gateway.watch import GAUGES, watch_bus
from services.gateway.window import FEWEST, Window
from tests.support.gateway_fakes import World, now
from tests.support.nats import nats_server
from tests.support.waiting import PATIENCE, until

REF = ArtefactRef(key="k", sha256="a" * 64, size=1)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    prefix = f"t{uuid.uuid4().hex[:8]}"
    with nats_server(tmp_path) as url:
        async with NatsBroker(url, logger=None) as broker:
            await broker.connect()
            bus = Bus(broker, prefix, cast(Any, None), Stage.GATEWAY)
            await bootstrap(bus.js, prefix, ack_wait=30)
            yield World(bus=bus, prefix=prefix)
    for gauge in GAUGES:
        gauge.clear()


def said(name: str, **labels: str) -> float | None:
    return REGISTRY.get_sample_value(f"groundwire_{name}", labels)


def parsed() -> DocumentParsed:
    return DocumentParsed(
        namespace="acme",
        document_id="d",
        revision=1,
        job_id=new_id("job"),
        source=REF,
        file_name="a.txt",
        profile=REF,
        rows=REF,
        diagnostics=REF,
        row_count=1,
        engine="text",
    )


async def test_messages_that_wait_and_that_are_worked_on_are_counted(world: World) -> None:
    bus = world.deps.bus
    for _ in range(3):
        await bus.announce(parsed())
    pull = await bus.js.pull_subscribe_bind(
        durable_name(CHUNK), stream=stream_name(bus.prefix, CHUNK.stream)
    )
    await pull.fetch(1, timeout=PATIENCE)

    await watch_bus(world.deps)

    assert said("consumer_pending", consumer="chunker") == 2
    assert said("consumer_unacknowledged", consumer="chunker") == 1
    assert said("consumer_pending", consumer="parser") == 0
    assert all(said("consumer_pending", consumer=c.durable) is not None for c in CONSUMERS)
    filled = said("stream_filled_ratio", stream="pipeline")
    assert filled is not None
    assert 0 < filled < 0.01
    assert all(said("stream_filled_ratio", stream=s.name) is not None for s in STREAMS)


async def test_the_age_of_dead_letters_is_that_of_the_oldest(world: World) -> None:
    bus = world.deps.bus
    await watch_bus(world.deps)
    assert said("dead_letters", stream="dead") == 0
    assert said("dead_letter_age_seconds", stream="dead") == 0

    event = parsed()
    await bus.announce(event)
    stored = await bus.js.get_msg(stream_name(bus.prefix, CHUNK.stream), seq=1)
    await park_stored(bus, stored, CHUNK, event, 50)
    later = now() + timedelta(hours=1)
    await watch_bus(dataclasses.replace(world.deps, clock=lambda: later))

    assert said("dead_letters", stream="dead") == 1
    age = said("dead_letter_age_seconds", stream="dead")
    assert age is not None
    assert 3600 <= age < 3660


async def test_a_bus_that_cannot_tell_leaves_no_old_figures(world: World) -> None:
    await watch_bus(world.deps)
    await world.deps.bus.js.delete_stream(stream_name(world.deps.bus.prefix, CHUNK.stream))
    with pytest.raises(NotFoundError):
        await watch_bus(world.deps)
    assert said("consumer_pending", consumer="chunker") is None
    assert said("dead_letters", stream="dead") is None


async def test_what_the_bus_does_not_take_is_counted(world: World) -> None:
    bus = world.deps.bus
    before = said("publish_failures_total", event="parser.parsed") or 0
    await bus.js.delete_stream(stream_name(bus.prefix, CHUNK.stream))
    with pytest.raises(WorldFault):
        await bus.announce(parsed())
    assert said("publish_failures_total", event="parser.parsed") == before + 1


async def test_the_window_follows_the_places_where_shards_are_parsed(world: World) -> None:
    bus, window = world.deps.bus, Window(0.5)
    assert window.shards is None
    await window.look(bus)
    assert window.shards == FEWEST
    stream = stream_name(bus.prefix, PARSE.stream)
    pull = await bus.js.pull_subscribe_bind(durable_name(PARSE), stream=stream)
    workers = [asyncio.create_task(pull.fetch(1, timeout=PATIENCE)) for _ in range(4)]

    async def sees(expected: int) -> bool:
        await window.look(bus)
        return window.shards == expected

    await until(lambda: sees(6), what="four who wait for work")
    event = DocumentSharded(
        namespace="acme", document_id="d", revision=1, job_id=new_id("job"), source=REF,
        profile=REF, file_name="a.txt", shard=0, shards=1, pages=PageRange(first=0, last=0),
    )  # fmt: skip
    await bus.announce(event)
    done, waiting = await asyncio.wait(workers, return_when=asyncio.FIRST_COMPLETED)
    assert (len(done), len(waiting)) == (1, 3)
    fresh = Window(0.5)
    await fresh.look(bus)
    assert fresh.shards == 6
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
