"""OpenSearch queries, built from terms alone: no text ever reaches a query parser.

Queries are bounded, whatever a client sends: at most `MAX_QUERY_TOKENS` tokens and
`MAX_QUERY_TERMS` terms, of more the rarest, `MAX_WINDOWS` pieces of `WINDOW` characters a term.
"""

import base64
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from libs.runtime.index.opensearch_mappings import MAX_REVN
from libs.runtime.index.port import (
    MAX_QUERY_TERMS,
    MAX_QUERY_TOKENS,
    LexicalQuery,
    Scope,
    Vectors,
)
from libs.runtime.index.tokenizer import MAX_TERMS, fold

MAX_HITS = 10_000
WINDOW = 64
MAX_WINDOWS = 4
FEWEST_NEIGHBOURS = 256
_OVERFETCH = 2
_COOKIE = 12346
_ARRAY_SIZE = 4096

Query = dict[str, Any]


def search_body(query: Query, scope: Scope, limit: int) -> dict[str, Any]:
    """The `limit` best within the scope, ties by place."""
    within = {"bool": {"must": [query], "filter": filters(scope)}}
    return _ranked(within, limit)


def vectors_body(vector: Vectors, scope: Scope, limit: int) -> dict[str, Any]:
    """The `limit` nearest within the scope.

    More are looked for than wanted: where the scope holds no more than that, the engine
    compares all of it, exactly; elsewhere its graph is searched more widely.
    """
    wanted = min(MAX_HITS, max(FEWEST_NEIGHBOURS, limit * _OVERFETCH))
    nearest = {
        "vector": vector.astype(np.float32).tolist(),
        "k": wanted,
        "filter": {"bool": {"filter": filters(scope)}},
    }
    return _ranked({"knn": {"vector": nearest}}, limit)


def _ranked(query: Query, limit: int) -> dict[str, Any]:
    return {
        "query": query,
        "size": min(limit, MAX_HITS),
        "sort": ["_score", {"place": "asc"}],
        "_source": False,
        "track_total_hits": False,
    }


def filters(scope: Scope) -> list[Query]:
    """Clauses that leave the scope alone; they do not score."""
    found = [owner(scope.namespace), _revisions(scope.revns)]
    if scope.chunk_types is not None:
        found.append({"terms": {"type": sorted(scope.chunk_types)}})
    return found


def owner(namespace: str) -> Query:
    """What a namespace has."""
    return {"term": {"namespace": namespace}}


def revisions(namespace: str, revns: Iterable[int]) -> Query:
    """Every document of some revisions."""
    return {"bool": {"filter": [owner(namespace), _revisions(revns)]}}


def held(namespace: str, after: dict[str, Any] | None) -> dict[str, Any]:
    """Asks of which revisions there is anything, in pages that go on `after` a page's key."""
    pages = {"size": MAX_HITS, "sources": [{"revn": {"terms": {"field": "revn"}}}]}
    if after is not None:
        pages["after"] = after
    return {
        "query": {"bool": {"filter": [owner(namespace)]}},
        "size": 0,
        "track_total_hits": False,
        "aggs": {"held": {"composite": pages}},
    }


def _revisions(revns: Iterable[int]) -> Query:
    known = [revn for revn in revns if 0 <= revn <= MAX_REVN]
    return {"terms": {"revn": [bitmap(known)], "value_type": "bitmap"}}


def words(field: str, tokens: list[str]) -> Query:
    """BM25 over the tokens of a field; they hold no space and are cut at spaces alone."""
    return {"match": {field: {"query": " ".join(tokens), "operator": "or"}}}


def rarest(field: str, tokens: list[str]) -> dict[str, Any]:
    """Asks which `MAX_QUERY_TOKENS` of the tokens, each once, are rarest of those in the index."""
    return {
        **_statistics({field: " ".join(tokens)}, [field]),
        "filter": {"max_num_terms": MAX_QUERY_TOKENS, "min_doc_freq": 1},
    }


def terms_of(query: LexicalQuery) -> list[str]:
    """The terms of a query that can be looked for, each once; at most `MAX_TERMS`."""
    return [t for t in dict.fromkeys(map(fold, query.terms)) if len(t) > 1][:MAX_TERMS]


def frequencies(terms: list[str]) -> dict[str, Any]:
    """Asks in how many documents each gram of the terms is; `rarest_terms` reads the answer."""
    pieces = [piece for term in terms for piece in _windows(term)]
    return _statistics({"term": pieces}, ["term", "term.pairs"])


def rarest_terms(terms: list[str], answer: Mapping[str, Any]) -> list[str]:
    """The `MAX_QUERY_TERMS` rarest of the terms that may be in the index, rarest first.

    A term is as rare as its rarest gram; one with a gram that is nowhere is nowhere.
    """
    fields = answer.get("term_vectors", {})
    pairs, triples = (fields.get(f, {}).get("terms", {}) for f in ("term.pairs", "term"))
    found = []
    for term in terms:
        known = pairs if len(term) == 2 else triples
        rarity = min(known.get(gram, {}).get("doc_freq", 0) for gram in _grams(term))
        if rarity:
            found.append((rarity, term))
    found.sort(key=lambda counted: counted[0])
    return [term for _, term in found[:MAX_QUERY_TERMS]]


def substrings(terms: list[str]) -> Query:
    """Documents that hold one of the terms, which have two characters or more.

    A term weighs the mean rarity of its grams, ln(1 + (N - df + 0.5) / (df + 0.5)).
    """
    return {"bool": {"should": [_substring(term) for term in terms]}}


def _statistics(document: dict[str, Any], fields: list[str]) -> dict[str, Any]:
    return {
        "doc": document,
        "fields": fields,
        "term_statistics": True,
        "field_statistics": False,
        "positions": False,
        "offsets": False,
        "payloads": False,
    }


def _grams(term: str) -> list[str]:
    if len(term) == 2:
        return [term]
    return [p[i : i + 3] for p in _windows(term) for i in range(len(p) - 2)]


def _substring(text: str) -> Query:
    if len(text) == 2:
        return {"term": {"term.pairs": {"value": text}}}
    pieces = _windows(text)
    grams = sum(len(piece) - 2 for piece in pieces)
    phrases = [{"match_phrase": {"term": {"query": piece}}} for piece in pieces]
    return {"bool": {"must": phrases, "boost": 1 / grams}}


def _windows(text: str) -> list[str]:
    """`text`, or of a very long one pieces from its beginning to its end."""
    if len(text) <= WINDOW:
        return [text]
    count = min(MAX_WINDOWS, -(-len(text) // WINDOW))
    last = len(text) - WINDOW
    starts = [last * i // (count - 1) for i in range(count)]
    return list(dict.fromkeys(text[start : start + WINDOW] for start in starts))


def bitmap(numbers: Iterable[int]) -> str:
    """Numbers of 32 bits as a Roaring bitmap in base 64: two bytes a number or less.

    The portable format without runs: cookie, count of containers, their keys (the upper 16
    bits) and sizes, their offsets, and their lower 16 bits, sorted or as 65,536 single bits.
    """
    values = np.unique(np.fromiter(numbers, np.uint32))
    keys, starts, sizes = np.unique(values >> 16, return_index=True, return_counts=True)
    containers = [
        _container((values[start : start + size] & 0xFFFF).astype("<u2"))
        for start, size in zip(starts, sizes, strict=True)
    ]
    lengths = [len(container) for container in containers]
    offsets = 8 + 8 * len(keys) + np.cumsum([0, *lengths])[: len(keys)]
    parts = [
        np.array([_COOKIE, len(keys)], "<u4").tobytes(),
        np.stack([keys, sizes - 1], axis=1).astype("<u2").tobytes(),
        offsets.astype("<u4").tobytes(),
        *containers,
    ]
    return base64.b64encode(b"".join(parts)).decode()


def _container(low: np.ndarray[Any, np.dtype[np.uint16]]) -> bytes:
    if len(low) <= _ARRAY_SIZE:
        return low.tobytes()
    bits = np.zeros(1 << 16, np.uint8)
    bits[low] = 1
    return np.packbits(bits, bitorder="little").tobytes()
