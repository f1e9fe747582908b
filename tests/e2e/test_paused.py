"""A worker that was paused and wakes up late harms nothing; a long document holds up nobody."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import nats
import pytest
from nats.aio.msg import Msg
from nats.js import JetStreamContext

from tests.support.stack import Stack, running_stack
from tests.support.waiting import PATIENCE, until

STREAM = "groundwire-pipeline"
SECTIONS = 6000

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with running_stack(GROUNDWIRE_EMBEDDER="none", GROUNDWIRE_QUIET_SECONDS="4") as running:
        yield running


def long_document(sections: int = SECTIONS) -> bytes:
    return b"".join(
        b"# Section %d\n\nThe pump of section %d turns %d times.\n\n" % (n, n, n * n)
        for n in range(sections)
    )


@asynccontextmanager
async def bus(stack: Stack) -> AsyncIterator[JetStreamContext]:
    client = await nats.connect(stack.bus_url())
    try:
        yield client.jetstream()
    finally:
        await client.close()


async def in_hand(js: JetStreamContext, durable: str) -> bool:
    return (await js.consumer_info(STREAM, durable)).num_ack_pending > 0


async def idle(js: JetStreamContext, durable: str) -> bool:
    info = await js.consumer_info(STREAM, durable)
    return info.num_ack_pending == info.num_pending == 0


async def given_again(js: JetStreamContext, durable: str) -> Msg:
    """The message that the server takes from a worker which does not answer."""
    subscription = await js.pull_subscribe_bind(durable, STREAM)
    (message,) = await subscription.fetch(1, timeout=PATIENCE)
    assert message.metadata.num_delivered > 1
    return message


@contextmanager
def paused(stack: Stack, service: str) -> Iterator[None]:
    pid, _ = stack.services()[service]
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@contextmanager
def second(stack: Stack, service: str) -> Iterator[None]:
    """Another process of a service beside the supervisor's own."""
    environment = {
        **os.environ,
        **stack.environment,
        "GROUNDWIRE_DATA_DIR": str(stack.data),
        "GROUNDWIRE_NATS_URL": stack.bus_url(),
        "GROUNDWIRE_ACK_WAIT_SECONDS": "3",
    }
    command = [sys.executable, "-m", f"services.{service}.app"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)


def unharmed(stack: Stack, accepted: dict, reference: dict | None = None) -> None:
    """Published once, found, without a failure on the way or a dead letter."""
    history = stack.get(f"/jobs/{accepted['job_id']}").json()
    assert history["state"] == "published", history
    chunks = stack.get(f"/documents/{accepted['document_id']}/chunks")
    assert len(chunks.json()["chunks"]) == SECTIONS
    if reference is not None:
        assert chunks.content == stack.get(f"/documents/{reference['document_id']}/chunks").content
    mine = {"document_ids": [accepted["document_id"]]}
    assert stack.search("pump of section 4321", top_k=3, filters=mine)["evidence"]
    with stack.client() as client:
        assert client.get("/v1/dead-letters").json()["items"] == []


async def test_an_indexer_that_was_paused_goes_on(stack: Stack) -> None:
    async with bus(stack) as js:
        accepted = stack.upload("paused.md", long_document(), document_id="paused-indexer")
        await until(lambda: in_hand(js, "indexer"))
        with paused(stack, "indexer"):
            message = await given_again(js, "indexer")
            assert stack.get(f"/jobs/{accepted['job_id']}").json()["state"] == "running"
        await message.nak()
        assert (await asyncio.to_thread(stack.wait, accepted["job_id"]))["state"] == "published"
        await until(lambda: idle(js, "indexer"))
    unharmed(stack, accepted)
    stack.ingest("after.md", b"# After\n\nThe indexer works on.\n")


async def test_a_chunker_that_was_paused_wakes_after_another_has_finished(stack: Stack) -> None:
    calm = stack.ingest("calm.md", long_document(), document_id="calm")
    async with bus(stack) as js:
        accepted = stack.upload("calm.md", long_document(), document_id="paused-chunker")
        await until(lambda: in_hand(js, "chunker"))
        with paused(stack, "chunker"), second(stack, "chunker"):
            job = await asyncio.to_thread(stack.wait, accepted["job_id"])
            assert job["state"] == "published"
        await until(lambda: idle(js, "chunker"))
        await until(lambda: idle(js, "indexer"))
        stack.ingest("later.md", b"# Later\n\nThe chunker works on.\n")
    unharmed(stack, accepted, calm)
    revisions = stack.get(f"/documents/{accepted['document_id']}/revisions").json()["items"]
    assert [one["revision"] for one in revisions] == [1]


async def test_small_documents_are_published_before_a_long_one_that_came_first(
    stack: Stack,
) -> None:
    async with bus(stack) as js:
        long = stack.upload("long.md", long_document(4 * SECTIONS))["job_id"]
        await until(lambda: in_hand(js, "indexer"))
        small = [
            stack.upload(f"small-{n}.md", b"# Small %d\n\nA short note %d.\n" % (n, n))["job_id"]
            for n in range(5)
        ]
        for job_id in small:
            assert stack.wait(job_id)["state"] == "published"
        assert stack.get(f"/jobs/{long}").json()["state"] == "running"
        assert stack.wait(long, 2 * PATIENCE)["state"] == "published"
