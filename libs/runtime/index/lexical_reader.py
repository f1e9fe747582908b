"""Reads the lexical channels: every call sees all that was committed before it began."""

import itertools
import threading
from bisect import insort
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import tantivy

from libs.contracts.artefacts.chunk import ChunkType, digest_ids
from libs.contracts.faults import Code, WorldFault
from libs.runtime.index import queries
from libs.runtime.index.port import (
    EMPTY_DIGEST,
    Digest,
    Hit,
    LexicalChannel,
    LexicalQuery,
    Scope,
)
from libs.runtime.index.schema import CHUNK_TYPES, open_folder, read, to_place

_SMALL_SCOPE = 64
_FIRST_WINDOW = 64
_OVERFETCH = 4
_GROWTH = 16
_TIE = 2e-6


class Candidate(NamedTuple):
    """A document that may be a hit; the first three fields sort best first, ties by place."""

    minus_score: float
    revn: int
    order: int
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
        ranked = itertools.islice(_ranked(view, matching, scope, limit), limit)
        return [
            Hit(c.revn, c.order, read(view.searcher.doc(c.address)).chunk_id, -c.minus_score)
            for c in ranked
        ]

    def digest(self, namespace: str, revn: int) -> Digest:
        """Count and digest of the revision's chunk ids."""
        if (view := self._view()) is None:
            return EMPTY_DIGEST
        found = _revision(view, namespace, revn)
        ids = [read(view.searcher.doc(address)).chunk_id for address in found]
        return Digest(len(ids), digest_ids(ids))

    def types(self, namespace: str, revn: int) -> dict[int, ChunkType]:
        """The type of each chunk of the revision, by order."""
        if (view := self._view()) is None:
            return {}
        found = _revision(view, namespace, revn)
        places = view.searcher.fast_field_values("place", found)
        codes = view.searcher.fast_field_values("type", found)
        return {
            to_place(int(place or 0)).order: CHUNK_TYPES[int(code or 0)]
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


def _search_terms(view: _View, query: LexicalQuery, scope: Scope, limit: int) -> list[Hit]:
    """Candidates are verified, best first, until no later one can enter the first `limit`."""
    terms = queries.substrings(view.searcher, query)
    if not terms:
        return []
    matching = queries.candidates(view.schema, terms)
    best: list[tuple[float, int, int, str]] = []
    for candidate in _ranked(view, matching, scope, limit, constant=len(terms) == 1):
        if len(best) >= limit and best[limit - 1][:3] <= candidate[:3]:
            break
        stored = read(view.searcher.doc(candidate.address))
        score = sum(term.weight for term in terms if term.text in stored.text)
        if score:
            insort(best, (-score, candidate.revn, candidate.order, stored.chunk_id))
    return [Hit(revn, order, chunk, -minus / 16) for minus, revn, order, chunk in best[:limit]]


def _ranked(
    view: _View, query: tantivy.Query, scope: Scope, limit: int, *, constant: bool = False
) -> Iterator[Candidate]:
    """Documents of the scope that match, by falling score, ties by place.

    More are fetched than wanted, since some are of other revisions. When those do not
    suffice the engine itself filters by revision: slower, but only what counts comes.
    Documents that tie with the last one fetched are held back until all such are there.
    `constant` says that all scores are the same: then the engine orders by place.
    """
    searcher = view.searcher
    filtered = len(scope.revns) <= _SMALL_SCOPE
    window = max(_FIRST_WINDOW, limit * _OVERFETCH)
    seen: set[tuple[int, int]] = set()
    while searcher.num_docs:
        bounded = queries.within(view.schema, query, scope, revns=filtered)
        fetched = _fetch(searcher, bounded, min(window, searcher.num_docs), constant=constant)
        exhausted = len(fetched) < window
        inside = [c for c in fetched if c.revn in scope.revns]
        if not exhausted and not constant:
            last = fetched[-1].minus_score
            inside = [c for c in inside if c.minus_score < last]
        for candidate in sorted(inside, key=lambda c: c[:3]):
            if (place := (candidate.revn, candidate.order)) not in seen:
                seen.add(place)
                yield candidate
        if exhausted:
            return
        filtered = True
        window *= _GROWTH


def _fetch(
    searcher: tantivy.Searcher, query: tantivy.Query, window: int, *, constant: bool
) -> list[Candidate]:
    """The first `window` matches in the engine's order."""
    if constant:
        hits = searcher.search(
            query, window, count=False, order_by_field="place", order=tantivy.Order.Asc
        ).hits
        return [Candidate(0.0, *to_place(place), address) for place, address in hits]
    hits = searcher.search(query, window, count=False).hits
    places = searcher.fast_field_values("place", [address for _, address in hits])
    scores = _tied([score for score, _ in hits])
    return [
        Candidate(-score, *to_place(int(place or 0)), address)
        for score, (_, address), place in zip(scores, hits, places, strict=True)
    ]


def _tied(falling: list[float]) -> list[float]:
    """Scores with true ties: sums that differ only in the last bits of the engine's 32
    become the highest of them."""
    tied: list[float] = []
    previous = lead = float("inf")
    for score in falling:
        if score < previous * (1 - _TIE):
            lead = score
        tied.append(lead)
        previous = score
    return tied
