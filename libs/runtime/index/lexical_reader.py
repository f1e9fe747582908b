"""Reads the lexical channels: every call sees all that was committed before it began."""

import itertools
import threading
from bisect import insort
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
import tantivy
from numpy.typing import NDArray

from libs.contracts.artefacts.chunk import ChunkType, digest_ids
from libs.contracts.faults import Code, WorldFault
from libs.runtime.index import identity, queries
from libs.runtime.index.places import ORDER_BITS, to_place
from libs.runtime.index.port import (
    EMPTY_DIGEST,
    Digest,
    Hit,
    LexicalChannel,
    LexicalQuery,
    Scope,
)
from libs.runtime.index.schema import (
    CHUNK_TYPES,
    open_folder,
    stored_chunk_id,
    stored_text,
    tenant,
)

MAX_READ = 1_000
MAX_TIED = 2_048
_SMALL_SCOPE = 64
_FIRST_WINDOW = 64
_OVERFETCH = 4
_GROWTH = 8
_TIE = 2e-6


class Candidate(NamedTuple):
    """A document that may be a hit; the first two fields sort best first, ties by place."""

    minus_score: float
    place: int
    address: tantivy.DocAddress


class _Fetched(NamedTuple):
    """Documents in the engine's order, as columns; `minus_scores` of ties are equal."""

    minus_scores: NDArray[np.float64]
    places: NDArray[np.int64]
    addresses: list[tantivy.DocAddress]

    def best_first(self, rows: NDArray[np.intp]) -> Iterator[Candidate]:
        """These rows by falling score, ties by place."""
        order = rows[np.lexsort((self.places[rows], self.minus_scores[rows]))]
        scores, places = self.minus_scores[order].tolist(), self.places[order].tolist()
        return map(Candidate, scores, places, [self.addresses[row] for row in order.tolist()])


@dataclass(frozen=True)
class _View:
    """One state of the index, of which `meta` is the description; everything in a call is
    read from the same one."""

    meta: bytes
    schema: tantivy.Schema
    searcher: tantivy.Searcher


class LexicalReader:
    """Blocking reads of the index in `path`, from any thread; a missing index is empty."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._index: tantivy.Index | None = None
        self._seen: _View | None = None
        self._opening = threading.Lock()

    def search(
        self, channel: LexicalChannel, query: LexicalQuery, scope: Scope, limit: int
    ) -> list[Hit]:
        """At most `limit` hits in scope, best first; see the port."""
        if limit <= 0 or not scope.revns or (view := self._view()) is None:
            return []
        if channel == "term":
            return _search_terms(view, query, scope, limit)
        matching = queries.words(view.searcher, view.schema, channel, query.tokens)
        if matching is None:
            return []
        ranked = list(itertools.islice(_ranked(view, matching, scope, limit), limit))
        ids = _chunk_ids(view.searcher, [c.address for c in ranked])
        return [
            Hit(*to_place(c.place), chunk_id, -c.minus_score)
            for c, chunk_id in zip(ranked, ids, strict=True)
        ]

    def digest(self, namespace: str, revn: int) -> Digest:
        """Count and digest of the revision's chunk ids."""
        if (view := self._view()) is None:
            return EMPTY_DIGEST
        ids = _chunk_ids(view.searcher, _revision(view, namespace, revn))
        return Digest(len(ids), digest_ids(ids))

    def revisions(self, namespace: str) -> set[int]:
        """Revisions that have documents."""
        if (view := self._view()) is None:
            return set()
        found = queries.addresses(view.searcher, queries.owner(view.schema, namespace))
        return {to_place(place).revn for place in _numbers(view.searcher, "place", found)}

    def types(self, namespace: str, revn: int) -> dict[int, ChunkType]:
        """The type of each chunk of the revision, by order."""
        if (view := self._view()) is None:
            return {}
        found = _revision(view, namespace, revn)
        places = _numbers(view.searcher, "place", found)
        codes = _numbers(view.searcher, "type", found)
        return {
            to_place(place).order: CHUNK_TYPES[code]
            for place, code in zip(places, codes, strict=True)
        }

    def _view(self) -> _View | None:
        """The index as it is now: another one only when its description, which every commit
        replaces, is another."""
        try:
            with self._opening:
                meta = self._description()
                if meta is None:
                    return None
                if self._seen is None or self._seen.meta != meta:
                    if self._index is None:
                        self._index = open_folder(self._path, create=False)
                    self._index.reload()
                    self._seen = _View(meta, self._index.schema, self._index.searcher())
                return self._seen
        except (OSError, ValueError) as error:
            raise WorldFault(
                Code.STORE_AWAY, f"the search index in {self._path} cannot be read"
            ) from error

    def _description(self) -> bytes | None:
        try:
            return (self._path / "meta.json").read_bytes()
        except FileNotFoundError:
            return None


def _revision(view: _View, namespace: str, revn: int) -> list[tantivy.DocAddress]:
    return queries.addresses(view.searcher, queries.revision(view.schema, namespace, revn))


def _numbers(
    searcher: tantivy.Searcher, field: str, addresses: list[tantivy.DocAddress]
) -> list[int]:
    return cast(list[int], searcher.fast_field_values(field, addresses))


def _chunk_ids(searcher: tantivy.Searcher, addresses: list[tantivy.DocAddress]) -> list[str]:
    tags, *parts = (_numbers(searcher, f, addresses) for f in (identity.TAG, *identity.HASH))
    return [
        identity.from_columns(tag, hashed) or stored_chunk_id(searcher.doc(address))
        for tag, hashed, address in zip(tags, zip(*parts, strict=True), addresses, strict=True)
    ]


def _search_terms(view: _View, query: LexicalQuery, scope: Scope, limit: int) -> list[Hit]:
    """Candidates are verified, best first, until no later one can enter the first `limit`; those
    whose score says that they hold only terms that are grams are so without being read.

    Text whose grams are everywhere but which itself is nowhere makes every document a
    candidate: after `MAX_READ` beyond the limit, what was found so far is the answer.
    """
    terms = queries.substrings(view.searcher, query)
    if not terms:
        return []
    matching = queries.candidates(view.schema, terms)
    weights = [(term.text, term.weight) for term in terms]
    certain = queries.certain_sums(terms)
    best: list[tuple[float, int, tantivy.DocAddress]] = []
    ranked = _ranked(view, matching, scope, limit, constant=len(terms) == 1)
    for candidate in itertools.islice(ranked, limit + MAX_READ):
        if len(best) >= limit and best[limit - 1][:2] <= candidate[:2]:
            break
        score = terms[0].weight if len(terms) == 1 else int(-candidate.minus_score)
        if score not in certain:
            text, score = stored_text(view.searcher.doc(candidate.address)), 0
            for wanted, weight in weights:
                if wanted in text:
                    score += weight
        if score:
            insort(best, (-score, candidate.place, candidate.address), key=_by_place)
    del best[limit:]
    ids = _chunk_ids(view.searcher, [address for _, _, address in best])
    return [
        Hit(*to_place(place), chunk_id, -minus / 16)
        for (minus, place, _), chunk_id in zip(best, ids, strict=True)
    ]


def _by_place(found: tuple[float, int, tantivy.DocAddress]) -> tuple[float, int]:
    return found[:2]


def _ranked(
    view: _View, query: tantivy.Query, scope: Scope, limit: int, *, constant: bool = False
) -> Iterator[Candidate]:
    """Documents of the scope that match, by falling score, ties by place.

    More is fetched than wanted, since some are of other revisions; the namespace and the
    types are left to the engine unless most documents pass, for it ranks fastest without
    filters. When that does not suffice the engine filters by revision, and only what
    counts comes. Documents that tie with the last one fetched are held back until all
    such are there, up to `MAX_TIED`: where more chunks are alike than that, as under one path,
    which of them come first is the engine's choice. `constant` says that all scores are
    the same: then the engine orders by place.
    """
    searcher = view.searcher
    exact = len(scope.revns) <= _SMALL_SCOPE and not queries.covers(searcher, scope)
    window = max(_FIRST_WINDOW, limit * _OVERFETCH)
    seen: set[int] = set()
    while searcher.num_docs:
        bounded = query
        if exact or not queries.prevails(searcher, scope):
            bounded = queries.within(view.schema, query, scope, revns=exact)
        fetched = _fetch(searcher, bounded, min(window, searcher.num_docs), constant=constant)
        exhausted = len(fetched.addresses) < window
        inside = np.arange(len(fetched.addresses)) if exact else _inside(searcher, fetched, scope)
        whole_ties = not exact or window <= MAX_TIED
        if not exhausted and not constant and whole_ties:
            scores = fetched.minus_scores
            inside = inside[scores[inside] < scores[-1]]
        for candidate in fetched.best_first(inside):
            if candidate.place not in seen:
                seen.add(candidate.place)
                yield candidate
        if exhausted:
            return
        exact = True
        window *= _GROWTH


def _inside(searcher: tantivy.Searcher, fetched: _Fetched, scope: Scope) -> NDArray[np.intp]:
    """The rows of the scope's namespace and revisions."""
    owner, revns = tenant(scope.namespace), scope.revns
    owners = _numbers(searcher, "tenant", fetched.addresses)
    of = (fetched.places >> ORDER_BITS).tolist()
    rows = [row for row, revn in enumerate(of) if revn in revns and owners[row] == owner]
    return np.array(rows, np.intp)


def _fetch(
    searcher: tantivy.Searcher, query: tantivy.Query, window: int, *, constant: bool
) -> _Fetched:
    """The first `window` matches in the engine's order."""
    if constant:
        hits = searcher.search(
            query, window, count=False, order_by_field="place", order=tantivy.Order.Asc
        ).hits
        ordered = np.array([place for place, _ in hits], np.int64)
        return _Fetched(np.zeros(len(hits)), ordered, [address for _, address in hits])
    hits = searcher.search(query, window, count=False).hits
    addresses = [address for _, address in hits]
    places = np.array(_numbers(searcher, "place", addresses), np.int64)
    return _Fetched(-_tied(np.array([score for score, _ in hits])), places, addresses)


def _tied(falling: NDArray[np.float64]) -> NDArray[np.float64]:
    """Falling scores with true ties: sums that differ only in the last bits of the engine's
    32 become the highest of them."""
    leading = np.arange(len(falling))
    leading[1:][falling[1:] >= falling[:-1] * (1 - _TIE)] = 0
    return falling[np.maximum.accumulate(leading)]
