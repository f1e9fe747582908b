"""What happens when a stream of the bus has reached its limit."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import httpx
import nats
import pytest
from nats.js import JetStreamContext
from nats.js.api import StreamConfig

from libs.contracts.subjects import PIPELINE, Stage
from libs.runtime.pausing import pause_stage
from libs.runtime.routes import stream_name
from tests.support.nats import until
from tests.support.stack import Stack, running_stack

PREFIX = "groundwire"
SECONDS = 240.0
LIMIT = 8_000
DOCUMENTS = 12


@pytest.fixture(scope="module")
def small() -> Iterator[Stack]:
    """The services on embedded stores; what failed is tried again soon."""
    with running_stack(
        GROUNDWIRE_EMBEDDER="none",
        GROUNDWIRE_RETRY_SECONDS="0.3",
        GROUNDWIRE_MAX_RETRY_SECONDS="1",
        GROUNDWIRE_WORLD_RETRIES="200",
    ) as stack:
        yield stack


@asynccontextmanager
async def jetstream(stack: Stack) -> AsyncIterator[JetStreamContext]:
    client = await nats.connect(stack.bus_url(), connect_timeout=10)
    try:
        yield client.jetstream(timeout=10)
    finally:
        await client.close()


async def limited(js: JetStreamContext, max_bytes: int) -> None:
    """Give the pipeline's stream another limit."""
    info = await js.stream_info(stream_name(PREFIX, PIPELINE.name))
    config: StreamConfig = info.config
    await js.update_stream(config.evolve(max_bytes=max_bytes))


def refusals(stack: Stack) -> float:
    """How many messages the bus has not taken from any service."""
    found = 0.0
    for _, port in stack.services().values():
        for line in httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=10).text.splitlines():
            if line.startswith("groundwire_publish_failures_total{"):
                found += float(line.rpartition(" ")[2])
    return found


async def test_a_full_pipeline_holds_jobs_up_and_loses_none(small: Stack) -> None:
    small.ingest("first.md", b"# First\n\nThe heron stands still.\n", document_id="first")
    before = refusals(small)
    async with jetstream(small) as js:
        await pause_stage(js, PREFIX, Stage.PARSER, paused=True)
        await limited(js, LIMIT)
        accepted = [
            await asyncio.to_thread(
                small.upload, f"{n}.md", f"# Bird {n}\n\nThe heron {n}.\n".encode()
            )
            for n in range(DOCUMENTS)
        ]
        await until(lambda: refusals(small) > before, SECONDS, "a refusal of the bus")
        info = await js.stream_info(stream_name(PREFIX, PIPELINE.name))
        assert info.state.bytes <= LIMIT
        assert small.search("heron")["evidence"][0]["document_id"] == "first"
        await pause_stage(js, PREFIX, Stage.PARSER, paused=False)
    for answer in accepted:
        job = await asyncio.to_thread(small.wait, answer["job_id"], SECONDS)
        assert job["state"] == "published", job
    with small.client() as client:
        assert client.get("/v1/dead-letters").json()["items"] == []
