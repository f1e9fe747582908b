"""Vectors of one namespace and model in memory, searched exactly or nearly so.

Vectors are rows of blocks, so a new one never moves the others. Of many, a query first
leaves out by their codes (`libs/runtime/index/codes.py`) those that are surely too far, and
scores the others exactly: a fifth of the time of a scan of 100,000. Few, or those of a query
that the codes tell little about, are scanned whole; several queries together, since reading
the vectors costs most. A revision that is replaced or removed leaves its rows behind, out of
every scope, until a quarter of all is dead.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from libs.runtime.index.codes import Codes
from libs.runtime.index.port import Hit, Vectors

BLOCK = 8192
FEW = 4096
"""So many are scored without a look at their codes."""
_FIRST_BLOCK = 256
_SCOPES = 8
_TIE = 1e-6
_MANY = 4
"""From so many queries on, one matrix product is faster than a vector product for each."""
_PICKED_AT_ONCE = 512
"""Rows that are picked out into memory that the processor still has at hand."""
_SCATTERED = 4
"""A row that is picked out costs as much as so many in a scan."""

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
        self._codes: Codes | None = None
        self._centred_on = 0
        self._scopes: OrderedDict[ScopeKey, NDArray[np.intp]] = OrderedDict()

    @property
    def ids(self) -> dict[int, int]:
        """Entry id by revision."""
        return {revn: span.id for revn, span in self._spans.items()}

    @property
    def nbytes(self) -> int:
        """Memory of the vectors and their codes."""
        codes = self._codes.nbytes if self._codes is not None else 0
        return sum(block.nbytes for block in self._blocks) + codes

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
        """For each query the rows in its scope with the highest dot product, ties by
        (revn, order).

        Scores closer than `_TIE` are a tie: the sums of equal vectors differ in the last
        bits, by the place of a row in its block and by the queries beside.
        """
        vectors = [np.asarray(query.vector, np.float32) for query in queries]
        rows = [self._rows_of((query.revns, query.types)) for query in queries]
        for number, query in enumerate(queries):
            if len(rows[number]) > max(FEW, query.limit):
                codes = self._coded()
                rows[number] = codes.shortlist(vectors[number], rows[number], query.limit)
        whole = [n for n, some in enumerate(rows) if len(some) * _SCATTERED > self._size]
        scores = dict(zip(whole, self._scanned([vectors[n] for n in whole]), strict=True))
        return [
            self._best(
                rows[n],
                scores[n][rows[n]] if n in scores else self._picked(rows[n], vectors[n]),
                query.limit,
            )
            for n, query in enumerate(queries)
        ]

    def _coded(self) -> Codes:
        """The codes of all rows, made anew when there are twice as many as their centre is of."""
        codes = self._codes
        if codes is None or self._size >= 2 * self._centred_on:
            total = sum(piece.sum(axis=0) for piece in self._pieces(0, self._size))
            codes = self._codes = Codes((total / self._size).astype(np.float32))
            self._centred_on = self._size
        for piece in self._pieces(codes.size, self._size):
            codes.add(piece)
        return codes

    def _best(self, rows: NDArray[np.intp], scores: Vectors, limit: int) -> list[Hit]:
        if limit < len(scores):
            last = np.partition(scores, len(scores) - limit)[len(scores) - limit]
            near = np.flatnonzero(scores >= last - _TIE)
            rows, scores = rows[near], scores[near]
        falling = np.argsort(-scores, kind="stable")
        rows, scores = rows[falling], scores[falling]
        leads = np.flatnonzero(np.diff(scores, prepend=np.inf) < -_TIE)
        sizes = np.diff(leads, append=len(scores))
        tied = np.repeat(scores[leads], sizes)
        order = np.lexsort((self._orders[rows], self._revns[rows], -tied))[:limit]
        best = rows[order]
        ids = [self._chunk_ids[row] for row in best.tolist()]
        columns = self._revns[best].tolist(), self._orders[best].tolist(), ids, tied[order].tolist()
        return list(map(Hit, *columns))

    def _scanned(self, vectors: list[Vectors]) -> list[Vectors]:
        """The dot products of each of `vectors` with every row."""
        scores = np.empty((len(vectors), self._size), np.float32)
        start = 0
        for piece in self._pieces(0, self._size) if vectors else ():
            stop = start + len(piece)
            if len(vectors) < _MANY:
                for row, vector in zip(scores, vectors, strict=True):
                    np.dot(piece, vector, out=row[start:stop])
            else:
                scores[:, start:stop] = np.matmul(piece, np.array(vectors, np.float32).T).T
            start = stop
        return list(scores)

    def _picked(self, rows: NDArray[np.intp], vector: Vectors) -> Vectors:
        """The dot products of `vector` with these rows, which are in order."""
        scores = np.empty(len(rows), np.float32)
        held = np.empty((_PICKED_AT_ONCE, self.dimension), np.float32)
        bounds = np.searchsorted(rows, np.arange(len(self._blocks) + 1) * BLOCK).tolist()
        for number, (first, last) in enumerate(pairwise(bounds)):
            for start in range(first, last, _PICKED_AT_ONCE):
                stop = min(start + _PICKED_AT_ONCE, last)
                some = held[: stop - start]
                here = rows[start:stop] - number * BLOCK
                np.take(self._blocks[number], here, axis=0, out=some, mode="clip")
                np.dot(some, vector, out=scores[start:stop])
        return scores

    def _rows_of(self, key: ScopeKey) -> NDArray[np.intp]:
        """Rows in scope, in order; those of the last few scopes are kept."""
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
        rows = np.flatnonzero(inside)
        self._scopes[key] = rows
        if len(self._scopes) > _SCOPES:
            self._scopes.popitem(last=False)
        return rows

    def _append(self, vectors: NDArray[np.floating]) -> None:
        done = 0
        while done < len(vectors):
            used = self._size % BLOCK
            if used == 0 and len(self._blocks) * BLOCK == self._size:
                self._blocks.append(np.empty((_FIRST_BLOCK, self.dimension), np.float32))
            take = min(BLOCK - used, len(vectors) - done)
            block = self._room(used + take)
            block[used : used + take] = vectors[done : done + take]
            self._size += take
            done += take

    def _room(self, rows: int) -> Vectors:
        """The last block, with room for `rows`; it doubles until it is a whole one."""
        block = self._blocks[-1]
        height = len(block)
        if height < rows:
            while height < rows:
                height = min(BLOCK, height * 2)
            higher = np.empty((height, self.dimension), np.float32)
            higher[: len(block)] = block
            self._blocks[-1] = block = higher
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
            vectors[done : done + len(piece)] = piece
            done += len(piece)
        ids = self._chunk_ids[span.start : span.stop]
        return Entry(span.id, revn, ids, self._types[span.start : span.stop], vectors)

    def _pieces(self, start: int, stop: int) -> Iterator[Vectors]:
        while start < stop:
            used = start % BLOCK
            take = min(BLOCK - used, stop - start)
            yield self._blocks[start // BLOCK][used : used + take]
            start += take
