"""Writes to OpenSearch: bulks whose every item is looked at, and refreshes that are shared."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import orjson

from libs.contracts.faults import Code, WorldFault
from libs.runtime.index import opensearch_queries as queries
from libs.runtime.index.opensearch_client import (
    WRITE_SECONDS,
    Address,
    error_type,
    faults,
)

if TYPE_CHECKING:
    from opensearchpy import AsyncOpenSearch

BULK_BYTES = 4 << 20
BUSY_DELAYS = (0.2, 0.5, 1.0, 2.0)
PURGE_SECONDS = 600.0
_TURNS = 3
_PAGE = 10_000
_BUSY = 429
_ABSENT = 404
_SERVER_ERROR = 500

Operation = tuple[str, bytes]
Sources = Mapping[str, dict[str, Any]]


class OpenSearchWriter:
    """Makes revisions hold exactly what they shall, in any of our indices."""

    def __init__(self, client: "AsyncOpenSearch", address: Address) -> None:
        self._client = client
        self._address = address
        self._making = asyncio.Lock()
        self._known: set[str] = set()
        self._refreshes: dict[str, _SharedRefresh] = {}

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

    async def replace(self, alias: str, namespace: str, revn: int, sources: Sources) -> None:
        """Make the revision's documents exactly these, by id; they are found on return.

        What it held before goes in the same refresh. Looks afterwards whether that is what
        the index holds: a writer that was killed may have left documents that no refresh had
        shown yet.
        """
        wanted = set(sources)
        write = wanted
        held = set(await self.held(alias, namespace, revn))
        for _ in range(_TURNS):
            await self._bulk(alias, namespace, _operations(held - wanted, sources, write))
            await self.refresh(alias)
            held = set(await self.held(alias, namespace, revn))
            if held == wanted:
                return
            write = wanted - held
        raise WorldFault(
            Code.STORE_AWAY, f"{self._address} did not keep revision {revn} as it was written"
        )

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

    async def held(self, alias: str, namespace: str, revn: int) -> dict[str, str | None]:
        """The ids of the revision's documents in order, each with its chunk's type."""
        found: dict[str, str | None] = {}
        after: list[int] | None = None
        while True:
            body = {
                "query": queries.revision(namespace, revn),
                "size": _PAGE,
                "sort": [{"place": "asc"}],
                "_source": False,
                "docvalue_fields": ["type"],
                **({"search_after": after} if after else {}),
            }
            hits = await search(self._client, self._address, alias, namespace, body)
            found.update((h["_id"], h.get("fields", {}).get("type", [None])[0]) for h in hits)
            if len(hits) < _PAGE:
                return found
            after = hits[-1]["sort"]

    async def refresh(self, alias: str) -> None:
        """Make visible all that was acknowledged before this call."""
        if alias not in self._refreshes:
            self._refreshes[alias] = _SharedRefresh(self._client, self._address, alias)
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
            elif status >= _SERVER_ERROR:
                raise WorldFault(
                    Code.STORE_AWAY, f"{self._address} could not write: {error_type(item[kind])}"
                )
            elif "error" in item[kind]:
                raise ValueError(f"{self._address} refused a chunk: {error_type(item[kind])}")
        return busy


class _SharedRefresh:
    """Those who ask while a refresh runs share the next one."""

    def __init__(self, client: "AsyncOpenSearch", address: Address, alias: str) -> None:
        self._client = client
        self._address = address
        self._alias = alias
        self._running = asyncio.Lock()
        self._next: asyncio.Task[None] | None = None

    async def once(self) -> None:
        """Return after a refresh that began after this call."""
        if self._next is None:
            self._next = asyncio.create_task(self._turn())
        await asyncio.shield(self._next)

    async def _turn(self) -> None:
        async with self._running:
            self._next = None
            with faults(self._address):
                await self._client.indices.refresh(
                    index=self._alias, ignore_unavailable=True, request_timeout=WRITE_SECONDS
                )


async def search(
    client: "AsyncOpenSearch", address: Address, alias: str, namespace: str, body: dict[str, Any]
) -> list[dict[str, Any]]:
    """The hits of a search, all of them or a fault; none when the index is not there."""
    with faults(address):
        answer = await client.search(
            index=alias,
            body=body,
            routing=namespace,
            ignore_unavailable=True,
            allow_partial_search_results=False,
        )
    hits: list[dict[str, Any]] = answer["hits"]["hits"]
    return hits


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
