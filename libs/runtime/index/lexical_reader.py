"""Reads the lexical channels: every call sees all that was committed before it began."""

import itertools
import threading
from bisect import insort
from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple, cast

import tantivy

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
from libs.runtime.index.schema import CHUNK_TYPES, open_folder, read, tenant

MAX_READ = 1_000
MAX_TIED = 2_048
_SMALL_SCOPE = 64
_FIRST_WINDOW = 64
_OVERFETCH = 4
_GROWTH = 8
_TIE = 2e-6
_BY_RANK = itemgetter(0, 1)


class Candidate(NamedTuple):
    """A document that may be a hit; the first two fields sort best first, ties by place."""

    minus_score: float
    place: int
    address: tantivy.DocAddress


@dataclass(frozen=True)
class _View:
    """One state of the index; everything in a call is read from the same one."""

    schema: tantivy.Schema
    searcher: tantivy.Searcher


class LexicalReader:
    """Blocking reads of the index in `path`, from any thread; a missing index is empty."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._index: tantivy.Index | None = None
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
        try:
            with self._opening:
                if self._index is None:
                    if not (self._path / "meta.json").exists():
                        return None
                    self._index = open_folder(self._path, create=False)
            self._index.reload()
            return _View(self._index.schema, self._index.searcher())
        except (OSError, ValueError) as error:
            raise WorldFault(
                Code.STORE_AWAY, f"the search index in {self._path} cannot be read"
            ) from error


def _revision(view: _View, namespace: str, revn: int) -> list[tantivy.DocAddress]:
    return queries.addresses(view.searcher, queries.revision(view.schema, namespace, revn))


def _numbers(
    searcher: tantivy.Searcher, field: str, addresses: list[tantivy.DocAddress]
) -> list[int]:
    return cast(list[int], searcher.fast_field_values(field, addresses))


def _chunk_ids(searcher: tantivy.Searcher, addresses: list[tantivy.DocAddress]) -> list[str]:
    tags, *parts = (_numbers(searcher, f, addresses) for f in (identity.TAG, *identity.HASH))
    return [
        identity.from_columns(tag, hashed) or read(searcher.doc(address)).chunk_id
        for tag, hashed, address in zip(tags, zip(*parts, strict=True), addresses, strict=True)
    ]


def _search_terms(view: _View, query: LexicalQuery, scope: Scope, limit: int) -> list[Hit]:
    """Candidates are verified, best first, until no later one can enter the first `limit`.

    Text whose grams are everywhere but which itself is nowhere makes every document a
    candidate: after `MAX_READ` beyond the limit, what was found so far is the answer.
    """
    terms = queries.substrings(view.searcher, query)
    if not terms:
        return []
    matching = queries.candidates(view.schema, terms)
    best: list[tuple[float, int, str]] = []
    ranked = _ranked(view, matching, scope, limit, constant=len(terms) == 1)
    for candidate in itertools.islice(ranked, limit + MAX_READ):
        if len(best) >= limit and best[limit - 1][:2] <= candidate[:2]:
            break
        stored = read(view.searcher.doc(candidate.address))
        score = sum(term.weight for term in terms if term.text in stored.text)
        if score:
            insort(best, (-score, candidate.place, stored.chunk_id))
    return [Hit(*to_place(place), chunk, -minus / 16) for minus, place, chunk in best[:limit]]


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
    exact = len(scope.revns) <= _SMALL_SCOPE
    window = max(_FIRST_WINDOW, limit * _OVERFETCH)
    seen: set[int] = set()
    while searcher.num_docs:
        bounded = query
        if exact or not queries.prevails(searcher, scope):
            bounded = queries.within(view.schema, query, scope, revns=exact)
        fetched = _fetch(searcher, bounded, min(window, searcher.num_docs), constant=constant)
        exhausted = len(fetched) < window
        inside = fetched if exact else _inside(searcher, fetched, scope)
        whole_ties = not exact or window <= MAX_TIED
        if not exhausted and not constant and whole_ties:
            last = fetched[-1].minus_score
            inside = [c for c in inside if c.minus_score < last]
        for candidate in sorted(inside, key=_BY_RANK):
            if candidate.place not in seen:
                seen.add(candidate.place)
                yield candidate
        if exhausted:
            return
        exact = True
        window *= _GROWTH


def _inside(searcher: tantivy.Searcher, fetched: list[Candidate], scope: Scope) -> list[Candidate]:
    """Those of the scope's namespace and revisions."""
    owner = tenant(scope.namespace)
    owners = _numbers(searcher, "tenant", [c.address for c in fetched])
    return [
        candidate
        for candidate, of in zip(fetched, owners, strict=True)
        if of == owner and candidate.place >> ORDER_BITS in scope.revns
    ]


def _fetch(
    searcher: tantivy.Searcher, query: tantivy.Query, window: int, *, constant: bool
) -> list[Candidate]:
    """The first `window` matches in the engine's order."""
    if constant:
        hits = searcher.search(
            query, window, count=False, order_by_field="place", order=tantivy.Order.Asc
        ).hits
        return [Candidate(0.0, place, address) for place, address in hits]
    hits = searcher.search(query, window, count=False).hits
    addresses = [address for _, address in hits]
    places = _numbers(searcher, "place", addresses)
    scores = _tied([score for score, _ in hits])
    return list(map(Candidate, scores, places, addresses))


def _tied(falling: list[float]) -> list[float]:
    """Falling scores, negated, with true ties: sums that differ only in the last bits of
    the engine's 32 become the highest of them."""
    tied: list[float] = []
    previous = lead = float("inf")
    for score in falling:
        if score < previous * (1 - _TIE):
            lead = score
        tied.append(-lead)
        previous = score
    return tied
