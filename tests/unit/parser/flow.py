"""Profiler and parser driven by hand: real objects, real sandboxes, a bus that only records."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from libs.contracts.artefacts.diagnostics import Diagnostics
from libs.contracts.artefacts.profile import Profile
from libs.contracts.artefacts.rows import Row
from libs.contracts.events import (
    ArtefactRef,
    DocumentAccepted,
    DocumentParsed,
    DocumentSharded,
    JobEvent,
    ShardParsed,
    ShardsDone,
)
from libs.runtime.artefacts import load_json, load_rows, reference_to
from libs.runtime.objects.file import FileObjectStore
from libs.runtime.routes import message_id
from libs.runtime.work import Work
from services.parser import handlers as parser
from services.parser.attempts import make_sandbox as parser_sandbox
from services.parser.helped import open_models
from services.parser.settings import Settings as ParserSettings
from services.profiler import handlers as profiler
from services.profiler.look import make_sandbox as profiler_sandbox
from services.profiler.settings import Settings as ProfilerSettings

E = TypeVar("E", bound=JobEvent)


class FakeJobs:
    """Shards and failures of jobs, in memory."""

    def __init__(self) -> None:
        self.shards: dict[str, dict[int, tuple[ArtefactRef, dict[str, Any]]]] = {}
        self.failures: dict[tuple[str, str], int] = {}

    async def shard_done(
        self, job_id: str, shard: int, shards: int, rows: ArtefactRef, details: dict[str, Any]
    ) -> list[tuple[ArtefactRef, dict[str, Any]]]:
        known = self.shards.setdefault(job_id, {})
        known[shard] = (rows, details)
        return [known[n] for n in sorted(known)]

    async def failure(self, task: str, kind: str) -> int:
        self.failures[task, kind] = self.failures.get((task, kind), 0) + 1
        return self.failures[task, kind]


class FakeStores:
    def __init__(self, root: Path) -> None:
        self.objects = FileObjectStore(root)
        self.jobs = FakeJobs()

    @property
    def catalog(self) -> "FakeStores":
        return self


@dataclass
class FakeBus:
    """Keeps what was announced; an event with a known message id is dropped, as by the server."""

    queue: deque[JobEvent] = field(default_factory=deque)
    said: list[JobEvent] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)

    async def announce(self, event: JobEvent) -> bool:
        if message_id(event) in self.ids:
            return False
        self.ids.add(message_id(event))
        self.said.append(event)
        self.queue.append(event)
        return True

    def of(self, kind: type[E]) -> list[E]:
        return [e for e in self.said if isinstance(e, kind)]


@dataclass
class Flow:
    """The two services over one folder."""

    stores: FakeStores
    bus: FakeBus
    profiler: profiler.Deps
    parser: parser.Deps

    async def accept(self, name: str, data: bytes, job: str = "job-1", **more: Any) -> None:
        key = f"default/doc-1/1/source/{name}"
        info = await self.stores.objects.put(key, data)
        await self.bus.announce(
            DocumentAccepted(
                namespace="default", document_id="doc-1", revision=1, job_id=job,
                source=reference_to(info), file_name=name, **more,
            )
        )  # fmt: skip

    async def handle(self, event: JobEvent, work: Work | None = None) -> None:
        work = work or Work(event.job_id)
        match event:
            case DocumentAccepted():
                await profiler.on_accepted(self.profiler, event, work)
            case ShardParsed():
                await profiler.on_shard_parsed(self.profiler, event, work)
            case DocumentSharded():
                await parser.on_shard(self.parser, event, work)
            case ShardsDone():
                await parser.on_shards_done(self.parser, event, work)

    async def settle(self) -> DocumentParsed:
        """Handle everything that is waiting, and what comes of it; how it ended."""
        while self.bus.queue:
            await self.handle(self.bus.queue.popleft())
        return self.bus.of(DocumentParsed)[-1]

    async def rows(self, ref: ArtefactRef) -> list[Row]:
        return await load_rows(self.stores.objects, ref)

    async def profile(self, ref: ArtefactRef) -> Profile:
        return await load_json(self.stores.objects, ref, Profile)

    async def diagnostics(self, ref: ArtefactRef) -> Diagnostics:
        return await load_json(self.stores.objects, ref, Diagnostics)


@asynccontextmanager
async def started(root: Path, **settings: Any) -> AsyncIterator[Flow]:
    """Both sandboxes up; `settings` are those of both services."""
    shared = {"data_dir": root, "_env_file": None}
    looks = ProfilerSettings(**shared, **_own(ProfilerSettings, settings))
    parses = ParserSettings(**shared, **_own(ParserSettings, settings))
    models = open_models(parses)
    stores, bus = FakeStores(root / "objects"), FakeBus()
    first, second = profiler_sandbox(looks), parser_sandbox(parses)
    await asyncio.gather(first.start(), second.start())
    untyped: Any = bus
    places: Any = stores
    try:
        yield Flow(
            stores,
            bus,
            profiler.Deps(untyped, places, first, looks.bounds(), looks.shard_window),
            parser.Deps(untyped, places, second, asyncio.Semaphore(1), models),
        )
    finally:
        await asyncio.gather(first.close(), second.close(), models.close())


def _own(kind: type[Any], settings: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in settings.items() if k in kind.model_fields}
