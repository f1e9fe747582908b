"""Vectors of one namespace and model in memory, searched exactly.

Vectors are columns of blocks (`dim` rows, up to `BLOCK` columns): one query is one
matrix-vector product a block, twice as fast in this layout as with a row a vector, and a
new vector never moves the others. Several queries are searched together, since reading
the vectors costs most: eight take twice the time of one. A revision that is replaced or
removed leaves its columns behind, out of every scope, until a quarter of all is dead.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from libs.runtime.index.port import Hit, Vectors

BLOCK = 8192
_FIRST_BLOCK = 256
_SCOPES = 8
_TIE = 1e-6
_MANY = 4
"""From so many queries on, one matrix product is faster than a vector product for each."""

ScopeKey = tuple[frozenset[int], frozenset[int] | None]


class Entry(NamedTuple):
    """One revision's vectors as they are stored: `id` changes with every write, `types` are
    codes, row i of `vectors` is of the chunk of order i."""

    id: int
    revn: int
    chunk_ids: list[str]
    types: NDArray[np.uint8]
    vectors: NDArray[np.floating]


class Nearest(NamedTuple):
    """A query: the `limit` nearest to `vector`, of `revns` and of type codes `types`."""

    vector: Vectors
    revns: frozenset[int]
    types: frozenset[int] | None
    limit: int


class _Span(NamedTuple):
    id: int
    start: int
    stop: int


class Matrix:
    """Not safe for threads by itself: `put`, `drop` and `search` need one at a time."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._blocks: list[Vectors] = []
        self._size = 0
        self._dead = 0
        self._spans: dict[int, _Span] = {}
        self._revns = np.empty(0, np.int64)
        self._orders = np.empty(0, np.int64)
        self._types = np.empty(0, np.uint8)
        self._chunk_ids: list[str] = []
        self._scopes: OrderedDict[ScopeKey, NDArray[np.intp]] = OrderedDict()

    @property
    def ids(self) -> dict[int, int]:
        """Entry id by revision."""
        return {revn: span.id for revn, span in self._spans.items()}

    @property
    def nbytes(self) -> int:
        """Memory of the vectors."""
        return sum(block.nbytes for block in self._blocks)

    def put(self, entries: Iterable[Entry]) -> None:
        """Add revisions that are not here."""
        revns, orders, types = [self._revns], [self._orders], [self._types]
        for entry in entries:
            start, size = self._size, len(entry.chunk_ids)
            self._append(entry.vectors)
            self._spans[entry.revn] = _Span(entry.id, start, self._size)
            self._chunk_ids += entry.chunk_ids
            revns.append(np.full(size, entry.revn))
            orders.append(np.arange(size))
            types.append(entry.types)
        self._revns = np.concatenate(revns)
        self._orders = np.concatenate(orders)
        self._types = np.concatenate(types)
        self._scopes.clear()

    def drop(self, revns: Iterable[int]) -> None:
        """Forget revisions."""
        for revn in revns:
            if (span := self._spans.pop(revn, None)) is not None:
                self._dead += span.stop - span.start
        self._scopes.clear()
        if self._dead * 4 > self._size:
            self._compact()

    def search(self, queries: list[Nearest]) -> list[list[Hit]]:
        """For each query the columns in its scope with the highest dot product, ties by
        (revn, order).

        Scores closer than `_TIE` are a tie: the sums of equal vectors differ in the last
        bits, by the place of a column in its block and by the queries beside.
        """
        if not queries:
            return []
        scores = self._scores(np.array([query.vector for query in queries], np.float32))
        return [self._best(*each) for each in zip(queries, scores, strict=True)]

    def _best(self, query: Nearest, scores: Vectors) -> list[Hit]:
        columns = self._columns((query.revns, query.types))
        if not len(columns):
            return []
        if len(columns) < self._size:
            scores = scores[columns]
        limit = query.limit
        if limit < len(scores):
            last = np.partition(scores, len(scores) - limit)[len(scores) - limit]
            near = np.flatnonzero(scores >= last - _TIE)
            columns, scores = columns[near], scores[near]
        falling = np.argsort(-scores, kind="stable")
        columns, scores = columns[falling], scores[falling]
        leads = np.flatnonzero(np.diff(scores, prepend=np.inf) < -_TIE)
        sizes = np.diff(leads, append=len(scores))
        tied = np.repeat(scores[leads], sizes)
        order = np.lexsort((self._orders[columns], self._revns[columns], -tied))[:limit]
        return [
            Hit(int(self._revns[c]), int(self._orders[c]), self._chunk_ids[c], s)
            for c, s in zip(columns[order].tolist(), tied[order].tolist(), strict=True)
        ]

    def _scores(self, vectors: Vectors) -> Vectors:
        """The dot product of each of `vectors` (a row each) with each column."""
        scores = np.empty((len(vectors), self._size), np.float32)
        for index, block in enumerate(self._blocks):
            start = index * BLOCK
            stop = min(start + BLOCK, self._size)
            living = block[:, : stop - start]
            if len(vectors) < _MANY:
                for row, vector in zip(scores, vectors, strict=True):
                    np.dot(vector, living, out=row[start:stop])
            else:
                np.matmul(vectors, living, out=scores[:, start:stop])
        return scores

    def _columns(self, key: ScopeKey) -> NDArray[np.intp]:
        """Columns in scope, in order; those of the last few scopes are kept."""
        if key in self._scopes:
            self._scopes.move_to_end(key)
            return self._scopes[key]
        revns, types = key
        inside = np.zeros(self._size, np.bool_)
        for revn in revns:
            if (span := self._spans.get(revn)) is not None:
                inside[span.start : span.stop] = True
        if types is not None:
            inside &= np.isin(self._types, sorted(types))
        columns = np.flatnonzero(inside)
        self._scopes[key] = columns
        if len(self._scopes) > _SCOPES:
            self._scopes.popitem(last=False)
        return columns

    def _append(self, vectors: NDArray[np.floating]) -> None:
        done = 0
        while done < len(vectors):
            used = self._size % BLOCK
            if used == 0 and len(self._blocks) * BLOCK == self._size:
                self._blocks.append(np.empty((self.dimension, _FIRST_BLOCK), np.float32))
            take = min(BLOCK - used, len(vectors) - done)
            block = self._room(used + take)
            block[:, used : used + take] = vectors[done : done + take].T
            self._size += take
            done += take

    def _room(self, columns: int) -> Vectors:
        """The last block, with room for `columns`; it doubles until it is a whole one."""
        block = self._blocks[-1]
        width = block.shape[1]
        if width < columns:
            while width < columns:
                width = min(BLOCK, width * 2)
            wider = np.empty((self.dimension, width), np.float32)
            wider[:, : block.shape[1]] = block
            self._blocks[-1] = block = wider
        return block

    def _compact(self) -> None:
        """Move the living to new blocks."""
        living = Matrix(self.dimension)
        spans = sorted(self._spans.items(), key=lambda item: item[1].start)
        living.put(self._entry(revn, span) for revn, span in spans)
        self.__dict__.update(living.__dict__)

    def _entry(self, revn: int, span: _Span) -> Entry:
        vectors = np.empty((span.stop - span.start, self.dimension), np.float32)
        done = 0
        for piece in self._pieces(span.start, span.stop):
            vectors[done : done + piece.shape[1]] = piece.T
            done += piece.shape[1]
        ids = self._chunk_ids[span.start : span.stop]
        return Entry(span.id, revn, ids, self._types[span.start : span.stop], vectors)

    def _pieces(self, start: int, stop: int) -> Iterator[Vectors]:
        while start < stop:
            used = start % BLOCK
            take = min(BLOCK - used, stop - start)
            yield self._blocks[start // BLOCK][:, used : used + take]
            start += take
