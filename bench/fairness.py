"""What one namespace's 10,000 waiting documents do to another's: catalog, release, ledger and bus
are the real ones, only what profiling, parsing and publishing take is simulated.

Parse times are lognormal with a mean of `MEAN` seconds (sigma 1: one in twenty takes three times
as long as the mean), drawn by a seed from the job's number in its namespace, so that both runs
parse the same times. The small namespace sends a document, waits until it is published, and
sends the next, as a person does.
"""

import asyncio
import contextlib
import hashlib
import tempfile
import time
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import nats
import numpy as np

from bench.measure import Figure, Report, percentile, spread
from libs.contracts.api.ingest import IngestOptions
from libs.contracts.artefacts.profile import PageRange
from libs.contracts.events import (
    DocumentAccepted,
    DocumentParsed,
    DocumentProfiled,
    DocumentPublished,
    DocumentSharded,
    JobEvent,
    ShardsDone,
)
from libs.contracts.events.base import ArtefactRef
from libs.contracts.subjects import CHUNK, JOIN, LEDGER, PARSE, PROFILE, Stage
from libs.runtime.catalog.jobs import Admission
from libs.runtime.catalog.sql import upgrade
from libs.runtime.objects.factory import open_objects
from libs.runtime.service import Service
from libs.runtime.streams import bootstrap
from libs.runtime.work import Work
from services.gateway import handlers
from services.gateway.deps import Deps
from services.gateway.periodic import schedule
from services.gateway.release import release_waiting
from services.gateway.settings import Settings
from tests.support.folders import fast_folder
from tests.support.nats import nats_server

BIG, SMALL = "big", "small"
WAITING = 10_000
MEASURED = 120
SLOTS = 4
MEAN = 0.2
SIGMA = 1.0
PATIENCE = 60.0
REF = ArtefactRef(key="k", sha256=hashlib.sha256(b"").hexdigest(), size=0)


def parse_seconds(event: JobEvent) -> float:
    """How long the simulated parse of a document takes."""
    seed = int.from_bytes(hashlib.sha256(event.document_id.encode()).digest()[:8])
    return float(np.random.default_rng(seed).lognormal(np.log(MEAN) - SIGMA**2 / 2, SIGMA))


def _shared(event: JobEvent) -> dict[str, object]:
    names = ("namespace", "document_id", "revision", "job_id", "attempt")
    return {name: getattr(event, name) for name in names}


class Pipeline:
    """Gateway and simulated stages over one bus and one catalog."""

    def __init__(self, settings: Settings) -> None:
        self.gateway = Service(Stage.GATEWAY, settings)
        inbox = open_objects(settings.resolved_inbox_url())
        self.deps = Deps(self.gateway.bus, self.gateway.stores, settings, inbox)
        self.gateway.hear(
            LEDGER, JobEvent, partial(handlers.on_event, self.deps), workers=8, advances=False
        )
        schedule(self.gateway, self.deps)
        self.stages = Service(Stage.PARSER, settings)
        self.stages.hear(PROFILE, DocumentAccepted, self._profile, workers=4)
        self.stages.hear(PARSE, DocumentSharded, self._parse, workers=SLOTS)
        self.stages.hear(JOIN, ShardsDone, self._join, workers=4)
        self.stages.hear(CHUNK, DocumentParsed, self._publish, workers=4)

    async def _profile(self, event: DocumentAccepted, _work: Work) -> None:
        shared = _shared(event)
        await self.stages.bus.announce(
            DocumentProfiled(**shared, profile=REF, format="md", page_count=1, shards=1)  # type: ignore[arg-type]
        )
        await self.stages.bus.announce(
            DocumentSharded(
                **shared, source=REF, profile=REF, file_name="a.md", shard=0, shards=1,  # type: ignore[arg-type]
                pages=PageRange(first=0, last=0),
            )
        )  # fmt: skip

    async def _parse(self, event: DocumentSharded, work: Work) -> None:
        ends = time.monotonic() + parse_seconds(event)
        while (rest := ends - time.monotonic()) > 0:
            await asyncio.sleep(min(rest, 1.0))
            work.progress()
        await self.stages.bus.announce(
            ShardsDone(**_shared(event), source=REF, profile=REF, file_name="a.md", rows=[REF])  # type: ignore[arg-type]
        )

    async def _join(self, event: ShardsDone, _work: Work) -> None:
        await self.stages.bus.announce(
            DocumentParsed(
                **_shared(event), source=REF, profile=REF, file_name="a.md", rows=REF,  # type: ignore[arg-type]
                diagnostics=REF, row_count=1, engine="simulated",
            )
        )  # fmt: skip

    async def _publish(self, event: DocumentParsed, _work: Work) -> None:
        await self.stages.bus.announce(
            DocumentPublished(**_shared(event), chunk_count=1, chunk_digest="", corpus_version=1)  # type: ignore[arg-type]
        )

    async def admit(self, namespace: str, number: int) -> str:
        """A job whose source is stored, as the gateway leaves it before the release."""
        jobs = self.deps.stores.catalog.jobs
        name = f"{namespace}-{number}"
        admission = Admission(namespace, f"{name}.md", IngestOptions(), document_id=name)
        job = (await jobs.admit(admission)).job
        await jobs.source_stored(job.job_id, REF)
        return job.job_id

    async def published(self, job_id: str) -> None:
        """Until the ledger says so."""
        async with asyncio.timeout(PATIENCE):
            with self.deps.news.watch(job_id) as watch:
                while True:
                    job = await self.deps.stores.catalog.jobs.get(None, job_id)
                    if job is not None and job.state == "published":
                        return
                    await watch.wait(1.0)

    async def one_by_one(self) -> list[float]:
        """Milliseconds from accepted to published of the small namespace's documents."""
        taken = []
        for number in range(MEASURED):
            started = time.perf_counter()
            job_id = await self.admit(SMALL, number)
            await release_waiting(self.deps)
            await self.published(job_id)
            taken.append(1000 * (time.perf_counter() - started))
        return taken


@contextlib.asynccontextmanager
async def running(folder: Path, url: str, prefix: str) -> AsyncIterator[Pipeline]:
    """A pipeline with a catalog and a prefix of its own."""
    data = folder / prefix
    data.mkdir()
    settings = Settings(data_dir=data, nats_url=url, prefix=prefix, _env_file=None)
    await upgrade(settings.resolved_catalog_url())
    pipeline = Pipeline(settings)
    services = (pipeline.gateway, pipeline.stages)
    client = await nats.connect(url)
    await bootstrap(client.jetstream(), prefix, ack_wait=30)
    await client.close()
    tasks = [asyncio.create_task(service.serve()) for service in services]
    try:
        yield pipeline
    finally:
        for service in services:
            service.stopping.set()
        await asyncio.gather(*tasks)


async def alone(folder: Path, url: str) -> list[float]:
    """The small namespace with nobody beside it."""
    async with running(folder, url, "alone") as pipeline:
        return await pipeline.one_by_one()


async def beside(folder: Path, url: str) -> tuple[list[float], float]:
    """The small namespace beside the big one's queue, and what was published of that a second."""
    async with running(folder, url, "beside") as pipeline:
        jobs = pipeline.deps.stores.catalog.jobs
        for start in range(0, WAITING, 100):
            await asyncio.gather(*(pipeline.admit(BIG, n) for n in range(start, start + 100)))
        before, started = await jobs.count(BIG, "published"), time.perf_counter()
        taken = await pipeline.one_by_one()
        done = await jobs.count(BIG, "published") - before
        assert await jobs.count(BIG, "waiting") > WAITING / 2, "the big queue ran empty"
        return taken, done / (time.perf_counter() - started)


def run(report: Report) -> None:
    """Both, one after the other, on one server."""
    with (
        tempfile.TemporaryDirectory(dir=fast_folder()) as folder,
        nats_server(Path(folder) / "nats") as url,
    ):
        quiet = asyncio.run(alone(Path(folder), url))
        slowed, rate = asyncio.run(beside(Path(folder), url))
    report.add(
        Figure(
            f"a namespace beside {WAITING:,} waiting documents (p50 / p95)",
            spread(slowed),
            spread(quiet),
            percentile(slowed, 0.95) / percentile(quiet, 0.95),
            "< 1.5",
        )
    )
    report.add(
        Figure(
            f"meanwhile published of the big one, {SLOTS} slots",
            f"{rate:.1f}/s",
            f"{SLOTS / MEAN:.0f}/s at best",
        )
    )
