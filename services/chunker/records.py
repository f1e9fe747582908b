"""Records on their way: merged with what is published, enriched step by step, noted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from libs.contracts.artefacts.diagnostics import Diagnostics, Finding
from libs.contracts.artefacts.records import MergedEntries, QuestionChange, ReviewReport
from libs.contracts.artefacts.rows import Row
from libs.contracts.entries import EnrichStep, Entry, RecordRules, Review
from libs.contracts.events import ArtefactRef, DocumentParsed
from libs.contracts.faults import Code, WorldFault
from libs.runtime.artefacts import load_chunks, load_json, save_json
from libs.runtime.catalog.documents import DocumentStore
from libs.runtime.keys import attempt_key
from libs.runtime.objects.port import ObjectStore
from services.chunker.entries import Merged, merged

UNFINISHED = ("accepted", "staged")
_NOT_DONE: Mapping[str, str] = {
    "describe": "entries whose description the model did not give in a usable form",
    "context": "entries that the model did not tell from their siblings",
}


@dataclass(frozen=True)
class Published:
    """The published records of a document, and the artefacts beside them."""

    entries: list[Entry]
    artefacts: Mapping[str, ArtefactRef]


@dataclass(frozen=True)
class Uploaded:
    """An upload over what is published: all records, what a review changed, and where the
    pictures are that the records name."""

    union: Merged
    report: ReviewReport
    pictures: dict[str, ArtefactRef]


async def published_of(
    objects: ObjectStore, documents: DocumentStore, namespace: str, document_id: str
) -> Published | None:
    """What is published of a document of records; None when nothing is."""
    active = await documents.revision(namespace, document_id)
    if active is None:
        return None
    chunks = await load_chunks(objects, active.artefacts["chunks.json"])
    entries = [c.metadata.entry for c in chunks if c.metadata.entry is not None]
    return Published(entries, active.artefacts)


async def merge(
    objects: ObjectStore,
    documents: DocumentStore | None,
    event: DocumentParsed,
    rules: RecordRules,
    rows: Sequence[Row],
) -> Uploaded:
    """The upload over what is published, once every earlier upload has come to its end: each
    builds on the one before it."""
    given = [row.entry for row in rows if row.entry is not None]
    if documents is None:
        union = merged([], given, rules)
        return Uploaded(union, ReviewReport(), _pictures(union.entries, event.assets))
    revisions = await documents.revisions(event.namespace, event.document_id)
    if any(r.revision < event.revision and r.state in UNFINISHED for r in revisions):
        raise WorldFault(
            Code.OVERLOADED, "an earlier upload of these entries is at work", retry_after=1.0
        )
    found = None
    if rules.mode == "merge":
        found = await published_of(objects, documents, event.namespace, event.document_id)
    known = found or Published([], {})
    union = merged(known.entries, given, rules)
    pictures = _pictures(union.entries, {**known.artefacts, **event.assets})
    return Uploaded(union, review_of(known.entries, given), pictures)


def review_of(published: Sequence[Entry], given: Sequence[Entry]) -> ReviewReport:
    """What the given records change in published ones, as reviewers see it."""
    before = {entry.id: entry for entry in published}
    added: list[QuestionChange] = []
    removed: list[QuestionChange] = []
    keywords: list[str] = []
    feedback: list[str] = []
    for entry in given:
        old = before.get(entry.id)
        if old is None:
            continue
        if set(entry.keywords) - set(old.keywords):
            keywords.append(entry.id)
        if entry.review is None:
            continue
        known = set(old.questions())
        added += [_change(entry, q) for q in entry.review.added if q not in known]
        removed += [_change(entry, q) for q in entry.review.struck if q in known]
        said = entry.review.feedback
        if said and said != (old.review or Review()).feedback:
            feedback.append(entry.id)
    unknown = sorted({entry.id for entry in given if entry.id not in before})
    return ReviewReport(
        added=added, removed=removed, keywords=keywords, feedback=feedback, unknown=unknown
    )


def wanted_of(
    rules: RecordRules, union: Merged, report: ReviewReport, rows: Sequence[Row]
) -> list[str]:
    """The ids that are to be enriched: those with new feedback in a review, else all that the
    upload names."""
    if rules.kind != "entries" or not rules.enrich:
        return []
    known = {entry.id for entry in union.entries}
    named = report.feedback if rules.review else [r.entry.id for r in rows if r.entry is not None]
    return [one for one in dict.fromkeys(named) if one in known]


async def noted(
    objects: ObjectStore,
    event: DocumentParsed,
    findings: Sequence[Finding],
    name: str = "merged/diagnostics.json",
) -> ArtefactRef:
    """The diagnostics with these findings."""
    if not findings:
        return event.diagnostics
    known = await load_json(objects, event.diagnostics, Diagnostics)
    more = known.model_copy(update={"findings": [*known.findings, *findings]})
    return await save_json(objects, attempt_key(event, name), more)


def unnamed(union: Merged) -> list[Finding]:
    """What merging noticed."""
    if not union.unnamed:
        return []
    return [
        Finding(
            code="entry_unknown",
            detail="records without a name are for entries that are not published: left out",
            severity="warning",
            count=union.unnamed,
        )
    ]


def not_enriched(given: MergedEntries, missing: Sequence[EnrichStep]) -> list[Finding]:
    """What the steps could not do: entries without a usable answer, steps without a model."""
    found = [
        Finding(code="entry_not_enriched", detail=_NOT_DONE[step], severity="warning", count=count)
        for step, count in given.failed.items()
        if step in _NOT_DONE
    ]
    found += [
        Finding(
            code="model_not_configured",
            detail=f"no model is configured for the step {step}: rules wrote what they could",
            severity="info",
        )
        for step in missing
    ]
    if given.unseen:
        found.append(
            Finding(
                code="entry_picture_unseen",
                detail="entries that were described without their picture: the model took none",
                severity="warning",
                count=given.unseen,
            )
        )
    return found


def _pictures(
    entries: Iterable[Entry], stored: Mapping[str, ArtefactRef]
) -> dict[str, ArtefactRef]:
    """The pictures that entries name. One of an earlier revision lies there still, and is copied
    when this one is published."""
    names = {entry.image for entry in entries}
    return {name: reference for name, reference in stored.items() if name in names}


def _change(entry: Entry, question: str) -> QuestionChange:
    return QuestionChange(id=entry.id, question=question)
