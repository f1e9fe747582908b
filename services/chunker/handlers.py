"""What the chunker does with what it hears."""

import asyncio
from dataclasses import dataclass
from typing import Any

from libs.contracts.artefacts.profile import Profile
from libs.contracts.artefacts.records import MergedEntries
from libs.contracts.artefacts.rows import Row
from libs.contracts.entries import EnrichStep, Entry, records_document
from libs.contracts.events import (
    ArtefactRef,
    DocumentChunked,
    DocumentParsed,
    EntriesDescribed,
    EntriesMerged,
)
from libs.contracts.query.entries import CostAnswer, CostQuery
from libs.runtime.artefacts import decode_rows, load_bytes, load_json, save_json, save_pieces
from libs.runtime.bus import Bus
from libs.runtime.catalog.documents import DocumentStore
from libs.runtime.keys import attempt_key
from libs.runtime.objects.port import ObjectStore
from libs.runtime.work import Work
from services.chunker.artefacts import Artefacts, Made, build_artefacts, build_records
from services.chunker.cut import Sizes
from services.chunker.enrich import Enricher
from services.chunker.records import (
    merge,
    not_enriched,
    noted,
    published_of,
    unnamed,
    wanted_of,
)
from services.chunker.summaries import Summariser
from services.chunker.text import CountMany

COUNT_BATCH = 1024
REVIEW = "review.json"


@dataclass(frozen=True)
class Deps:
    """What handlers work with."""

    bus: Bus
    objects: ObjectStore
    count_many: CountMany
    sizes: Sizes
    documents: DocumentStore | None = None
    """Where what is published of a collection is found; only documents of records need it."""
    enricher: Enricher | None = None
    """Models at work on entries; None where none may be."""
    summariser: Summariser | None = None
    """A model at work on sections; None where none may be."""

    async def close(self) -> None:
        """Release the connections of models."""
        for one in (self.enricher, self.summariser):
            if one is not None:
                await one.close()


async def on_parsed(deps: Deps, event: DocumentParsed, work: Work) -> None:
    """Cut the rows of a document into chunks, store what it is found by, and say so; records that
    are to be enriched first are merged, stored, and said to be so."""
    profile = await load_json(deps.objects, event.profile, Profile)
    rows = await asyncio.to_thread(decode_rows, await load_bytes(deps.objects, event.rows))
    work.check()
    rules = profile.records
    if rules is None:
        built = await asyncio.to_thread(_build, deps, event, profile, rows, work)
        del rows
        if deps.summariser is not None:
            built, findings = await deps.summariser.summarised(event, built, work)
            told = await noted(deps.objects, event, findings, "summarised/diagnostics.json")
            event = event.model_copy(update={"diagnostics": told})
        await _announce(deps, event, built, work)
        return
    uploaded = await merge(deps.objects, deps.documents, event, rules, rows)
    union, report = uploaded.union, uploaded.report
    changes: dict[str, Any] = {
        "diagnostics": await noted(deps.objects, event, unnamed(union)),
        "assets": dict(uploaded.pictures),
    }
    if rules.review and rules.kind == "entries":
        key = attempt_key(event, REVIEW)
        changes["assets"][REVIEW] = await save_json(deps.objects, key, report)
    event = event.model_copy(update=changes)
    wanted = wanted_of(rules, union, report, rows)
    if not wanted:
        built = await asyncio.to_thread(_build_records, deps, event, profile, union.entries, work)
        await _announce(deps, event, built, work)
        return
    entries = MergedEntries(entries=union.entries, wanted=wanted)
    stored = await save_json(deps.objects, attempt_key(event, "merged/entries.json"), entries)
    await deps.bus.announce(EntriesMerged(**_fields(event), entries=stored))


async def on_merged(deps: Deps, event: EntriesMerged, work: Work) -> None:
    """Have the wanted entries described by a model, and say so."""
    stored = await _step(deps, event, "describe", work)
    await deps.bus.announce(EntriesDescribed(**{**_fields(event), "entries": stored}))


async def on_described(deps: Deps, event: EntriesDescribed, work: Work) -> None:
    """Have the wanted entries told from their siblings, then cut as `on_parsed` does."""
    stored = await _step(deps, event, "context", work)
    entries = await load_json(deps.objects, stored, MergedEntries)
    profile = await load_json(deps.objects, event.profile, Profile)
    steps = profile.records.enrich if profile.records else []
    enricher = deps.enricher
    missing = [s for s in steps if enricher is None or enricher.model_of(s) is None]
    findings = not_enriched(entries, missing)
    diagnostics = await noted(deps.objects, event, findings, "enriched/diagnostics.json")
    told = event.model_copy(update={"diagnostics": diagnostics})
    built = await asyncio.to_thread(_build_records, deps, told, profile, entries.entries, work)
    await _announce(deps, told, built, work)


async def on_cost(deps: Deps, query: CostQuery) -> CostAnswer:
    """What enriching published entries would cost."""
    documents, enricher = deps.documents, deps.enricher
    assert documents is not None
    assert enricher is not None
    document_id = records_document("entries", query.collection)
    published = await published_of(deps.objects, documents, query.namespace, document_id)
    if published is None:
        return CostAnswer(known=False)
    entries = published.entries
    ids = query.ids or [entry.id for entry in entries]
    steps = [await enricher.cost(step, entries, ids, deps.count_many) for step in query.steps]
    chosen = {entry.id for entry in entries} & set(ids)
    return CostAnswer(known=True, entries=len(chosen), steps=steps)


async def _step(deps: Deps, event: EntriesMerged, step: EnrichStep, work: Work) -> ArtefactRef:
    """The entries after a step, stored; as they were where the step is not wanted."""
    profile = await load_json(deps.objects, event.profile, Profile)
    wanted = profile.records is not None and step in profile.records.enrich
    if deps.enricher is None or not wanted:
        return event.entries
    given = await load_json(deps.objects, event.entries, MergedEntries)
    made = await deps.enricher.enriched(
        event.namespace, event.document_id, step, given, work, event.assets
    )
    return await save_json(deps.objects, attempt_key(event, f"{step}/entries.json"), made)


def _fields(event: DocumentParsed) -> dict[str, Any]:
    """What a later event says of the same upload, a moment of its own apart."""
    return {
        name: getattr(event, name) for name in type(event).model_fields if name != "occurred_at"
    }


async def _announce(deps: Deps, event: DocumentParsed, built: Artefacts, work: Work) -> None:
    """Store the artefacts and say that the document is chunked."""
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
    hashes = {name: ref.sha256 for name, ref in event.assets.items()}
    return build_artefacts(profile, rows, _made(deps, event), _counting(deps, work), hashes)


def _build_records(
    deps: Deps, event: DocumentParsed, profile: Profile, entries: list[Entry], work: Work
) -> Artefacts:
    return build_records(profile, entries, _made(deps, event), _counting(deps, work))


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
