"""Tantivy queries, built from terms alone: no text is ever parsed as a query.

Queries are bounded, whatever a client sends: at most `MAX_QUERY_TOKENS` tokens and
`MAX_QUERY_TERMS` terms, `MAX_GRAMS` grams a term, and terms that together may be in no more
than `MAX_POSTINGS` chunks, but for the rarest one.
"""

import math
from dataclasses import dataclass
from typing import Any

import tantivy

from libs.runtime.index.places import index_tokens
from libs.runtime.index.port import MAX_QUERY_TERMS, MAX_QUERY_TOKENS, LexicalQuery, Scope
from libs.runtime.index.schema import TYPE_CODES, revision_key
from libs.runtime.index.tokenizer import MAX_TERMS, fold

MAX_POSTINGS = 50_000
MAX_GRAMS = 5
_LOOKED_AT = 64
_GRAM = 3
"""Characters of the longest grams."""
_SUMMED = 8
"""Most terms whose sums are looked through: there are 2^n."""
_MUST, _SHOULD = tantivy.Occur.Must, tantivy.Occur.Should


@dataclass(frozen=True)
class Term:
    """A substring to find, what it weighs, and the grams that hold it together."""

    text: bytes
    weight: int
    grams: list[str]


def words(
    searcher: tantivy.Searcher, schema: tantivy.Schema, field: str, tokens: list[str]
) -> tantivy.Query | None:
    """BM25 over the field's tokens, of too many the rarest; None when none is indexed."""
    counts = {t: searcher.doc_freq(field, t) for t in dict.fromkeys(index_tokens(tokens))}
    known = sorted((t for t, count in counts.items() if count), key=lambda t: counts[t])
    clauses = [
        (_SHOULD, tantivy.Query.term_query(schema, field, token, "freq"))
        for token in known[:MAX_QUERY_TOKENS]
    ]
    return tantivy.Query.boolean_query(clauses) if clauses else None


def substrings(searcher: tantivy.Searcher, query: LexicalQuery) -> list[Term]:
    """The query's terms that some document may contain.

    A term weighs 16 · log2(1 + N/df), rounded, with df the count of its rarest gram: whole
    numbers, so that sums are exact in the engine's 32 bits and ties are true ties. Of too
    many, or where they are in too much, the rarest stay: a term that is nearly everywhere
    costs most and tells least.
    """
    found: list[tuple[int, Term]] = []
    for text in list(dict.fromkeys(map(fold, query.terms)))[:MAX_TERMS]:
        counts = {gram: searcher.doc_freq("term", gram) for gram in _grams(text)}
        if counts and all(counts.values()):
            grams = sorted(counts, key=lambda g: (counts[g], g))[:MAX_GRAMS]
            rarest = counts[grams[0]]
            weight = round(16 * math.log2(1 + searcher.num_docs / rarest))
            found.append((rarest, Term(text.encode(), max(1, weight), grams)))
    found.sort(key=lambda counted: counted[0])
    room = MAX_POSTINGS - sum(count for count, _ in found[:1])
    kept = [term for _, term in found[:1]]
    for count, term in found[1:MAX_QUERY_TERMS]:
        room -= count
        if room < 0:
            break
        kept.append(term)
    return kept


def certain_sums(terms: list[Term]) -> frozenset[int]:
    """The scores of `candidates` that say which terms a document holds, without a look at it.

    A term that is itself a gram is in every document that has the gram; where no longer term
    can have part in a sum, all of it is so.
    """
    if len(terms) > _SUMMED:
        return frozenset()
    short, long = {0}, set[int]()
    for term in terms:
        if len(term.text.decode()) <= _GRAM:
            long |= {so_far + term.weight for so_far in long}
            short |= {so_far + term.weight for so_far in short}
        else:
            long |= {so_far + term.weight for so_far in long | short}
    return frozenset(short - long - {0})


def candidates(schema: tantivy.Schema, terms: list[Term]) -> tantivy.Query:
    """Documents that hold all grams of a term; the score is the sum of such terms' weights."""
    clauses = []
    for term in terms:
        grams = [(_MUST, tantivy.Query.term_query(schema, "term", g, "basic")) for g in term.grams]
        together = tantivy.Query.boolean_query(grams)
        clauses.append((_SHOULD, tantivy.Query.const_score_query(together, float(term.weight))))
    return tantivy.Query.boolean_query(clauses)


def within(
    schema: tantivy.Schema, query: tantivy.Query, scope: Scope, *, revns: bool
) -> tantivy.Query:
    """`query` limited to the scope's namespace and types, and to its revisions if `revns`;
    scores stay as they are."""
    filters = [owner(schema, scope.namespace)]
    if scope.chunk_types is not None:
        codes = sorted(TYPE_CODES[t] for t in scope.chunk_types)
        filters.append(tantivy.Query.term_set_query(schema, "type", codes))
    if revns:
        filters.append(tantivy.Query.term_set_query(schema, "revn", sorted(scope.revns)))
    unscored = [(_MUST, tantivy.Query.boost_query(f, 0.0)) for f in filters]
    return tantivy.Query.boolean_query([(_MUST, query), *unscored])


def prevails(searcher: tantivy.Searcher, scope: Scope) -> bool:
    """Whether most of what the index holds passes the scope's namespace and types."""
    own = searcher.doc_freq("namespace", scope.namespace)
    return scope.chunk_types is None and own * 2 >= searcher.num_docs


def covers(searcher: tantivy.Searcher, scope: Scope) -> bool:
    """Whether most of what the index holds is of the scope's revisions."""
    keys = (revision_key(scope.namespace, revn) for revn in scope.revns)
    return sum(searcher.doc_freq("revision", key) for key in keys) * 2 >= searcher.num_docs


def owner(schema: tantivy.Schema, namespace: str) -> tantivy.Query:
    """What a namespace has."""
    return tantivy.Query.term_query(schema, "namespace", namespace, "basic")


def revision(schema: tantivy.Schema, namespace: str, revn: int) -> tantivy.Query:
    """Every document of one revision."""
    return tantivy.Query.term_query(schema, "revision", revision_key(namespace, revn), "basic")


def count(searcher: tantivy.Searcher, query: tantivy.Query) -> int:
    """How many living documents match."""
    result: Any = searcher.search(query, 1)
    return int(result.count)


def addresses(searcher: tantivy.Searcher, query: tantivy.Query) -> list[tantivy.DocAddress]:
    """All documents that match, in the engine's order."""
    hits = searcher.search(query, max(1, count(searcher, query)), count=False).hits
    return [address for _, address in hits]


def _grams(text: str) -> list[str]:
    """Distinct trigrams of `text`, or its bigram; of a very long one an even sample."""
    size = min(len(text), _GRAM)
    if size < 2:
        return []
    starts = range(0, len(text) - size + 1, max(1, len(text) // _LOOKED_AT))
    return list(dict.fromkeys(text[s : s + size] for s in starts))
