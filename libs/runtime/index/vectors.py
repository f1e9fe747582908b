"""Vectors of the dense channel: kept in one SQLite file, searched in memory.

A row holds a revision's vectors of one model, whole, as 16-bit floats: half the disk of
32 bits, and no dot product of unit vectors moves by more than 1e-3 (measured on real
embeddings 5e-5). Memory holds 32 bits, which the processor multiplies faster. Each process
keeps the matrices that it searched last, and brings them up to date when SQLite's
`data_version` says that another connection has committed.
"""

import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from libs.contracts.artefacts.chunk import ChunkType, digest_ids
from libs.contracts.faults import Code, WorldFault
from libs.runtime.index.matrix import Entry, Matrix, Nearest
from libs.runtime.index.port import Digest, Hit, Vectors
from libs.runtime.index.schema import TYPE_CODES

FILE = "vectors-1.db"
CACHE_BYTES = 2 << 30
_UNKNOWN_TYPE = 255
_BUSY_SECONDS = 10.0

_SCHEMA = """
create table if not exists vectors (
    id integer primary key autoincrement,
    namespace text not null,
    model text not null,
    revn integer not null,
    dimension integer not null,
    chunk_ids blob not null,
    types blob not null,
    data blob not null,
    unique (namespace, model, revn)
)
"""


@dataclass
class _Resident:
    """A matrix in memory and the state of the file that it shows."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    version: int | None = None
    matrix: Matrix | None = None

    @property
    def nbytes(self) -> int:
        return self.matrix.nbytes if self.matrix is not None else 0


class VectorStore:
    """Blocking reads and writes, from any thread; a missing file is an empty store."""

    def __init__(self, path: Path, *, cache_bytes: int = CACHE_BYTES) -> None:
        self._path = path
        self._cache_bytes = cache_bytes
        self._writing = threading.Lock()
        self._reading = threading.Lock()
        self._write_connection: sqlite3.Connection | None = None
        self._read_connection: sqlite3.Connection | None = None
        self._residents: OrderedDict[tuple[str, str], _Resident] = OrderedDict()

    def write(
        self,
        namespace: str,
        revn: int,
        model: str,
        chunk_ids: list[str],
        vectors: Vectors,
        types: dict[int, ChunkType],
    ) -> None:
        """Make the revision's vectors of `model` exactly these; `types` by order."""
        if vectors.ndim != 2 or len(vectors) != len(chunk_ids) or not np.isfinite(vectors).all():
            raise ValueError(f"{len(chunk_ids)} chunks need as many finite vectors")
        codes = bytes(
            TYPE_CODES[types[order]] if order in types else _UNKNOWN_TYPE
            for order in range(len(chunk_ids))
        )
        row = (
            namespace,
            model,
            revn,
            vectors.shape[1],
            orjson.dumps(chunk_ids),
            codes,
            vectors.astype("<f2").tobytes(),
        )
        key = (namespace, model, revn)
        with self._transaction() as connection:
            other = connection.execute(
                "select dimension from vectors where namespace = ? and model = ? and revn != ?"
                " limit 1",
                key,
            ).fetchone()
            if other is not None and other[0] != vectors.shape[1]:
                raise ValueError(f"vectors of {model} have {other[0]} dimensions here")
            connection.execute(
                "delete from vectors where namespace = ? and model = ? and revn = ?", key
            )
            connection.execute(
                "insert into vectors"
                " (namespace, model, revn, dimension, chunk_ids, types, data)"
                " values (?, ?, ?, ?, ?, ?, ?)",
                row,
            )

    def remove(self, namespace: str, revns: list[int]) -> None:
        """Remove the revisions' vectors of every model, also from the disk."""
        if not self._path.exists():
            return
        with self._transaction() as connection:
            connection.executemany(
                "delete from vectors where namespace = ? and revn = ?",
                [(namespace, revn) for revn in revns],
            )
        with self._writing, self._faults():
            self._writer().execute("pragma wal_checkpoint(truncate)")

    def digest(self, namespace: str, revn: int, model: str) -> Digest:
        """Count and digest of the chunk ids that have vectors."""
        rows = self._rows(
            "select chunk_ids from vectors where namespace = ? and model = ? and revn = ?",
            (namespace, model, revn),
        )
        ids = orjson.loads(rows[0][0]) if rows else []
        return Digest(len(ids), digest_ids(ids))

    def revisions(self, namespace: str) -> set[int]:
        """Revisions that have vectors of any model."""
        rows = self._rows("select revn from vectors where namespace = ?", (namespace,))
        return {revn for (revn,) in rows}

    def search(self, namespace: str, model: str, queries: list[Nearest]) -> list[list[Hit]]:
        """The nearest chunks for each query, in one scan."""
        resident = self._resident((namespace, model))
        with resident.lock:
            self._refresh(resident, namespace, model)
            matrix = resident.matrix
            if matrix is None:
                return [[] for _ in queries]
            if any(query.vector.shape != (matrix.dimension,) for query in queries):
                raise ValueError(f"vectors of {model} have {matrix.dimension} dimensions here")
            return matrix.search(queries)

    def close(self) -> None:
        """Close the file and forget the matrices."""
        with self._writing, self._reading:
            for connection in (self._write_connection, self._read_connection):
                if connection is not None:
                    connection.close()
            self._write_connection = self._read_connection = None
            self._residents.clear()

    def _resident(self, key: tuple[str, str]) -> _Resident:
        """The matrix of `key`; those longest unused make room for it."""
        with self._reading:
            resident = self._residents.setdefault(key, _Resident())
            self._residents.move_to_end(key)
            total = sum(r.nbytes for r in self._residents.values())
            while total > self._cache_bytes and len(self._residents) > 1:
                total -= self._residents.popitem(last=False)[1].nbytes
            return resident

    def _refresh(self, resident: _Resident, namespace: str, model: str) -> None:
        """Bring the matrix to what the file holds now."""
        versions = self._rows("pragma data_version")
        if not versions or resident.version == versions[0][0]:
            return
        rows = self._rows(
            "select revn, id, dimension from vectors where namespace = ? and model = ?"
            " order by revn",
            (namespace, model),
        )
        stored = {revn: entry for revn, entry, _ in rows}
        if not rows:
            resident.matrix = None
        elif resident.matrix is None or resident.matrix.dimension != rows[0][2]:
            resident.matrix = Matrix(rows[0][2])
        if (matrix := resident.matrix) is not None:
            held = matrix.ids
            matrix.drop(revn for revn, entry in held.items() if stored.get(revn) != entry)
            held = matrix.ids
            matrix.put(self._entries(e for revn, e in stored.items() if revn not in held))
        resident.version = versions[0][0]

    def _entries(self, ids: Iterable[int]) -> Iterator[Entry]:
        for entry in ids:
            # no row for one that was replaced meanwhile: the next refresh brings it
            for revn, dimension, chunk_ids, types, data in self._rows(
                "select revn, dimension, chunk_ids, types, data from vectors where id = ?",
                (entry,),
            ):
                vectors = np.frombuffer(data, "<f2").reshape(-1, dimension)
                codes = np.frombuffer(types, np.uint8)
                yield Entry(entry, revn, orjson.loads(chunk_ids), codes, vectors)

    def _rows(self, sql: str, parameters: tuple[Any, ...] = ()) -> list[Any]:
        """Rows as the file is now; none while there is no file."""
        with self._reading, self._faults():
            connection = self._reader()
            return [] if connection is None else connection.execute(sql, parameters).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._writing, self._faults():
            connection = self._writer()
            connection.execute("begin immediate")
            try:
                yield connection
            except BaseException:
                connection.execute("rollback")
                raise
            connection.execute("commit")

    def _writer(self) -> sqlite3.Connection:
        if self._write_connection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            connection = self._connect()
            connection.execute("pragma journal_mode = wal")
            connection.execute("pragma synchronous = full")
            connection.execute("pragma secure_delete = on")
            connection.execute(_SCHEMA)
            self._write_connection = connection
        return self._write_connection

    def _reader(self) -> sqlite3.Connection | None:
        if self._read_connection is None and self._path.exists():
            connection = self._connect()
            made = connection.execute("select 1 from sqlite_master where name = 'vectors'")
            if made.fetchone() is None:
                connection.close()
                return None
            self._read_connection = connection
        return self._read_connection

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(
            self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise WorldFault(
                Code.STORE_AWAY, f"the vectors in {self._path} cannot be reached"
            ) from error
