"""Query analysis: closed fields with fixed bounds; what a model answers is clipped to them."""

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from libs.contracts.base import Contract

Intent = Literal["fact_lookup", "semantic_search", "filter_browse"]
QueryForm = Literal["natural_language", "keyword", "phrase"]
DomainHint = Literal["document", "news", "mixed"]
LanguageScope = Literal["limited", "global"]
Language = Literal["ko", "en", "ja", "zh", "fr", "de"]
Term = Annotated[str, Field(min_length=1, max_length=128)]

MAX_KEYWORDS = 8
MAX_TERMS = 8
MAX_NORMALIZED = 3
MAX_EXPANDED = 5
MAX_DOMAINS = 3
MAX_DOCUMENT_TYPES = 2
MAX_SYNONYMS = 8


class Closed(Contract):
    """A part of the analysis: no field but these."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class HardFilters(Closed):
    """Only what the words of the query state; each excludes documents that differ.

    `country` holds ISO 3166-1 alpha-2 codes, `file_format` format names of the profiler.
    """

    file_format: list[Term] = Field(default_factory=list, max_length=8)
    year: int | None = Field(default=None, ge=1000, le=9999)
    country: list[Annotated[str, Field(pattern=r"^[A-Z]{2}$")]] = Field(
        default_factory=list, max_length=8
    )

    @property
    def empty(self) -> bool:
        """Nothing is filtered."""
        return not (self.file_format or self.year or self.country)


class SoftFilters(Closed):
    """Boosts that never exclude: paths of the taxonomy, most likely first."""

    domain: list[Term] = Field(default_factory=list, max_length=MAX_DOMAINS)
    document_type: list[Term] = Field(default_factory=list, max_length=MAX_DOCUMENT_TYPES)


class NormalizedQuery(Closed):
    """The query in one language, with its weight in the fusion (the original is of 1.0, and
    empty only where the query is)."""

    lang: Language
    text: str = Field(max_length=4096)
    weight: float = Field(ge=0.0, le=1.0)


class QueryAnalysis(Closed):
    """What a query asks for.

    `analyzer_confidence`: 0.9 and more clear, 0.7 mostly clear, 0.5 ambiguous, below 0.5
    not analysable (empty, symbols), and then the plain query is used. `phrases` must occur
    as they stand; `must_terms` are required where filters are strict.
    """

    intent: Intent = "semantic_search"
    query_type: QueryForm = "natural_language"
    domain_hint: DomainHint = "document"
    language_scope: LanguageScope = "limited"
    keywords: list[Term] = Field(default_factory=list, max_length=MAX_KEYWORDS)
    must_terms: list[Term] = Field(default_factory=list, max_length=MAX_TERMS)
    optional_terms: list[Term] = Field(default_factory=list, max_length=MAX_TERMS)
    phrases: list[Term] = Field(default_factory=list, max_length=MAX_TERMS)
    hard_filters: HardFilters = Field(default_factory=HardFilters)
    soft_filters: SoftFilters = Field(default_factory=SoftFilters)
    normalized_queries: list[NormalizedQuery] = Field(min_length=1, max_length=MAX_NORMALIZED)
    expanded_terms: list[Term] = Field(default_factory=list, max_length=MAX_EXPANDED)
    synonyms: dict[Term, list[Term]] = Field(default_factory=dict, max_length=MAX_SYNONYMS)
    analyzer_confidence: float = Field(ge=0.0, le=1.0)

    @model_validator(mode="after")
    def _original_first(self) -> Self:
        if self.normalized_queries[0].weight != 1.0:
            raise ValueError("the first normalized query is the original one, of weight 1.0")
        return self
