"""The services under test: a stack of their own, filled and asked through the API alone."""

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from deploy.local.ports import free_port
from eval.retrieval.model import EvalSet, Locate
from eval.retrieval.packing import Part, pack
from eval.retrieval.pages import places_on_pages
from libs.client.asynchronous import AsyncClient
from libs.client.errors import ApiError
from libs.contracts.api.ingest import IngestOptions
from libs.contracts.api.search import Evidence
from tests.support.stack import KEY, Stack, running_stack

INGEST_SECONDS = 3_000.0
CONFLICT = 409


class IngestFailed(Exception):
    """A document of a set was not published; the text says which and why."""


@dataclass(frozen=True)
class Corpus:
    """What of a set lies in the services, and where its evidence stands; how long it took to
    publish, None when it lay there before."""

    documents: int
    chunks: int
    seconds: float | None
    locate: Locate


@contextmanager
def stack(data: Path | None, environment: dict[str, str]) -> Iterator[Stack]:
    """A running stack, in a folder that is removed afterwards unless `data` is given: there
    documents of earlier runs are still published."""
    if data is None:
        with running_stack(**environment) as running:
            yield running
        return
    data.mkdir(parents=True, exist_ok=True)
    kept = Stack(data.absolute(), free_port(), environment)
    try:
        kept.start()
        yield kept
    finally:
        if kept.process is not None and kept.process.poll() is None:
            kept.stop()


@asynccontextmanager
async def client_of(running: Stack, namespace: str) -> AsyncIterator[AsyncClient]:
    """A client within a namespace of the stack, which is made when it is new."""
    async with AsyncClient(running.url, KEY, namespace, timeout=90) as client:
        try:
            await client.create_namespace(namespace)
        except ApiError as error:
            if error.problem.status != CONFLICT:
                raise
        yield client


async def ingest(client: AsyncClient, chosen: EvalSet) -> Corpus:
    """Publish a set, its vectors included."""
    started = time.perf_counter()
    parts = [] if chosen.files else pack(chosen.passages)
    with tempfile.TemporaryDirectory(prefix="groundwire-eval-") as folder:
        for part in parts:
            (Path(folder) / part.file_name).write_bytes(part.fragments())
        sources = [Path(folder) / part.file_name for part in parts] + list(chosen.files)
        published = await asyncio.gather(*(_publish(client, source) for source in sources))
    fresh = any(new for _, new in published)
    return Corpus(
        documents=len(sources),
        chunks=sum(chunks for chunks, _ in published),
        seconds=time.perf_counter() - started if fresh else None,
        locate=_locate(chosen, parts),
    )


async def _publish(client: AsyncClient, source: Path) -> tuple[int, bool]:
    """How many chunks it has, once it is published, and whether that was new work."""
    accepted = await client.ingest(
        source, document_id=source.stem, options=IngestOptions(wait_for_dense=True)
    )
    job = await client.wait(accepted.job_id, INGEST_SECONDS)
    if job.state != "published":
        detail = job.error.detail if job.error else ""
        raise IngestFailed(f"{source.name}: {job.state} at {job.stage}: {detail}")
    document = await client.document(accepted.document_id)
    return document.counts.get("chunks", 0), accepted.outcome != "unchanged"


def _locate(chosen: EvalSet, parts: list[Part]) -> Locate:
    if chosen.by_page:
        return places_on_pages
    return passage_places(parts) if parts else section_place


def passage_places(parts: list[Part]) -> Locate:
    """Evidence is in the passage of its page."""
    places = {
        (part.document_id, page): passage.passage_id
        for part in parts
        for page, passage in enumerate(part.passages, 1)
    }

    def locate(evidence: Evidence) -> tuple[str, ...]:
        pages = (places.get((evidence.document_id, page)) for page in evidence.page_numbers)
        return tuple(place for place in pages if place is not None)[:1]

    return locate


def section_place(evidence: Evidence) -> tuple[str]:
    """Evidence is in its file's section, written `file#heading`; before the first heading in
    the file."""
    if not evidence.section_path:
        return (evidence.source_file_name,)
    return (f"{evidence.source_file_name}#{evidence.section_path[-1]}",)
