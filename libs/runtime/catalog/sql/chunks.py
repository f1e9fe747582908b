"""Chunks, sections and cached vectors in SQL."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import orjson
from sqlalchemy import Connection, bindparam, delete, exists, select

from libs.contracts.artefacts.chunk import Chunk, digest_ids
from libs.contracts.artefacts.nav import NavSection
from libs.runtime.catalog.sql import staging
from libs.runtime.catalog.sql.database import Database, upsert
from libs.runtime.catalog.sql.places import place_of, place_parts, places_of
from libs.runtime.catalog.sql.schema import (
    chunk,
    revision,
    section,
    vector,
)
from libs.runtime.index.port import Digest

KEYS = 2_000
VECTORS = 500
_IDS = select(chunk.c.chunk_id).where(chunk.c.revn == bindparam("this"))
_PLACED = select(chunk.c.place, chunk.c.body).where(
    chunk.c.place.in_(bindparam("places", expanding=True))
)


def _slices(items: list[Any], size: int) -> Iterator[list[Any]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _digest(connection: Connection, revn: int) -> Digest:
    ids = list(connection.execute(_IDS, {"this": revn}).scalars())
    return Digest(len(ids), digest_ids(ids))


def _fetch(connection: Connection, keys: list[tuple[int, int]]) -> dict[tuple[int, int], str]:
    found: dict[tuple[int, int], str] = {}
    for some in _slices(sorted({place_of(*key) for key in keys}), KEYS):
        rows = connection.execute(_PLACED, {"places": some})
        found.update((place_parts(place), body) for place, body in rows)
    return found


def _find_chunk(connection: Connection, revn: int, chunk_id: str) -> str | None:
    return connection.execute(
        select(chunk.c.body).where(chunk.c.revn == revn, chunk.c.chunk_id == chunk_id)
    ).scalar_one_or_none()


def _named(connection: Connection, keys: list[tuple[int, str]]) -> dict[tuple[int, str], str]:
    ids: dict[int, set[str]] = {}
    for revn, chunk_id in keys:
        ids.setdefault(revn, set()).add(chunk_id)
    found: dict[tuple[int, str], str] = {}
    for revn, wanted in ids.items():
        for some in _slices(sorted(wanted), KEYS):
            rows = connection.execute(
                select(chunk.c.chunk_id, chunk.c.body).where(
                    chunk.c.revn == revn, chunk.c.chunk_id.in_(some)
                )
            )
            found.update(((revn, chunk_id), body) for chunk_id, body in rows)
    return found


def _whole(connection: Connection, revns: list[int], limit: int) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    for revn in sorted(set(revns)):
        rows = connection.execute(
            select(chunk.c.body)
            .where(chunk.c.place.between(*places_of(revn)))
            .order_by(chunk.c.place)
            .limit(limit - len(found))
        )
        found += [(revn, body) for body in rows.scalars()]
        if len(found) >= limit:
            break
    return found


def _texts(connection: Connection, revn: int) -> list[tuple[str, str, str]]:
    rows = connection.execute(
        select(chunk.c.chunk_id, chunk.c.embed_hash, chunk.c.path, chunk.c.body)
        .where(chunk.c.place.between(*places_of(revn)))
        .order_by(chunk.c.place)
    )
    return [
        (chunk_id, key, staging.embedding_text(path, orjson.loads(body)["content"]))
        for chunk_id, key, path, body in rows
    ]


def _sections(connection: Connection, revn: int) -> NavSection | None:
    rows = connection.execute(
        select(section.c.ord, section.c.parent, section.c.body)
        .where(section.c.revn == revn)
        .order_by(section.c.ord)
    ).all()
    nodes = {place: NavSection.model_validate_json(body) for place, _, body in rows}
    for place, parent, _ in rows:
        if parent is not None:
            nodes[parent].children.append(nodes[place])
    return nodes.get(0)


def _cached_vectors(
    connection: Connection, namespace: str, model: str, hashes: list[str]
) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for some in _slices(sorted(set(hashes)), KEYS):
        rows = connection.execute(
            select(vector.c.content_hash, vector.c.data).where(
                vector.c.namespace == namespace,
                vector.c.model == model,
                vector.c.content_hash.in_(some),
            )
        )
        found.update((key, data) for key, data in rows)
    return found


def _cache_vectors(
    connection: Connection, namespace: str, model: str, vectors: list[tuple[str, bytes]]
) -> None:
    connection.execute(
        upsert(vector).on_conflict_do_nothing(),
        [
            {"namespace": namespace, "model": model, "content_hash": key, "data": data}
            for key, data in vectors
        ],
    )


_MEMBER = (
    exists()
    .where(
        chunk.c.embed_hash == vector.c.content_hash,
        chunk.c.revn == revision.c.revn,
        revision.c.namespace == vector.c.namespace,
    )
    .correlate(vector)
)


def _orphans(connection: Connection, namespace: str) -> dict[str, list[str]]:
    """Hashes without a member, by model."""
    found: dict[str, list[str]] = {}
    for model, key in connection.execute(
        select(vector.c.model, vector.c.content_hash).where(
            vector.c.namespace == namespace, ~_MEMBER
        )
    ):
        found.setdefault(model, []).append(key)
    return found


def _sweep(connection: Connection, namespace: str, model: str, orphans: list[str]) -> int:
    return connection.execute(
        delete(vector).where(
            vector.c.namespace == namespace,
            vector.c.model == model,
            vector.c.content_hash.in_(orphans),
            ~_MEMBER,
        )
    ).rowcount


class SqlChunks:
    """The `ChunkStore` of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def stage(
        self,
        revn: int,
        chunks: Iterable[Chunk],
        root: NavSection,
        moved: Callable[[], None] | None = None,
    ) -> None:
        """See the port."""
        await staging.stage(self._database, revn, chunks, root, moved)

    async def digest(self, revn: int) -> Digest:
        """See the port."""
        return await self._database.read_once(_digest, revn)

    async def fetch(self, keys: list[tuple[int, int]]) -> dict[tuple[int, int], Chunk]:
        """See the port."""
        found = await self._database.read(_fetch, keys) if keys else {}
        return {key: Chunk.model_validate_json(body) for key, body in found.items()}

    async def find(self, revn: int, chunk_id: str) -> Chunk | None:
        """See the port."""
        body = await self._database.read(_find_chunk, revn, chunk_id)
        return None if body is None else Chunk.model_validate_json(body)

    async def named(self, keys: list[tuple[int, str]]) -> dict[tuple[int, str], Chunk]:
        """See the port."""
        found = await self._database.read(_named, keys) if keys else {}
        return {key: Chunk.model_validate_json(body) for key, body in found.items()}

    async def whole(self, revns: list[int], limit: int) -> list[tuple[int, Chunk]]:
        """See the port."""
        found = await self._database.read(_whole, revns, limit) if limit > 0 else []
        return [(revn, Chunk.model_validate_json(body)) for revn, body in found]

    async def texts(self, revn: int) -> list[tuple[str, str, str]]:
        """See the port."""
        return await self._database.read_once(_texts, revn)

    async def sections(self, revn: int) -> NavSection | None:
        """See the port."""
        return await self._database.read(_sections, revn)

    async def cached_vectors(
        self, namespace: str, model: str, hashes: list[str]
    ) -> dict[str, bytes]:
        """See the port."""
        return await self._database.read(_cached_vectors, namespace, model, hashes)

    async def cache_vectors(self, namespace: str, model: str, vectors: dict[str, bytes]) -> None:
        """See the port."""
        for some in _slices(list(vectors.items()), VECTORS):
            await self._database.write(_cache_vectors, namespace, model, some)

    async def remove(self, revns: list[int]) -> int:
        """See the port."""
        return await staging.remove_chunks(self._database, revns)

    async def sweep_vectors(self, namespace: str) -> int:
        """See the port."""
        orphans = await self._database.read(_orphans, namespace)
        gone = 0
        for model, hashes in orphans.items():
            for some in _slices(hashes, VECTORS):
                gone += await self._database.write(_sweep, namespace, model, some)
        return gone
