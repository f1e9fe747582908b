"""The bus: pull and acknowledge through our delivery, beside plain FastStream."""

import asyncio
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import nats
from faststream import AckPolicy
from faststream.nats import JStream, NatsBroker, PullSub
from faststream.nats.annotations import NatsMessage

from bench.measure import Figure, Report
from libs.contracts.events import DocumentAccepted
from libs.contracts.events.base import ArtefactRef
from libs.contracts.subjects import PROFILE, Stage
from libs.runtime.routes import event_address, full, stream_name
from libs.runtime.service import Service
from libs.runtime.settings import Settings
from libs.runtime.streams import bootstrap
from libs.runtime.work import Work
from tests.support.folders import fast_folder
from tests.support.nats import nats_server

MESSAGES = 3000
WORKERS = 4


class CurrentJobs:
    """Every job is current; as cheap as a catalog can be."""

    async def standing(self, _job_id: str) -> str:
        """Always current."""
        return "current"

    async def alive(self, _job_id: str) -> None:
        """Nobody asks."""


def event(number: int) -> DocumentAccepted:
    """The message that is sent."""
    source = ArtefactRef(key=f"default/d/{number}/source/a.md", sha256="0" * 64, size=1)
    return DocumentAccepted(
        namespace="default",
        document_id="d",
        revision=1,
        job_id=f"job-{number}",
        source=source,
        file_name="a.md",
    )


async def fill(url: str, prefix: str) -> None:
    """Bootstrap the streams and publish the messages."""
    client = await nats.connect(url)
    js = client.jetstream()
    await bootstrap(js, prefix, ack_wait=30)
    for start in range(0, MESSAGES, 200):
        await asyncio.gather(
            *(
                js.publish(event_address(prefix, event(n)), event(n).model_dump_json().encode())
                for n in range(start, min(start + 200, MESSAGES))
            )
        )
    await client.close()


async def ours(url: str) -> float:
    """Messages a second through a service."""
    await fill(url, "ours")
    done, count = asyncio.Event(), 0

    async def handle(_event: DocumentAccepted, _work: Work) -> None:
        nonlocal count
        count += 1
        if count == MESSAGES:
            done.set()

    service = Service(Stage.PROFILER, Settings(nats_url=url, prefix="ours", _env_file=None))
    service.stores.__dict__["catalog"] = SimpleNamespace(jobs=CurrentJobs(), close=_nothing)
    service.hear(PROFILE, DocumentAccepted, handle, workers=WORKERS)
    started = time.perf_counter()
    task = asyncio.create_task(service.serve())
    await asyncio.wait_for(done.wait(), 120)
    taken = time.perf_counter() - started
    service.stopping.set()
    await task
    return MESSAGES / taken


async def plain(url: str) -> float:
    """Messages a second through plain FastStream with the same pull subscribers."""
    await fill(url, "plain")
    done, count = asyncio.Event(), 0
    broker = NatsBroker(url, logger=None)
    for _ in range(WORKERS):

        async def handle(body: DocumentAccepted, message: NatsMessage) -> None:
            nonlocal count
            await message.ack()
            count += 1
            if count == MESSAGES:
                done.set()

        broker.subscriber(
            full("plain", PROFILE.subjects[0]),
            durable=PROFILE.durable,
            stream=JStream(stream_name("plain", PROFILE.stream), declare=False),
            pull_sub=PullSub(batch_size=1, timeout=2),
            ack_policy=AckPolicy.MANUAL,
        )(handle)
    started = time.perf_counter()
    await broker.start()
    await asyncio.wait_for(done.wait(), 120)
    taken = time.perf_counter() - started
    await broker.stop()
    return MESSAGES / taken


async def _nothing() -> None:
    return None


def run(report: Report) -> None:
    """Both sides, one after the other, on one server."""
    with (
        tempfile.TemporaryDirectory(dir=fast_folder()) as folder,
        nats_server(Path(folder)) as url,
    ):
        theirs = asyncio.run(plain(url))
        mine = asyncio.run(ours(url))
    report.add(
        Figure(
            "bus: pull and ack, messages/s (ours, FastStream)",
            f"{mine:.0f}/s",
            f"{theirs:.0f}/s",
            mine / theirs,
            ">= 0.7",
        )
    )
