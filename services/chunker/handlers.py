"""What the chunker does with what it hears."""

import asyncio
from dataclasses import dataclass

from libs.contracts.artefacts.profile import Profile
from libs.contracts.artefacts.rows import Row
from libs.contracts.events import ArtefactRef, DocumentChunked, DocumentParsed
from libs.runtime.artefacts import decode_rows, load_bytes, load_json, save_json, save_pieces
from libs.runtime.bus import Bus
from libs.runtime.keys import attempt_key
from libs.runtime.objects.port import ObjectStore
from libs.runtime.work import Work
from services.chunker.artefacts import Artefacts, Made, build_artefacts
from services.chunker.cut import Sizes
from services.chunker.text import CountMany

COUNT_BATCH = 1024


@dataclass(frozen=True)
class Deps:
    """What handlers work with."""

    bus: Bus
    objects: ObjectStore
    count_many: CountMany
    sizes: Sizes


async def on_parsed(deps: Deps, event: DocumentParsed, work: Work) -> None:
    """Cut the rows of a document into chunks, store what it is found by, and say so."""
    profile = await load_json(deps.objects, event.profile, Profile)
    rows = await asyncio.to_thread(decode_rows, await load_bytes(deps.objects, event.rows))
    work.check()
    built = await asyncio.to_thread(_build, deps, event, profile, rows, work)
    del rows
    artefacts = {
        "profile.json": event.profile,
        "rows.jsonl.zst": event.rows,
        "diagnostics.json": event.diagnostics,
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
    """The CPU work, off the event loop: a cancel ends it between two batches of texts."""

    def count_many(texts: list[str]) -> list[int]:
        counts: list[int] = []
        for start in range(0, len(texts), COUNT_BATCH):
            work.check()
            counts += deps.count_many(texts[start : start + COUNT_BATCH])
        return counts

    made = Made(event.document_id, event.revision, event.engine, event.versions, deps.sizes)
    hashes = {name: ref.sha256 for name, ref in event.assets.items()}
    return build_artefacts(profile, rows, made, count_many, hashes)


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
