"""Chunked documents as the chunker leaves them, and dependencies over the fakes."""

from datetime import datetime
from typing import Any, cast

from libs.contracts.api.ingest import IngestOptions
from libs.contracts.events import ArtefactRef, DocumentChunked, DocumentPublished, ErasureRequested
from libs.runtime.artefacts import save_json
from libs.runtime.keys import attempt_key, source_key
from libs.runtime.work import Work
from services.chunker.cut import Sizes
from services.chunker.local import chunk_rows
from services.indexer.deps import Deps
from services.indexer.settings import Settings
from tests.support.fake_catalog import NOW
from tests.support.fakes import Crash, Crashing, World
from tests.support.rows import count_words, profile, rows

NS = "team"
TEXT = "The budget settlement covers hospitals, railways and harbours of every province."


def deps(world: World, crash: Crash | None = None, *, at: datetime = NOW, **settings: Any) -> Deps:
    bus = world.bus if crash is None else Crashing(world.bus, crash)
    known = Settings(_env_file=None, **settings)  # type: ignore[call-arg]
    return Deps(cast(Any, bus), world.stores(crash), str.split, known, lambda: at)


def work(event: Any) -> Work:
    return Work(event.job_id)


async def chunked(
    world: World,
    document_id: str = "doc-1",
    revision: int = 1,
    text: str = TEXT,
    *,
    wait_for_dense: bool = False,
) -> DocumentChunked:
    """An accepted revision whose artefacts lie under its job's attempt."""
    job_id = f"job-{document_id}-{revision}"
    world.documents.add(NS, document_id, revision, job_id)
    given = rows(
        *(r for i in range(3) for r in (
            ("heading", f"Part {i}", {"level": 1}),
            ("paragraph", f"{text} Part {i} of {revision}."),
        ))
    )  # fmt: skip
    made = chunk_rows(profile("a.md"), given, sizes=Sizes(), count_many=count_words)
    event = DocumentChunked(
        namespace=NS, document_id=document_id, revision=revision, job_id=job_id,
        file_name="a.md", artefacts={}, chunk_count=len(made.chunks.chunks),
        chunk_digest=made.manifest.chunk_digest,
        options=IngestOptions(wait_for_dense=wait_for_dense), occurred_at=NOW,
    )  # fmt: skip
    await world.objects.put(source_key(NS, document_id, revision, "a.md"), b"source")
    artefacts: dict[str, ArtefactRef] = {}
    for name, model in {
        **made.files(),
        "chunks.json": made.chunks,
        "profile.json": profile("a.md"),
    }.items():
        artefacts[name] = await save_json(cast(Any, world.objects), attempt_key(event, name), model)
    return event.model_copy(update={"artefacts": artefacts})


def published(event: DocumentChunked) -> DocumentPublished:
    return DocumentPublished(
        namespace=event.namespace, document_id=event.document_id, revision=event.revision,
        job_id=event.job_id, chunk_count=event.chunk_count, chunk_digest=event.chunk_digest,
        corpus_version=1, occurred_at=NOW,
    )  # fmt: skip


def erasure(document_id: str = "doc-1", revision: int = 1) -> ErasureRequested:
    return ErasureRequested(
        namespace=NS, document_id=document_id, revision=revision, job_id="era-1", occurred_at=NOW
    )


def said(world: World) -> list[str]:
    return [type(event).__name__ for event in world.bus.announced.values()]
