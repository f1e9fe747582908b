"""Collections of entries: sending records, searching them, and what they share."""

import uuid
from pathlib import Path
from urllib.parse import quote

from libs.client.calls import Call, as_model, space
from libs.client.upload import Upload
from libs.contracts.api.documents import Accepted
from libs.contracts.api.ingest import IngestOptions
from libs.contracts.entries import CollectionSettings, RecordRules
from libs.contracts.query.entries import EntrySearch, FoundEntries


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
