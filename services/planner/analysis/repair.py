"""A model's analysis of a query, believed field by field. Pure.

Each field is checked alone: clipped to its bounds where it is too much, replaced by what the
rules say where it is wrong or missing. Whatever excludes or is required must stand in the
query's own words, so that neither an invention nor an instruction hidden in a query can hide
documents.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from libs.contracts.query.analysis import (
    MAX_DOCUMENT_TYPES,
    MAX_DOMAINS,
    MAX_EXPANDED,
    MAX_KEYWORDS,
    MAX_NORMALIZED,
    MAX_SYNONYMS,
    MAX_TERMS,
    DomainHint,
    HardFilters,
    Intent,
    Language,
    LanguageScope,
    NormalizedQuery,
    QueryAnalysis,
    QueryForm,
    SoftFilters,
)
from libs.contracts.query.countries import COUNTRY_NAMES
from services.planner.analysis.korean import HANGUL
from services.planner.analysis.rules import TRANSLATION_WEIGHT, without_numbers_of
from services.planner.analysis.statements import FORMAT_NAMES, scopes_documents
from services.planner.analysis.taxonomy import Taxonomy

T = TypeVar("T")
MAX_TERM_CHARS = 128
MAX_TRANSLATION_CHARS = 1024
NEWS_WEIGHT = 0.6
_PARTICLE = r"(?=(?:의|에서|에|은|는|이|가|을|를|내|와|과|도|로|으로|만)?(?![가-힣]))"
_CONFIDENCE: TypeAdapter[float] = TypeAdapter(float)


class Proposed(BaseModel):
    """What a model may answer with: the names of the fields are fixed, nothing else is."""

    model_config = ConfigDict(extra="ignore")

    intent: Any = None
    query_type: Any = None
    domain_hint: Any = None
    language_scope: Any = None
    keywords: Any = None
    must_terms: Any = None
    optional_terms: Any = None
    hard_filters: Any = None
    soft_filters: Any = None
    normalized_queries: Any = None
    expanded_terms: Any = None
    synonyms: Any = None
    analyzer_confidence: Any = None


def repaired(
    proposed: Proposed, query: str, rules: QueryAnalysis, taxonomy: Taxonomy
) -> QueryAnalysis:
    """`proposed` where it can be believed, `rules` everywhere else."""
    text = _folded(query)
    unnamed = without_numbers_of([*rules.must_terms, *rules.phrases], query)
    hint: DomainHint = _one_of(proposed.domain_hint, DomainHint, rules.domain_hint)
    must = _stated(proposed.must_terms, text, MAX_TERMS)
    keywords = _stated(proposed.keywords, text, MAX_KEYWORDS) or rules.keywords
    required = _united(rules.must_terms, must, MAX_TERMS)
    optional = _stated(proposed.optional_terms, text, MAX_TERMS) or rules.optional_terms
    given = {_folded(word) for word in keywords}
    expanded = [t for t in _terms(proposed.expanded_terms) if _folded(t) not in given]
    return QueryAnalysis(
        intent=_one_of(proposed.intent, Intent, rules.intent),
        query_type=_one_of(proposed.query_type, QueryForm, rules.query_type),
        domain_hint=hint,
        language_scope=_one_of(proposed.language_scope, LanguageScope, rules.language_scope),
        keywords=keywords,
        must_terms=required,
        optional_terms=[t for t in optional if t not in required],
        phrases=rules.phrases,
        hard_filters=_hard_filters(proposed.hard_filters, unnamed, rules.hard_filters),
        soft_filters=_soft_filters(proposed.soft_filters, rules.soft_filters, taxonomy),
        normalized_queries=_normalized(proposed.normalized_queries, rules, news=hint != "document"),
        expanded_terms=_united(expanded, rules.expanded_terms, MAX_EXPANDED),
        synonyms=_synonyms(proposed.synonyms, text) or rules.synonyms,
        analyzer_confidence=_confidence(proposed.analyzer_confidence, rules),
    )


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _one_of(value: object, choices: Any, otherwise: T) -> T:
    return value if isinstance(value, str) and value in get_args(choices) else otherwise  # type: ignore[return-value]


def _terms(value: object) -> list[str]:
    """Texts of one line, each once; others are left out."""
    found: dict[str, None] = {}
    for item in value if isinstance(value, list) else []:
        if isinstance(item, str | int) and not isinstance(item, bool):
            term = " ".join(str(item).split())
            if term and len(term) <= MAX_TERM_CHARS and term.isprintable():
                found[term] = None
    return list(found)


def _stated(value: object, text: str, most: int) -> list[str]:
    """The terms that stand in the query."""
    return [term for term in _terms(value) if _folded(term) in text][:most]


def _united(first: Iterable[str], second: Iterable[str], most: int) -> list[str]:
    return list(dict.fromkeys([*first, *second]))[:most]


def _hard_filters(value: object, query: str, rules: HardFilters) -> HardFilters:
    """What the rules found and, where the words hold it and may scope documents, more."""
    if not isinstance(value, dict) or not scopes_documents(query):
        return rules
    text = _folded(query)
    formats = [f.lower().lstrip(".") for f in _terms(value.get("file_format"))]
    countries = [c.upper() for c in _terms(value.get("country"))]
    (year,) = _terms([value.get("year")]) or ("",)
    said = re.fullmatch(r"[1-9]\d{3}", year) and re.search(rf"(?<!\d){year}(?!\d)", text)
    return HardFilters(
        file_format=_united(rules.file_format, (f for f in formats if _format_said(f, text)), 8),
        year=rules.year or (int(year) if said else None),
        country=_united(rules.country, (c for c in countries if _country_said(c, text)), 8),
    )


def _said(name: str, text: str) -> bool:
    """Whether a folded text holds the name as a word; a Korean particle may follow it."""
    after = _PARTICLE if HANGUL.search(name) else r"(?![0-9a-z])"
    return re.search(rf"(?<![0-9a-z가-힣]){re.escape(name)}{after}", text) is not None


def _format_said(wanted: str, text: str) -> bool:
    return any(wanted in formats and _said(name, text) for name, formats in FORMAT_NAMES.items())


def _country_said(wanted: str, text: str) -> bool:
    names = (name.casefold() for name, code in COUNTRY_NAMES.items() if code == wanted)
    return any(len(name) > 2 or HANGUL.search(name) for name in names if _said(name, text))


def _soft_filters(value: object, rules: SoftFilters, taxonomy: Taxonomy) -> SoftFilters:
    if not isinstance(value, dict):
        return rules
    domains = [d for d in _terms(value.get("domain")) if d in taxonomy.domains]
    types = [t for t in _terms(value.get("document_type")) if t in taxonomy.document_types]
    return SoftFilters(
        domain=domains[:MAX_DOMAINS] or rules.domain,
        document_type=types[:MAX_DOCUMENT_TYPES] or rules.document_type,
    )


def _normalized(value: object, rules: QueryAnalysis, *, news: bool) -> list[NormalizedQuery]:
    """The original as the rules read it, then translations in languages that may be used."""
    original, *translated = rules.normalized_queries
    allowed: dict[Language, float] = {}
    if original.lang in ("ko", "en"):
        allowed["en" if original.lang == "ko" else "ko"] = TRANSLATION_WEIGHT
    if news:
        others: tuple[Language, ...] = ("ja", "zh", "fr", "de")
        allowed |= {lang: NEWS_WEIGHT for lang in others if lang != original.lang}
    said = _translations(value)
    found = {
        lang: NormalizedQuery(lang=lang, text=said[lang], weight=weight)
        for lang, weight in allowed.items()
        if lang in said
    }
    for query in translated:
        found.setdefault(query.lang, query)
    ranked = sorted(found.values(), key=lambda q: -q.weight)
    return [original, *ranked][:MAX_NORMALIZED]


def _translations(value: object) -> dict[str, str]:
    """Texts of one line by language, the first of each."""
    found: dict[str, str] = {}
    for item in value if isinstance(value, list) else []:
        lang, text = (item.get("lang"), item.get("text")) if isinstance(item, dict) else ("", "")
        if isinstance(lang, str) and isinstance(text, str):
            line = " ".join(text.split())
            if line.isprintable() and 0 < len(line) <= MAX_TRANSLATION_CHARS:
                found.setdefault(lang, line)
    return found


def _synonyms(value: object, text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for word, same in value.items() if isinstance(value, dict) else ():
        (term,) = _terms([word]) or ("",)
        others = [t for t in _terms(same) if _folded(t) != _folded(term)][:MAX_TERMS]
        if term and others and _folded(term) in text:
            found[term] = others
    return dict(list(found.items())[:MAX_SYNONYMS])


def _confidence(value: object, rules: QueryAnalysis) -> float:
    """The model's, within the scale; what the rules cannot analyse stays unanalysed."""
    try:
        said = _CONFIDENCE.validate_python(value)
    except ValidationError:
        return rules.analyzer_confidence
    return said if 0.0 <= said <= 1.0 else rules.analyzer_confidence
