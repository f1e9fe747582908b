"""Builders of catalog states, shared by the conformance suites."""

import contextlib
import hashlib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from libs.contracts.api.ingest import DocumentMetadata, IngestOptions
from libs.contracts.artefacts import Chunk, ChunkMetadata, NavSection
from libs.contracts.artefacts.chunk import chunk_id
from libs.contracts.events.base import ArtefactRef
from libs.runtime.catalog.documents import Flip, FlipOutcome
from libs.runtime.catalog.jobs import Admission, JobRecord, LedgerEntry
from libs.runtime.catalog.port import Catalog
from libs.runtime.catalog.sql import upgrade
from tests.support.folders import run_folder

NS = "acme"
OTHER = "globex"


def fast_folder() -> contextlib.AbstractContextManager[Path]:
    """A temporary folder, in memory where the system offers that."""
    return run_folder("catalog")


_empty: bytes | None = None


async def fresh_database(folder: Path) -> str:
    """The URL of a new catalog without rows; only the first one is migrated."""
    global _empty
    path = folder / "catalog.db"
    if _empty is None:
        await upgrade(f"sqlite:{path}")
        _empty = path.read_bytes()
    else:
        path.write_bytes(_empty)
    return f"sqlite:{path}"


def ref(text: str = "bytes") -> ArtefactRef:
    data = text.encode()
    return ArtefactRef(key=f"k/{text}", sha256=hashlib.sha256(data).hexdigest(), size=len(data))


def options(**metadata: Any) -> IngestOptions:
    return IngestOptions(metadata=DocumentMetadata(**metadata))


async def admitted(
    catalog: Catalog, document_id: str | None = None, namespace: str = NS, **changes: Any
) -> JobRecord:
    """A waiting job without a source."""
    fields: dict[str, Any] = {"file_name": "a.pdf", "options": IngestOptions(), **changes}
    admission = Admission(namespace=namespace, document_id=document_id, **fields)
    return (await catalog.jobs.admit(admission)).job


async def ready(
    catalog: Catalog, document_id: str | None = None, source: str = "bytes", **changes: Any
) -> JobRecord:
    """A waiting job that may be released."""
    job = await admitted(catalog, document_id, **changes)
    return await catalog.jobs.source_stored(job.job_id, ref(source))


async def running(catalog: Catalog, document_id: str | None = None, **changes: Any) -> JobRecord:
    """A running job; every other ready job of the catalog is running afterwards, too."""
    job = await ready(catalog, document_id, **changes)
    await catalog.jobs.release(1000, 1000)
    found = await catalog.jobs.get(job.namespace, job.job_id)
    assert found is not None
    assert found.state == "running"
    return found


def flip_of(job: JobRecord, **changes: Any) -> Flip:
    fields: dict[str, Any] = {
        "artefacts": {"chunks.json": ref("chunks")},
        "counts": {"chunks": 2},
        "format": "pdf",
        **changes,
    }
    return Flip(
        namespace=job.namespace,
        document_id=job.document_id,
        revision=job.revision,
        job_id=job.job_id,
        **fields,
    )


async def flipped(catalog: Catalog, job: JobRecord, **changes: Any) -> FlipOutcome:
    outcome, _ = await catalog.documents.flip(flip_of(job, **changes))
    return outcome


async def published(catalog: Catalog, document_id: str | None = None, **changes: Any) -> JobRecord:
    """A job that ended well: its revision is active."""
    flip = {key: changes.pop(key) for key in ("inferred", "dense_model") if key in changes}
    job = await running(catalog, document_id, **changes)
    assert await flipped(catalog, job, **flip) == "flipped"
    ended = await catalog.jobs.record(entry(job, "indexer.published", stage="indexer"))
    assert ended is not None
    assert ended.state == "published"
    return ended


def entry(job: JobRecord, event: str, stage: str | None = None, **changes: Any) -> LedgerEntry:
    fields: dict[str, Any] = {
        "event_id": f"{event}:{job.job_id}:{changes.get('attempt', 1)}",
        "occurred_at": job.created_at + timedelta(seconds=1.5),
        **changes,
    }
    return LedgerEntry(
        job_id=job.job_id, event=event, stage=stage or event.partition(".")[0], **fields
    )


def chunks(*texts: str, path: tuple[str, ...] = ("Part", "Section")) -> list[Chunk]:
    return [
        Chunk(
            chunk_id=chunk_id("text", text),
            type="text",
            content=text,
            path=list(path),
            order=order,
            metadata=ChunkMetadata(
                length=len(text),
                tokens=len(text.split()),
                content_hash=hashlib.sha256(text.encode()).hexdigest(),
            ),
        )
        for order, text in enumerate(texts)
    ]


def tree(*titles: str) -> NavSection:
    """A root with a chain of sections below it, and a sibling of the first."""
    below: list[NavSection] = []
    for level in range(len(titles), 0, -1):
        below = [
            NavSection(
                section_id=f"s{level}",
                title=titles[level - 1],
                path=list(titles[:level]),
                level=level,
                order=level,
                children=below,
            )
        ]
    last = NavSection(section_id="end", title="End", path=["End"], level=1, order=99)
    return NavSection(
        section_id="root", title="", path=[], level=0, order=0, children=[*below, last]
    )


def long_ago() -> datetime:
    return datetime.now(UTC) - timedelta(days=1)
