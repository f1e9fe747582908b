"""Collections of entries: sending records, searching them, and what they share."""

import uuid
from pathlib import Path
from urllib.parse import quote

from libs.client.calls import Call, as_model, given, space
from libs.client.upload import Upload
from libs.contracts.api.documents import Accepted, Page
from libs.contracts.api.ingest import IngestOptions
from libs.contracts.artefacts.records import ReviewReport
from libs.contracts.entries import CollectionSettings, CollectionView, RecordRules
from libs.contracts.query.entries import (
    Enriched,
    EnrichRequest,
    EntrySearch,
    FoundEntries,
    ReviewAccepted,
)
from libs.contracts.review import ReviewLanguage


def send_records(
    namespace: str, collection: str, path: Path, rules: RecordRules, *, wait_for_dense: bool
) -> Call[Accepted]:
    """Send a file of entries, or of sample questions, as the rules say."""
    options = IngestOptions(records=rules, wait_for_dense=wait_for_dense)
    kind = "entries" if rules.kind == "entries" else "queries"
    return Call(
        "POST",
        space(namespace, "collections", collection, kind),
        as_model(Accepted),
        headers={"Idempotency-Key": uuid.uuid4().hex},
        upload=Upload(path, path.name, {"options": options.model_dump_json(exclude_defaults=True)}),
    )


def delete_entry(namespace: str, collection: str, entry_id: str) -> Call[Accepted]:
    """Take one entry out."""
    path = space(namespace, "collections", collection, "entries")
    return Call("DELETE", f"{path}/{quote(entry_id, safe='')}", as_model(Accepted))


def find_entries(namespace: str, collection: str, search: EntrySearch) -> Call[FoundEntries]:
    """Search the entries of a collection."""
    path = space(namespace, "collections", collection, "search")
    return Call("POST", path, as_model(FoundEntries), json=search.model_dump(mode="json"))


def collection(namespace: str, name: str) -> Call[CollectionSettings]:
    """What the entries of a collection share."""
    return Call("GET", space(namespace, "collections", name), as_model(CollectionSettings))


def set_collection(
    namespace: str, name: str, settings: CollectionSettings
) -> Call[CollectionSettings]:
    """Set what the entries of a collection share."""
    path, body = space(namespace, "collections", name), settings.model_dump(mode="json")
    return Call("PUT", path, as_model(CollectionSettings), json=body)


def collections(namespace: str) -> Call[Page[str]]:
    """The collections that have published entries."""
    return Call("GET", space(namespace, "collections"), as_model(Page[str]))


def overview(namespace: str, name: str) -> Call[CollectionView]:
    """What is published of a collection."""
    return Call("GET", space(namespace, "collections", name, "overview"), as_model(CollectionView))


def enrich(namespace: str, name: str, request: EnrichRequest) -> Call[Enriched]:
    """What enriching would cost, or the job that does it."""
    path, body = space(namespace, "collections", name, "enrich"), request.model_dump(mode="json")
    return Call("POST", path, as_model(Enriched), json=body, repeatable=request.dry_run)


def export_review(namespace: str, name: str, by: str, language: ReviewLanguage) -> Call[bytes]:
    """The workbook of a review."""
    path = space(namespace, "collections", name, "review.xlsx")
    return Call("GET", path, lambda response: response.content, given(by=by, lang=language))


def send_review(namespace: str, name: str, path: Path) -> Call[ReviewAccepted]:
    """Send the edited workbook of a review."""
    return Call(
        "POST",
        space(namespace, "collections", name, "review"),
        as_model(ReviewAccepted),
        headers={"Idempotency-Key": uuid.uuid4().hex},
        upload=Upload(path, path.name),
    )


def review_report(namespace: str, name: str) -> Call[ReviewReport]:
    """What the review that made the active revision changed."""
    return Call("GET", space(namespace, "collections", name, "review"), as_model(ReviewReport))
