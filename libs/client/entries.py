"""Collections of entries: sending records, searching them, and what they share."""

import uuid
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from libs.client.calls import Call, as_model, space
from libs.client.connection import Connection
from libs.client.upload import Upload
from libs.contracts.api.documents import Accepted
from libs.contracts.api.ingest import IngestOptions
from libs.contracts.entries import CollectionSettings, RecordRules
from libs.contracts.query.entries import EntrySearch, FoundEntries

T = TypeVar("T")


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


class Entries:
    """Calls about entries of the synchronous client."""

    connection: Connection

    def _send(self, call: Call[T]) -> T:
        raise NotImplementedError

    def send_records(
        self,
        collection: str,
        path: Path,
        rules: RecordRules | None = None,
        *,
        wait_for_dense: bool = False,
    ) -> Accepted:
        """Send a file of entries (or, by the rules' kind, of sample questions); the job that is
        answered publishes them."""
        space, given = self.connection.namespace, rules or RecordRules()
        return self._send(
            send_records(space, collection, path, given, wait_for_dense=wait_for_dense)
        )

    def delete_entry(self, collection: str, entry_id: str) -> Accepted:
        """Take one entry out, with the collection's next revision."""
        return self._send(delete_entry(self.connection.namespace, collection, entry_id))

    def find_entries(self, collection: str, search: str | EntrySearch) -> FoundEntries:
        """The entries that everyday words mean."""
        asked = EntrySearch(query=search) if isinstance(search, str) else search
        return self._send(find_entries(self.connection.namespace, collection, asked))

    def collection(self, name: str) -> CollectionSettings:
        """What the entries of a collection share."""
        return self._send(collection(self.connection.namespace, name))

    def set_collection(self, name: str, settings: CollectionSettings) -> CollectionSettings:
        """Set what the entries of a collection share."""
        return self._send(set_collection(self.connection.namespace, name, settings))


class AsyncEntries:
    """Calls about entries of the asynchronous client; see `Entries`."""

    connection: Connection

    async def _send(self, call: Call[T]) -> T:
        raise NotImplementedError

    async def send_records(
        self,
        collection: str,
        path: Path,
        rules: RecordRules | None = None,
        *,
        wait_for_dense: bool = False,
    ) -> Accepted:
        """Send a file of entries, or of sample questions."""
        space, given = self.connection.namespace, rules or RecordRules()
        return await self._send(
            send_records(space, collection, path, given, wait_for_dense=wait_for_dense)
        )

    async def delete_entry(self, collection: str, entry_id: str) -> Accepted:
        """Take one entry out, with the collection's next revision."""
        return await self._send(delete_entry(self.connection.namespace, collection, entry_id))

    async def find_entries(self, collection: str, search: str | EntrySearch) -> FoundEntries:
        """The entries that everyday words mean."""
        asked = EntrySearch(query=search) if isinstance(search, str) else search
        return await self._send(find_entries(self.connection.namespace, collection, asked))

    async def collection(self, name: str) -> CollectionSettings:
        """What the entries of a collection share."""
        return await self._send(collection(self.connection.namespace, name))

    async def set_collection(self, name: str, settings: CollectionSettings) -> CollectionSettings:
        """Set what the entries of a collection share."""
        return await self._send(set_collection(self.connection.namespace, name, settings))
