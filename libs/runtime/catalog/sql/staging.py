"""Writing a revision's chunks and sections, in batches, by one writer at a time.

A writer takes the revision by a token; a later writer takes it over, and the earlier
one's next batch is refused. The digest of what was staged is stored with the last batch,
so that staging the same again writes nothing: rows that readers see are never touched.
"""

import asyncio
import hashlib
import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Table, bindparam, delete, insert, select, update

from libs.contracts.artefacts.chunk import REFERENCE, Chunk, digest_ids
from libs.contracts.artefacts.nav import NavSection
from libs.contracts.faults import Code, StaleFault, TakenOverFault
from libs.runtime.catalog.sql.database import Database
from libs.runtime.catalog.sql.places import place_of
from libs.runtime.catalog.sql.schema import (
    chunk,
    document,
    revision,
    same_document,
    section,
)
from libs.runtime.chunkfile import slices

BATCH = 500

_REVISION = (
    select(revision.c.state, revision.c.stage_digest, document.c.state.label("document_state"))
    .join(document, same_document(document, revision))
    .where(revision.c.revn == bindparam("this"))
)
_CHANGE = update(revision).where(revision.c.revn == bindparam("this"))
_END = _CHANGE.where(revision.c.stage_token == bindparam("token"))
_HELD = select(revision.c.revn).where(
    revision.c.revn == bindparam("this"), revision.c.stage_token == bindparam("token")
)
_REMOVE_CHUNKS = delete(chunk).where(chunk.c.revn == bindparam("this"))
_REMOVE_SECTIONS = delete(section).where(section.c.revn == bindparam("this"))
_NOT_STAGED: dict[str, Any] = {"stage_digest": None, "chunk_digest": None, "chunk_count": 0}

_Row = dict[str, Any]
_Rows = list[_Row]


@dataclass(frozen=True)
class Staged:
    """What is to be staged of a revision: `digest` is over all its rows, `id_digest` over its
    chunk ids. `rows` are those of chunks and of sections when they are few."""

    revn: int
    count: int
    digest: str
    id_digest: str
    rows: tuple[_Rows, _Rows] | None


def embedding_text(path: str, content: str) -> str:
    """What is embedded of a chunk: its heading path and its text, without references."""
    return f"{path}\n{REFERENCE.sub(' ', content)}".strip()


def embedding_hash(text: str) -> str:
    """The key under which a text's vector is cached."""
    return hashlib.sha256(text.encode()).hexdigest()


def survey(revn: int, chunks: Iterable[Chunk], root: NavSection) -> Staged:
    """Reads all once; `ValueError` when an id or an order stands twice, or is none."""
    ids: list[str] = []
    stamps: dict[int, bytes] = {}
    kept: _Rows = []
    for one in chunks:
        row = _chunk_row(revn, one)
        stamps[one.order] = _stamp(row)
        ids.append(one.chunk_id)
        if len(kept) <= BATCH:
            kept.append(row)
    if len(set(ids)) < len(ids) or len(stamps) < len(ids):
        raise ValueError(f"chunks of revision {revn} repeat an id or an order")
    state = hashlib.sha256(b"".join(stamps[order] for order in sorted(stamps)))
    sections: _Rows = []
    for row in _section_rows(revn, root):
        state.update(_stamp(row))
        if len(sections) <= BATCH:
            sections.append(row)
    few = len(kept) + len(sections) <= BATCH
    rows = (kept, sections) if few else None
    return Staged(revn, len(ids), state.hexdigest(), digest_ids(ids), rows)


def _stamp(row: _Row) -> bytes:
    return hashlib.sha256(f"{row.get('parent')}\x1f{row['body']}".encode()).digest()


def _chunk_row(revn: int, one: Chunk) -> _Row:
    path = " > ".join(one.path).replace("\0", "")
    return {
        "place": place_of(revn, one.order),
        "revn": revn,
        "chunk_id": one.chunk_id,
        "type": one.type,
        "content_hash": one.metadata.content_hash,
        "embed_hash": embedding_hash(embedding_text(path, one.content)),
        "path": path,
        "body": one.model_dump_json(),
    }


def _section_rows(revn: int, root: NavSection) -> Iterator[_Row]:
    waiting: list[tuple[NavSection, int | None]] = [(root, None)]
    place = 0
    while waiting:
        one, parent = waiting.pop()
        yield {
            "revn": revn,
            "ord": place,
            "parent": parent,
            "section_id": one.section_id,
            "level": one.level,
            "body": one.model_copy(update={"children": []}).model_dump_json(),
        }
        waiting.extend((child, place) for child in reversed(one.children))
        place += 1


async def stage(
    database: Database,
    revn: int,
    chunks: Iterable[Chunk],
    root: NavSection,
    moved: Callable[[], None] | None = None,
) -> None:
    """See `ChunkStore.stage`."""
    moved = moved or _nothing
    staged = await asyncio.to_thread(survey, revn, chunks, root)
    token = secrets.token_hex(8)
    moved()
    if staged.rows is not None:
        await database.write(_stage_at_once, staged, *staged.rows, token)
    elif await database.write(_begin_stage, staged, token):
        await remove_chunks(database, [revn], token, moved)
        for table, rows in (
            (chunk, (_chunk_row(revn, one) for one in chunks)),
            (section, _section_rows(revn, root)),
        ):
            batches = slices(rows, BATCH)
            while (batch := await asyncio.to_thread(next, batches, None)) is not None:
                moved()
                await database.write(_put, table, revn, token, batch)
        await database.write(_end_stage, staged, token)


def _nothing() -> None:
    return None


def _stage_at_once(
    connection: Connection, staged: Staged, chunks: _Rows, sections: _Rows, token: str
) -> None:
    if _begin_stage(connection, staged, token):
        connection.execute(_REMOVE_CHUNKS, {"this": staged.revn})
        connection.execute(_REMOVE_SECTIONS, {"this": staged.revn})
        _insert(connection, chunk, chunks)
        _insert(connection, section, sections)
        _end_stage(connection, staged, token)


def _begin_stage(connection: Connection, staged: Staged, token: str) -> bool:
    """Take the revision; False when exactly this is staged already."""
    row = connection.execute(_REVISION, {"this": staged.revn}).first()
    if row is None or row.document_state in ("erasing", "erased"):
        raise StaleFault(Code.ERASED, f"revision {staged.revn} is erased")
    if row.state in ("accepted", "staged", "published") and row.stage_digest == staged.digest:
        return False
    if row.state not in ("accepted", "staged"):
        raise StaleFault(Code.SUPERSEDED, f"revision {staged.revn} is {row.state}")
    taken = {"this": staged.revn, "state": "accepted", "stage_token": token}
    connection.execute(_CHANGE, taken | _NOT_STAGED)
    return True


def _hold(connection: Connection, revn: int, token: str) -> None:
    """Raise unless this writer still has the revision."""
    if connection.execute(_HELD, {"this": revn, "token": token}).first() is None:
        raise _taken_over(revn)


def _taken_over(revn: int) -> TakenOverFault:
    return TakenOverFault(f"revision {revn} is being staged by another worker")


def _put(connection: Connection, table: Table, revn: int, token: str, rows: _Rows) -> None:
    _hold(connection, revn, token)
    _insert(connection, table, rows)


def _insert(connection: Connection, table: Table, rows: _Rows) -> None:
    if rows:
        connection.execute(insert(table), rows)


def _end_stage(connection: Connection, staged: Staged, token: str) -> None:
    ended = connection.execute(
        _END,
        {
            "this": staged.revn,
            "token": token,
            "state": "staged",
            "stage_token": None,
            "stage_digest": staged.digest,
            "chunk_digest": staged.id_digest,
            "chunk_count": staged.count,
        },
    )
    if ended.rowcount != 1:
        raise _taken_over(staged.revn)


async def remove_chunks(
    database: Database,
    revns: list[int],
    token: str | None = None,
    moved: Callable[[], None] = _nothing,
) -> int:
    """Remove chunks and sections of these revisions, in batches; how many chunks went.

    With a token, only while its writer has the revision; `moved` is called after each batch.
    """
    gone = 0
    for revn in revns:
        while batch := await database.write(_clear, revn, token):
            gone += batch
            moved()
    return gone


def _clear(connection: Connection, revn: int, token: str | None) -> int:
    """Remove the sections and a batch of chunks; 0 once there is none left."""
    if token is not None:
        _hold(connection, revn, token)
    connection.execute(_REMOVE_SECTIONS, {"this": revn})
    connection.execute(_CHANGE, {"this": revn} | _NOT_STAGED)
    some = select(chunk.c.place).where(chunk.c.revn == revn).limit(4 * BATCH)
    return connection.execute(delete(chunk).where(chunk.c.place.in_(some))).rowcount
