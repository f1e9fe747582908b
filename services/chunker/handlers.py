"""What the chunker does with what it hears."""

import asyncio
from dataclasses import dataclass

from libs.contracts.artefacts.diagnostics import Diagnostics, Finding
from libs.contracts.artefacts.profile import Profile
from libs.contracts.artefacts.rows import Row
from libs.contracts.entries import Entry, RecordRules
from libs.contracts.events import ArtefactRef, DocumentChunked, DocumentParsed
from libs.contracts.faults import Code, WorldFault
from libs.runtime.artefacts import (
    decode_rows,
    load_bytes,
    load_chunks,
    load_json,
    save_json,
    save_pieces,
)
from libs.runtime.bus import Bus
from libs.runtime.catalog.documents import DocumentStore
from libs.runtime.keys import attempt_key
from libs.runtime.objects.port import ObjectStore
from libs.runtime.work import Work
from services.chunker.artefacts import Artefacts, Made, build_artefacts, build_records
from services.chunker.cut import Sizes
from services.chunker.entries import Merged, merged
from services.chunker.text import CountMany

COUNT_BATCH = 1024
UNFINISHED = ("accepted", "staged")


@dataclass(frozen=True)
class Deps:
    """What handlers work with."""

    bus: Bus
    objects: ObjectStore
    count_many: CountMany
    sizes: Sizes
    documents: DocumentStore | None = None
    """Where what is published of a collection is found; only documents of records need it."""


async def on_parsed(deps: Deps, event: DocumentParsed, work: Work) -> None:
    """Cut the rows of a document into chunks, store what it is found by, and say so."""
    profile = await load_json(deps.objects, event.profile, Profile)
    rows = await asyncio.to_thread(decode_rows, await load_bytes(deps.objects, event.rows))
    work.check()
    diagnostics = event.diagnostics
    if profile.records is None:
        built = await asyncio.to_thread(_build, deps, event, profile, rows, work)
    else:
        union = await _merged(deps, event, profile.records, rows)
        built = await asyncio.to_thread(_build_records, deps, event, profile, union, work)
        diagnostics = await _noted(deps, event, union)
    del rows
    artefacts = {
        "profile.json": event.profile,
        "rows.jsonl.zst": event.rows,
        "diagnostics.json": diagnostics,
        **event.assets,
    }
    work.check()
    chunks = save_pieces(deps.objects, attempt_key(event, "chunks.json"), built.chunk_pieces)
    files = built.files()
    saved = await asyncio.gather(
        chunks, *(save_json(deps.objects, attempt_key(event, n), m) for n, m in files.items())
    )
    artefacts |= zip(("chunks.json", *files), saved, strict=True)
    await deps.bus.announce(_chunked(event, built, artefacts))


def _build(
    deps: Deps, event: DocumentParsed, profile: Profile, rows: list[Row], work: Work
) -> Artefacts:
    hashes = {name: ref.sha256 for name, ref in event.assets.items()}
    return build_artefacts(profile, rows, _made(deps, event), _counting(deps, work), hashes)


def _build_records(
    deps: Deps, event: DocumentParsed, profile: Profile, union: Merged, work: Work
) -> Artefacts:
    return build_records(profile, union.entries, _made(deps, event), _counting(deps, work))


def _made(deps: Deps, event: DocumentParsed) -> Made:
    return Made(event.document_id, event.revision, event.engine, event.versions, deps.sizes)


def _counting(deps: Deps, work: Work) -> CountMany:
    """The CPU work is off the event loop: a cancel ends it between two batches of texts."""

    def count_many(texts: list[str]) -> list[int]:
        counts: list[int] = []
        for start in range(0, len(texts), COUNT_BATCH):
            work.check()
            counts += deps.count_many(texts[start : start + COUNT_BATCH])
        return counts

    return count_many


async def _merged(deps: Deps, event: DocumentParsed, rules: RecordRules, rows: list[Row]) -> Merged:
    """The upload over what is published, once every earlier upload has come to its end: each
    builds on the one before it."""
    given = [row.entry for row in rows if row.entry is not None]
    if deps.documents is None:
        return merged([], given, rules)
    revisions = await deps.documents.revisions(event.namespace, event.document_id)
    if any(r.revision < event.revision and r.state in UNFINISHED for r in revisions):
        raise WorldFault(
            Code.OVERLOADED, "an earlier upload of these entries is at work", retry_after=1.0
        )
    active = await deps.documents.revision(event.namespace, event.document_id)
    published: list[Entry] = []
    if active is not None and rules.mode == "merge":
        chunks = await load_chunks(deps.objects, active.artefacts["chunks.json"])
        published = [c.metadata.entry for c in chunks if c.metadata.entry is not None]
    return merged(published, given, rules)


async def _noted(deps: Deps, event: DocumentParsed, union: Merged) -> ArtefactRef:
    """The diagnostics, with what merging noticed."""
    if not union.unnamed:
        return event.diagnostics
    known = await load_json(deps.objects, event.diagnostics, Diagnostics)
    finding = Finding(
        code="entry_unknown",
        detail="records without a name are for entries that are not published: left out",
        severity="warning",
        count=union.unnamed,
    )
    more = known.model_copy(update={"findings": [*known.findings, finding]})
    return await save_json(deps.objects, attempt_key(event, "merged/diagnostics.json"), more)


def _chunked(
    event: DocumentParsed, built: Artefacts, artefacts: dict[str, ArtefactRef]
) -> DocumentChunked:
    return DocumentChunked(
        namespace=event.namespace,
        document_id=event.document_id,
        revision=event.revision,
        job_id=event.job_id,
        attempt=event.attempt,
        file_name=event.file_name,
        artefacts=artefacts,
        chunk_count=built.manifest.statistics.chunks,
        chunk_digest=built.manifest.chunk_digest,
        options=event.options,
    )
