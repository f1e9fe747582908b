"""Writes to OpenSearch: bulks whose every item is looked at, and refreshes that are shared."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import orjson

from libs.contracts.faults import Code, WorldFault
from libs.runtime.gathering import Gathering
from libs.runtime.index import opensearch_queries as queries
from libs.runtime.index.opensearch_client import (
    WRITE_SECONDS,
    Address,
    away,
    error_type,
    faults,
    search,
)
from libs.runtime.index.opensearch_mappings import identity_of
from libs.runtime.index.opensearch_refresh import SharedRefresh

if TYPE_CHECKING:
    from opensearchpy import AsyncOpenSearch

AT_ONCE = 16
"""Revisions that are written together."""

BULK_BYTES = 4 << 20
BUSY_DELAYS = (0.2, 0.5, 1.0, 2.0)
PURGE_SECONDS = 600.0
_TURNS = 3
_PAGE = 10_000
_BUSY = 429
_ABSENT = 404

Operation = tuple[str, bytes]
Sources = Mapping[str, dict[str, Any]]
Found = dict[str, str | None]
"""Ids of documents, each with its chunk's type."""


@dataclass(frozen=True)
class Wanted:
    """What a revision shall hold, by id; `unseen` as in the port's `write`."""

    namespace: str
    revn: int
    sources: Sources
    unseen: bool = False


class OpenSearchWriter:
    """Makes revisions hold exactly what they shall, in any of our indices."""

    def __init__(self, client: "AsyncOpenSearch", address: Address) -> None:
        self._client = client
        self._address = address
        self._making = asyncio.Lock()
        self._known: set[str] = set()
        self._refreshes: dict[str, SharedRefresh] = {}
        self._writes: dict[str, Gathering[Wanted, Found | None]] = {}

    async def ensure(self, alias: str, body: dict[str, Any], version: int) -> None:
        """Make the index of that name unless it is there, and wait until it can be used."""
        async with self._making:
            if alias in self._known:
                return
            indices = self._client.indices
            with faults(self._address):
                if not await indices.exists_alias(name=alias, request_timeout=WRITE_SECONDS):
                    # another process may be faster: then this one is refused
                    await indices.create(
                        index=f"{alias}-{version}",
                        body=body,
                        ignore=400,
                        request_timeout=WRITE_SECONDS,
                    )
                if not await indices.exists_alias(name=alias, request_timeout=WRITE_SECONDS):
                    raise RuntimeError(f"{self._address} did not make the index {alias}-{version}")
                await self._client.cluster.health(
                    index=alias, wait_for_status="yellow", request_timeout=WRITE_SECONDS
                )
            self._known.add(alias)

    async def replace(self, alias: str, wanted: Wanted) -> Found:
        """Make the revision's documents exactly these; they are found on return. Returns what
        the index holds.

        What it held before goes in the same refresh, or in the next when it is unseen. Looks
        afterwards whether the index holds what it shall: a writer that was killed may have
        left documents that no refresh had shown yet. Revisions that come meanwhile go together:
        one bulk, one refresh and one look for all.
        """
        if alias not in self._writes:
            self._writes[alias] = Gathering(partial(self._replace_all, alias), AT_ONCE)
        found = await self._writes[alias].whole(wanted)
        if found is None:
            detail = f"{self._address} did not keep revision {wanted.revn} as it was written"
            raise WorldFault(Code.STORE_AWAY, detail)
        return found

    async def _replace_all(self, alias: str, wanted: list[Wanted]) -> list[Found | None]:
        """What the index holds of each; None of one that it does not keep."""
        found: dict[int, Found | None] = {}
        waiting = dict(enumerate(wanted))
        while waiting:
            # of one namespace, and of a revision that comes twice one at a time
            namespace = next(iter(waiting.values())).namespace
            these: dict[int, int] = {}
            for place, one in waiting.items():
                if one.namespace == namespace:
                    these.setdefault(one.revn, place)
            group = {revn: waiting.pop(place) for revn, place in these.items()}
            held = await self._replace_group(alias, namespace, group)
            found |= {these[revn]: ids for revn, ids in held.items()}
        return [found[place] for place in range(len(wanted))]

    async def _replace_group(
        self, alias: str, namespace: str, group: dict[int, Wanted]
    ) -> dict[int, Found | None]:
        seen = [revn for revn, one in group.items() if not one.unseen]
        held = await self.held_all(alias, namespace, seen) if seen else {}
        write = {revn: set(one.sources) for revn, one in group.items()}
        kept: set[int] = set()
        for _ in range(_TURNS):
            operations = (
                _operations(
                    held.get(revn, {}).keys() - one.sources.keys(), one.sources, write[revn]
                )
                for revn, one in group.items()
            )
            await self._bulk(alias, namespace, chain.from_iterable(operations))
            await self.refresh(alias)
            held = await self.held_all(alias, namespace, list(group))
            kept = {r for r, one in group.items() if held[r].keys() == one.sources.keys()}
            if len(kept) == len(group):
                break
            write = {revn: one.sources.keys() - held[revn].keys() for revn, one in group.items()}
        return {revn: held[revn] if revn in kept else None for revn in group}

    async def add(self, alias: str, namespace: str, sources: Sources) -> None:
        """Write documents beside those that are there; they are found on return."""
        await self._bulk(alias, namespace, _operations((), sources, sources))
        await self.refresh(alias)

    async def remove(self, alias: str, namespace: str, revns: list[int]) -> int:
        """Remove revisions from the indices that `alias` names; counts the documents."""
        if not revns:
            return 0
        gone = 0
        await self.refresh(alias)
        for _ in range(_TURNS):
            with faults(self._address):
                done = await self._client.delete_by_query(
                    index=alias,
                    body={"query": queries.revisions(namespace, revns)},
                    routing=namespace,
                    refresh=True,
                    conflicts="proceed",
                    ignore_unavailable=True,
                    request_timeout=WRITE_SECONDS,
                )
            gone += int(done["deleted"])
            if not (done["version_conflicts"] or done["failures"]):
                return gone
        raise WorldFault(Code.STORE_AWAY, f"{self._address} did not remove all of the revisions")

    async def held(self, alias: str, namespace: str, revn: int) -> Found:
        """The revision's documents in order."""
        return (await self.held_all(alias, namespace, [revn]))[revn]

    async def held_all(self, alias: str, namespace: str, revns: list[int]) -> dict[int, Found]:
        """The documents of each of these revisions in order."""
        found: dict[int, Found] = {revn: {} for revn in revns}
        after: list[int] | None = None
        while True:
            body = {
                "query": queries.revisions(namespace, revns),
                "size": _PAGE,
                "sort": [{"place": "asc"}],
                "_source": False,
                "docvalue_fields": ["type"],
                **({"search_after": after} if after else {}),
            }
            hits = await search(self._client, self._address, alias, namespace, body)
            for hit in hits:
                kind = hit.get("fields", {}).get("type", [None])[0]
                found[identity_of(hit["_id"]).revn][hit["_id"]] = kind
            if len(hits) < _PAGE:
                return found
            after = hits[-1]["sort"]

    async def refresh(self, alias: str) -> None:
        """Make visible all that was acknowledged before this call."""
        if alias not in self._refreshes:
            self._refreshes[alias] = SharedRefresh(self._client, self._address, alias)
        await self._refreshes[alias].once()

    async def purge(self, alias: str) -> None:
        """Drop deleted documents from logs and files of the indices that `alias` names."""
        with faults(self._address):
            for call in (self._client.indices.refresh, self._client.indices.flush):
                await call(index=alias, ignore_unavailable=True, request_timeout=PURGE_SECONDS)
            await self._client.indices.forcemerge(
                index=alias,
                only_expunge_deletes=True,
                ignore_unavailable=True,
                request_timeout=PURGE_SECONDS,
            )

    async def _bulk(self, alias: str, namespace: str, operations: Iterable[Operation]) -> None:
        for part in _parts(operations):
            waiting = part
            for delay in (*BUSY_DELAYS, None):
                waiting = await self._send(alias, namespace, waiting)
                if not waiting:
                    break
                if delay is None:
                    raise WorldFault(Code.STORE_AWAY, f"{self._address} is busy")
                await asyncio.sleep(delay)

    async def _send(
        self, alias: str, namespace: str, operations: list[Operation]
    ) -> list[Operation]:
        """One bulk; returns what the cluster was too busy for. Everything is idempotent, so
        an answer that never came does no harm."""
        with faults(self._address):
            answer = await self._client.bulk(
                index=alias,
                body=b"".join(line for _, line in operations),
                routing=namespace,
                require_alias=True,
                request_timeout=WRITE_SECONDS,
            )
        if not answer["errors"]:
            return []
        busy = []
        for operation, item in zip(operations, answer["items"], strict=True):
            kind = operation[0]
            status = item[kind]["status"]
            if status == _BUSY:
                busy.append(operation)
            elif status == _ABSENT and kind == "delete" and "error" not in item[kind]:
                continue
            elif status == _ABSENT:
                self._known.discard(alias)
                raise WorldFault(Code.STORE_AWAY, f"{self._address} lost the index {alias}")
            elif away(status):
                raise WorldFault(
                    Code.STORE_AWAY, f"{self._address} could not write: {error_type(item[kind])}"
                )
            elif "error" in item[kind]:
                raise ValueError(f"{self._address} refused a chunk: {error_type(item[kind])}")
        return busy


def _operations(
    deleted: Iterable[str], sources: Sources, written: Iterable[str]
) -> Iterator[Operation]:
    for document_id in deleted:
        yield "delete", orjson.dumps({"delete": {"_id": document_id}}) + b"\n"
    for document_id in written:
        action = orjson.dumps({"index": {"_id": document_id}})
        yield "index", b"%b\n%b\n" % (action, orjson.dumps(sources[document_id]))


def _parts(operations: Iterable[Operation]) -> Iterator[list[Operation]]:
    """Lists of operations of about `BULK_BYTES`."""
    part: list[Operation] = []
    size = 0
    for operation in operations:
        part.append(operation)
        size += len(operation[1])
        if size >= BULK_BYTES:
            yield part
            part, size = [], 0
    if part:
        yield part
