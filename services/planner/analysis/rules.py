"""The analyzer that needs no model: the words of a query, read by rules."""

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property

from libs.contracts.query.analysis import (
    MAX_EXPANDED,
    MAX_KEYWORDS,
    MAX_SYNONYMS,
    MAX_TERMS,
    HardFilters,
    Language,
    NormalizedQuery,
    QueryAnalysis,
)
from services.planner.analysis.form import form_of, hint_of, intent_of, scope_of
from services.planner.analysis.references import must_terms, phrases
from services.planner.analysis.statements import hard_filters
from services.planner.analysis.taxonomy import Taxonomy
from services.planner.analysis.terms import Terms
from services.planner.analysis.words import content_words, language_of, meant

READ = 1024
"""Characters of a query that are analysed, so that a long one costs no more; the query
itself is searched whole."""

THRESHOLD = 0.5
"""Below this confidence nothing of an analysis acts: the plain query is used."""

TRANSLATION_WEIGHT = 0.8
_DIGIT = re.compile(r"\d")
_CLEAR, _MOSTLY, _AMBIGUOUS, _VAGUE, _SYMBOLS, _EMPTY = 0.9, 0.75, 0.6, 0.4, 0.2, 0.0


@dataclass(frozen=True)
class RulesAnalyzer:
    """Deterministic and pure; under 2 ms a query."""

    taxonomy: Taxonomy
    terms: Terms

    @cached_property
    def fingerprint(self) -> str:
        """What its analyses depend on, for the keys of cached answers."""
        known = self.taxonomy.model_dump_json() + self.terms.model_dump_json()
        return hashlib.sha256(known.encode()).hexdigest()[:16]

    def analyze(self, query: str) -> QueryAnalysis:
        """The analysis; what cannot be analysed has a confidence under `THRESHOLD` and states
        nothing but the query itself."""
        text = " ".join(query[:READ].split())
        lang = language_of(text)
        keywords = content_words(text)
        original = NormalizedQuery(lang=lang, text=query[:4096], weight=1.0)
        if not keywords:
            confidence = _VAGUE if meant(text) else _SYMBOLS if text else _EMPTY
            return QueryAnalysis(normalized_queries=[original], analyzer_confidence=confidence)
        must = must_terms(text)
        quoted = phrases(text)
        filters = hard_filters(without_numbers_of([*must, *quoted], text))
        normalized, expanded, synonyms = self._widened(keywords, original)
        held = " ".join([*must, *quoted])
        intent = intent_of(text, names_exactly=bool(must or quoted))
        return QueryAnalysis(
            intent=intent,
            query_type=form_of(text),
            domain_hint=hint_of(text),
            language_scope=scope_of(text),
            keywords=keywords[:MAX_KEYWORDS],
            must_terms=must,
            optional_terms=[w for w in keywords if w not in held][:MAX_TERMS],
            phrases=quoted,
            hard_filters=filters,
            soft_filters=self.taxonomy.hints(text),
            normalized_queries=normalized,
            expanded_terms=expanded,
            synonyms=synonyms,
            analyzer_confidence=_confidence(keywords, exact=bool(must or quoted), filters=filters),
        )

    def acting(self, query: str) -> QueryAnalysis | None:
        """The analysis, where it is sure enough to act on retrieval."""
        analysis = self.analyze(query)
        return analysis if analysis.analyzer_confidence >= THRESHOLD else None

    def _widened(
        self, keywords: list[str], original: NormalizedQuery
    ) -> tuple[list[NormalizedQuery], list[str], dict[str, list[str]]]:
        lang = original.lang
        synonyms = {w: same for w in keywords if (same := self.terms.equals(w))}
        expanded = [other for same in synonyms.values() for other in same]
        normalized = [original]
        if lang in ("ko", "en"):
            expanded += [t for w in keywords if (t := self.terms.counterpart(w, lang))]
            other: Language = "en" if lang == "ko" else "ko"
            translated = self.terms.translated(keywords, lang)
            if translated:
                normalized.append(
                    NormalizedQuery(lang=other, text=translated, weight=TRANSLATION_WEIGHT)
                )
        given = {w.casefold() for w in keywords}
        expanded = [t for t in dict.fromkeys(expanded) if t.casefold() not in given]
        return (
            normalized,
            expanded[:MAX_EXPANDED],
            dict(list(synonyms.items())[:MAX_SYNONYMS]),
        )


def without_numbers_of(names: list[str], text: str) -> str:
    """The text whose names hold no digits: the year of an act, or of a quoted title, is part
    of its name and states nothing about documents."""
    for name in names:
        text = text.replace(name, _DIGIT.sub("#", name))
    return text


def _confidence(keywords: list[str], *, exact: bool, filters: HardFilters) -> float:
    """The fixed scale: named things or filters are clear, one bare word is ambiguous."""
    if exact or (not filters.empty and len(keywords) > 1):
        return _CLEAR
    if len(keywords) > 2:
        return _CLEAR if len(keywords) <= 2 * MAX_KEYWORDS else _MOSTLY
    return _MOSTLY if len(keywords) == 2 else _AMBIGUOUS
