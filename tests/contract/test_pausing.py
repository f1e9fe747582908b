"""A stage that is paused on the real server gets no message, and all of them afterwards."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import nats
import nats.errors
import pytest
from nats.js import JetStreamContext

from libs.contracts.subjects import CHUNK, PARSE, PIPELINE, Stage
from libs.runtime.pausing import PAUSABLE, pause_stage, paused_stages
from libs.runtime.routes import durable_name, full, stream_name
from libs.runtime.streams import bootstrap
from tests.support.nats import nats_server
from tests.support.waiting import PATIENCE

PREFIX = "pausing"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with nats_server(Path(tmp_path_factory.mktemp("nats"))) as running:
        yield running


@pytest.fixture
async def js(url: str) -> AsyncIterator[JetStreamContext]:
    client = await nats.connect(url)
    await bootstrap(client.jetstream(timeout=30), PREFIX, ack_wait=5.0)
    yield client.jetstream(timeout=30)
    await client.close()


async def taken(js: JetStreamContext, consumer: Any, expected: int = 0) -> list[dict[str, int]]:
    """What a worker of the durable is given: as many as expected, or else what comes at once."""
    name = full(PREFIX, consumer.subjects[0])
    puller = await js.pull_subscribe(name, durable_name(consumer), stream_name(PREFIX, PIPELINE))
    try:
        messages = await puller.fetch(expected or 1, timeout=PATIENCE if expected else 1)
    except TimeoutError:
        return []
    await asyncio.gather(*(message.ack_sync() for message in messages))
    return [json.loads(message.data) for message in messages]


async def test_a_paused_stage_is_given_nothing_until_it_goes_on(js: JetStreamContext) -> None:
    parse = full(PREFIX, PARSE.subjects[0].replace("*", "x"))
    chunk = full(PREFIX, CHUNK.subjects[0].replace("*", "x"))
    assert await paused_stages(js, PREFIX) == []
    for _ in range(2):
        await pause_stage(js, PREFIX, Stage.PARSER, paused=True)
    assert await paused_stages(js, PREFIX) == [Stage.PARSER]
    for number in range(2):
        await js.publish(parse, json.dumps({"n": number}).encode())
    await js.publish(chunk, b'{"n": 9}')
    assert await taken(js, PARSE) == []
    assert await taken(js, CHUNK, 1) == [{"n": 9}]
    await bootstrap(js, PREFIX, ack_wait=7.0)
    assert await paused_stages(js, PREFIX) == [Stage.PARSER], "a start of the stack is no resume"
    assert await taken(js, PARSE) == []
    info = await js.consumer_info(stream_name(PREFIX, PIPELINE), durable_name(PARSE))
    assert info.config.ack_wait == 7.0
    for _ in range(2):
        await pause_stage(js, PREFIX, Stage.PARSER, paused=False)
    assert await paused_stages(js, PREFIX) == []
    assert await taken(js, PARSE, 2) == [{"n": 0}, {"n": 1}]


async def test_every_stage_of_the_pipeline_can_be_paused(js: JetStreamContext) -> None:
    for stage in PAUSABLE:
        await pause_stage(js, PREFIX, stage, paused=True)
    assert await paused_stages(js, PREFIX) == list(PAUSABLE)
    for stage in PAUSABLE:
        await pause_stage(js, PREFIX, stage, paused=False)
    assert await paused_stages(js, PREFIX) == []
