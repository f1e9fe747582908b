"""A job is cancelled wherever it is: the ledger says so without waiting for the stage that has it,
and who works on it is told to stop."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import nats
import pytest

from libs.contracts.api.ingest import IngestOptions
from libs.contracts.artefacts.profile import PageRange
from libs.contracts.events import (
    ArtefactRef,
    DocumentAccepted,
    DocumentChunked,
    DocumentParsed,
    DocumentSharded,
    JobEvent,
    ShardsDone,
)
from libs.contracts.subjects import CHUNK, JOIN, LEDGER, PARSE, PROFILE, PUBLISH, Consumer, Stage
from libs.runtime.catalog.jobs import Admission, JobRecord
from libs.runtime.objects.factory import open_objects
from libs.runtime.service import Service
from libs.runtime.streams import bootstrap
from libs.runtime.work import Work
from services.gateway import handlers
from services.gateway.cancel import cancel_job
from services.gateway.deps import Deps
from services.gateway.settings import Settings
from tests.support.catalogs import fast_folder, fresh_database
from tests.support.nats import nats_server
from tests.support.waiting import PATIENCE, until

REF = ArtefactRef(key="k", sha256="a" * 64, size=1)
PARTS: dict[str, Any] = {"source": REF, "profile": REF, "file_name": "a.md"}
WAITS: list[tuple[Consumer, type[JobEvent], dict[str, Any]]] = [
    (PROFILE, DocumentAccepted, {"source": REF, "file_name": "a.md"}),
    (PARSE, DocumentSharded, {**PARTS, "shard": 0, "shards": 1,
                              "pages": PageRange(first=0, last=0)}),
    (JOIN, ShardsDone, {**PARTS, "rows": [REF]}),
    (CHUNK, DocumentParsed, {**PARTS, "rows": REF, "diagnostics": REF, "row_count": 1,
                             "engine": "e"}),
    (PUBLISH, DocumentChunked, {"file_name": "a.md", "artefacts": {}, "chunk_count": 0,
                                "chunk_digest": ""}),
]  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with nats_server(tmp_path_factory.mktemp("nats")) as url:
        yield url


@pytest.fixture
async def settings(server: str) -> AsyncIterator[Settings]:
    """Of a bus of its own, with a catalog of its own."""
    prefix = f"t{uuid.uuid4().hex[:8]}"
    client = await nats.connect(server)
    await bootstrap(client.jetstream(timeout=30), prefix, ack_wait=30)
    await client.close()
    with fast_folder() as folder:
        yield Settings(
            data_dir=Path(folder), nats_url=server, prefix=prefix,
            catalog_url=await fresh_database(folder), _env_file=None,
        )  # type: ignore[call-arg]  # fmt: skip


async def running_job(deps: Deps) -> JobRecord:
    jobs = deps.stores.catalog.jobs
    admitted = await jobs.admit(Admission("acme", "a.md", IngestOptions(), document_id="d"))
    await jobs.source_stored(admitted.job.job_id, REF)
    [job] = await jobs.release(1, 1)
    return job


@pytest.mark.parametrize(
    ("consumer", "model", "fields"), WAITS, ids=[consumer.durable for consumer, _, _ in WAITS]
)
async def test_a_job_is_cancelled_in_every_stage(
    settings: Settings, consumer: Consumer, model: type[JobEvent], fields: dict[str, Any]
) -> None:
    begun, told = asyncio.Event(), asyncio.Event()

    async def works(_event: JobEvent, work: Work) -> None:
        begun.set()
        await work.cancelled.wait()
        told.set()
        work.check()

    gateway, stage = Service(Stage.GATEWAY, settings), Service(consumer.stage, settings)
    deps = Deps(gateway.bus, gateway.stores, settings, open_objects(settings.resolved_inbox_url()))
    gateway.hear(LEDGER, JobEvent, partial(handlers.on_event, deps), workers=4, advances=False)
    stage.hear(consumer, model, works)
    tasks = [asyncio.create_task(service.serve()) for service in (gateway, stage)]
    try:
        job = await running_job(deps)
        ids = {name: getattr(job, name) for name in ("namespace", "document_id", "revision")}
        event = model.model_validate({**ids, "job_id": job.job_id, **fields})
        await until(lambda: gateway.bus.nats.is_connected, what="the bus")
        await gateway.bus.announce(event)
        await asyncio.wait_for(begun.wait(), PATIENCE)
        assert await cancel_job(deps, "acme", job.job_id) is not None

        async def ended() -> bool:
            found = await deps.stores.catalog.jobs.get("acme", job.job_id)
            return found is not None and found.state == "cancelled"

        await until(ended, what="the end of the job")
        await asyncio.wait_for(told.wait(), PATIENCE)
    finally:
        for service in (gateway, stage):
            service.stopping.set()
        await asyncio.gather(*tasks)
