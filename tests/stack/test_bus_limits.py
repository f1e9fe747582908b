"""What happens when a stream of the bus has reached its limit."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import httpx
import nats
import pytest
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig

from libs.contracts.subjects import PIPELINE
from libs.runtime.routes import stream_name
from tests.support.stack import Stack, running_stack
from tests.support.waiting import until

PREFIX = "groundwire"
SECONDS = 240.0
STREAM = stream_name(PREFIX, PIPELINE.name)
LIMIT = 16_000
"""Bytes: the events of one document, about, and not those of all."""
DOCUMENTS = 6


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


@asynccontextmanager
async def filling(js: JetStreamContext) -> AsyncIterator[None]:
    """The pipeline's stream has little room, and somebody who is behind keeps what is in it."""
    config = (await js.stream_info(STREAM)).config
    behind = ConsumerConfig(durable_name="behind", ack_policy=AckPolicy.EXPLICIT)
    await js.add_consumer(STREAM, behind)
    await js.update_stream(config.evolve(max_bytes=LIMIT))
    try:
        yield
    finally:
        await js.delete_consumer(STREAM, "behind")


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
        async with filling(js):
            accepted = [
                await asyncio.to_thread(
                    small.upload, f"{n}.md", f"# Bird {n}\n\nThe heron {n}.\n".encode()
                )
                for n in range(DOCUMENTS)
            ]
            await until(lambda: refusals(small) > before, SECONDS, "a refusal of the bus")
            assert (await js.stream_info(STREAM)).state.bytes <= LIMIT
            assert small.search("heron", filters={"document_ids": ["first"]})["evidence"]
    for answer in accepted:
        job = await asyncio.to_thread(small.wait, answer["job_id"], SECONDS)
        assert job["state"] == "published", job
    with small.client() as client:
        assert client.get("/v1/dead-letters").json()["items"] == []
