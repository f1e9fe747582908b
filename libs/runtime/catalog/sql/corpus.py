"""A namespace as a whole in SQL: the listings, and the store that has them."""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, and_, exists, select

from libs.contracts.artefacts.corpus import DocumentHits, Tombstone
from libs.contracts.artefacts.document import DocumentFile
from libs.runtime.catalog.corpus import RevisionFacts
from libs.runtime.catalog.sql import restoring
from libs.runtime.catalog.sql.database import Database
from libs.runtime.catalog.sql.records import receipt
from libs.runtime.catalog.sql.schema import (
    active,
    chunk,
    document,
    erasure,
    hit,
    namespace,
    revision,
    same_document,
)
from libs.runtime.chunkfile import slices

_HIDDEN = ("erasing", "erased")
HITS = 500
KEYS = 2_000


def _versions(connection: Connection) -> dict[str, int]:
    rows = connection.execute(select(namespace.c.name, namespace.c.corpus_version))
    return {row.name: row.corpus_version for row in rows}


def _collections(connection: Connection, name: str) -> list[str]:
    named = select(active.c.collection).where(active.c.namespace == name).distinct()
    return sorted(connection.execute(named).scalars())


def _hits(connection: Connection, name: str, after: str, limit: int) -> list[DocumentHits]:
    counted = (
        select(hit.c.document_id)
        .join(document, same_document(document, hit))
        .where(
            hit.c.namespace == name,
            hit.c.document_id > after,
            document.c.state.not_in(_HIDDEN),
        )
        .distinct()
        .order_by(hit.c.document_id)
        .limit(limit)
    )
    found: dict[str, dict[str, int]] = {}
    for row in connection.execute(
        select(hit.c.document_id, hit.c.chunk_id, hit.c.count.label("count_"))
        .where(hit.c.namespace == name, hit.c.document_id.in_(counted))
        .order_by(hit.c.document_id, hit.c.chunk_id)
    ):
        found.setdefault(row.document_id, {})[row.chunk_id] = row.count_
    return [DocumentHits(document_id=one, chunks=chunks) for one, chunks in found.items()]


def _erasures(connection: Connection, name: str, after: str, limit: int) -> list[Tombstone]:
    rows = connection.execute(
        select(erasure)
        .where(erasure.c.namespace == name, erasure.c.erasure_id > after)
        .order_by(erasure.c.erasure_id)
        .limit(limit)
    )
    return [Tombstone(receipt=receipt(r), highest_revision=r.highest_revision) for r in rows]


def _changed(
    connection: Connection, name: str, since: datetime, after: str, limit: int
) -> list[str]:
    return list(
        connection.execute(
            select(document.c.document_id)
            .where(
                document.c.namespace == name,
                document.c.document_id > after,
                document.c.updated_at >= since,
                document.c.highest_published > 0,
                document.c.state.not_in(_HIDDEN),
            )
            .order_by(document.c.document_id)
            .limit(limit)
        ).scalars()
    )


_KEPT = and_(revision.c.state == "published", document.c.state.not_in(_HIDDEN))
_LIVING = and_(revision.c.state != "collected", document.c.state != "erased")


def _those(
    connection: Connection, name: str, revns: list[int], state: ColumnElement[bool]
) -> set[int]:
    """Of the revisions those that are, with their documents, in a state."""
    return set(
        connection.execute(
            select(revision.c.revn)
            .join(document, same_document(document, revision))
            .where(revision.c.namespace == name, revision.c.revn.in_(revns), state)
        ).scalars()
    )


def _staged(connection: Connection, name: str, after: int, limit: int) -> list[int]:
    return list(
        connection.execute(
            select(revision.c.revn)
            .where(
                revision.c.namespace == name,
                revision.c.revn > after,
                exists().where(chunk.c.revn == revision.c.revn),
            )
            .order_by(revision.c.revn)
            .limit(limit)
        ).scalars()
    )


class SqlCorpus:
    """The `CorpusStore` of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def versions(self) -> dict[str, int]:
        """See the port."""
        return await self._database.read_once(_versions)

    async def collections(self, namespace: str) -> list[str]:
        """See the port."""
        return await self._database.read(_collections, namespace)

    async def hits(self, namespace: str, after: str, limit: int) -> list[DocumentHits]:
        """See the port."""
        return await self._database.read(_hits, namespace, after, limit)

    async def erasures(self, namespace: str, after: str, limit: int) -> list[Tombstone]:
        """See the port."""
        return await self._database.read(_erasures, namespace, after, limit)

    async def changed(self, namespace: str, since: datetime, after: str, limit: int) -> list[str]:
        """See the port."""
        return await self._database.read(_changed, namespace, since, after, limit)

    async def kept(self, namespace: str, revns: list[int]) -> set[int]:
        """See the port."""
        return await self._of_state(namespace, revns, _KEPT)

    async def living(self, namespace: str, revns: list[int]) -> set[int]:
        """See the port."""
        return await self._of_state(namespace, revns, _LIVING)

    async def _of_state(
        self, namespace: str, revns: list[int], state: ColumnElement[bool]
    ) -> set[int]:
        found: set[int] = set()
        for some in slices(sorted(set(revns)), KEYS):
            found |= await self._database.read(_those, namespace, some, state)
        return found

    async def staged(self, namespace: str, after: int, limit: int) -> list[int]:
        """See the port."""
        return await self._database.read(_staged, namespace, after, limit)

    async def restore(self, file: DocumentFile) -> dict[int, int] | None:
        """See the port."""
        return await self._database.write(restoring.restore, file)

    async def restored(self, file: DocumentFile, facts: Mapping[int, RevisionFacts]) -> list[int]:
        """See the port."""
        return await self._database.write(restoring.restored, file, facts)

    async def restore_hits(self, namespace: str, hits: list[DocumentHits]) -> None:
        """See the port."""
        rows = [(one.document_id, *counted) for one in hits for counted in one.chunks.items()]
        for some in slices(rows, HITS):
            await self._database.write(restoring.hits, namespace, some)

    async def restore_erasures(self, namespace: str, erasures: list[Tombstone]) -> None:
        """See the port."""
        await self._database.write(restoring.erasures, namespace, erasures)

    async def forget_dense(self, namespace: str) -> None:
        """See the port."""
        await self._database.write(restoring.forget_dense, namespace)

    async def raise_version(self, namespace: str, above: int) -> int:
        """See the port."""
        return await self._database.write(restoring.raise_version, namespace, above)
