"""How the analysis of a query acts on its retrieval: pure, but for looking up what it names.

* Hard filters leave out documents whose metadata differ. When no document that is left
  states what they ask for, or nothing is found in those, they are given up, and the answer
  says so. Filters of the request itself are never given up.
* Named terms (phrases, must terms) raise chunks that hold them; in a query that is a phrase
  or keywords a quoted phrase is required, must terms are where the step is `strict`.
* Soft filters raise documents of a domain or type by a share of their score; so do a hint at
  news, and a query that asks in Korean and English alone, documents of that kind and language.
* A Korean query is asked of the content channel by the words that tell, without particles and
  endings (must terms, phrases, optional terms): of a few hundred questions over paragraphs that
  is worth .003 nDCG@10. English ones lose by it, since there a function word is a token.
* Translations, synonyms and expansions are looked for beside the query's own words, each by
  the weight that it has.
* `filter_browse` puts the best chunk of each document before all others.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from libs.contracts.query.analysis import MAX_TERMS, HardFilters, QueryAnalysis, SoftFilters
from libs.contracts.query.countries import country_code
from libs.contracts.query.stages import Stage
from libs.runtime.catalog.documents import ActiveRevision
from libs.runtime.index.tokenizer import tokenize
from services.retriever.channels import Found, Key, Wider
from services.retriever.fusion import Fused
from services.retriever.scope import Corpus

NAMED_LIMIT = 1000
"""A term that so many chunks hold is looked for no further: it tells nothing apart."""


SYNONYM_WEIGHT = 0.5
EXPANSION_WEIGHT = 0.3
"""Of tokens of synonyms and of expanded terms, against 1 for the query's own."""
NEAR_LANGUAGES = frozenset({"ko", "en"})


@dataclass(frozen=True)
class Guidance:
    """What acts on the attempt of one `stage`; `relaxed` names what it gave up. `news` raises
    news, `near` documents that are not known to be in another language than Korean and English.
    """

    stage: Stage = "strict"
    filters: HardFilters = field(default_factory=HardFilters)
    required: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    soft: SoftFilters = field(default_factory=SoftFilters)
    browse: bool = False
    exact: bool = False
    relaxed: tuple[str, ...] = ()
    wider: tuple[Wider, ...] = ()
    words: tuple[str, ...] = ()
    news: bool = False
    near: bool = False

    def looked_for(self, *, named: bool) -> tuple[str, ...]:
        """The terms whose chunks have to be known: what is required, and what is `named`."""
        return tuple(dict.fromkeys([*self.required, *(self.named if named else ())]))


def attempts(
    analysis: QueryAnalysis | None, *, strict: bool = False, own: Iterable[str] = ()
) -> list[Guidance]:
    """Strict, reduced (nothing required), relaxed (no hard filter); each that differs from the
    one before it. One empty attempt without an analysis. `own` are the query's tokens."""
    if analysis is None:
        return [Guidance()]
    required = _required(analysis, strict=strict)
    words = telling(analysis)
    wider = widened(analysis, words or own)
    named = tuple(dict.fromkeys([*analysis.phrases, *analysis.must_terms]))
    filters = analysis.hard_filters
    given_up = ("phrases", *(("must_terms",) if strict else ())) if required else ()

    def attempt(
        stage: Stage, f: HardFilters, r: tuple[str, ...], relaxed: tuple[str, ...]
    ) -> Guidance:
        return Guidance(
            stage=stage,
            filters=f,
            required=r,
            named=named,
            soft=analysis.soft_filters,
            browse=analysis.intent == "filter_browse",
            exact=analysis.intent == "fact_lookup",
            relaxed=relaxed,
            wider=wider,
            words=words,
            news=analysis.domain_hint == "news",
            near=analysis.language_scope == "limited",
        )

    result = [attempt("strict", filters, required, ())]
    if required:
        result.append(attempt("reduced", filters, (), given_up))
    if not filters.empty:
        result.append(attempt("relaxed", HardFilters(), (), (*given_up, *_stated(filters))))
    return result


def telling(analysis: QueryAnalysis) -> tuple[str, ...]:
    """The tokens of a Korean query's words that tell; none where they may not be all."""
    if analysis.normalized_queries[0].lang != "ko" or len(analysis.optional_terms) == MAX_TERMS:
        return ()
    terms = [*analysis.must_terms, *analysis.phrases, *analysis.optional_terms]
    return tuple(tokenize(" ".join(terms)))


def widened(analysis: QueryAnalysis, own: Iterable[str]) -> tuple[Wider, ...]:
    """The tokens that the analysis adds to the query's `own`, each once, by falling weight."""
    weights: dict[str, float] = {}

    def add(text: str, weight: float) -> None:
        for token in tokenize(text):
            weights[token] = max(weight, weights.get(token, 0.0))

    for other in analysis.normalized_queries[1:]:
        add(other.text, other.weight)
    for equals in analysis.synonyms.values():
        for word in equals:
            add(word, SYNONYM_WEIGHT)
    for term in analysis.expanded_terms:
        add(term, EXPANSION_WEIGHT)
    for token in own:
        weights.pop(token, None)
    levels = sorted({weight for weight in weights.values() if weight > 0}, reverse=True)
    return tuple(
        Wider(tuple(token for token, weight in weights.items() if weight == level), level)
        for level in levels
    )


def _required(analysis: QueryAnalysis, *, strict: bool) -> tuple[str, ...]:
    quoted = analysis.phrases if strict or analysis.query_type != "natural_language" else []
    return tuple(dict.fromkeys([*quoted, *(analysis.must_terms if strict else [])]))


def _stated(filters: HardFilters) -> Iterable[str]:
    return (name for name in ("file_format", "year", "country") if getattr(filters, name))


def narrowed(corpus: Corpus, filters: HardFilters) -> Corpus:
    """The documents that do not differ from the filters; those of unknown year or country
    stay, but where none states what a filter asks for, nothing is left."""
    if filters.empty:
        return corpus
    kept = list(corpus.revisions)
    if filters.file_format:
        kept = _agreeing(kept, set(filters.file_format), lambda r: r.format)
    if filters.year is not None:
        kept = _agreeing(kept, {filters.year}, lambda r: r.metadata.year)
    if filters.country:
        kept = _agreeing(kept, set(filters.country), _country)
    return corpus.of(kept)


def _agreeing(
    revisions: list[ActiveRevision],
    wanted: set[str] | set[int],
    value: Callable[[ActiveRevision], str | int | None],
) -> list[ActiveRevision]:
    values = [(r, value(r)) for r in revisions]
    if not any(v in wanted for _, v in values):
        return []
    return [r for r, v in values if v is None or v in wanted]


def _country(revision: ActiveRevision) -> str | None:
    stated = revision.metadata.country
    return country_code(stated) if stated else None


def raised(
    fused: dict[Key, Fused],
    found: Found,
    corpus: Corpus,
    guidance: Guidance,
    *,
    named_weight: float,
    soft_weight: float,
) -> dict[Key, Fused]:
    """Scores with the boosts: of named terms a share of the best score by how many of them a
    chunk holds (twice for fact lookup), of soft filters a share of the chunk's own, as far as
    not all that was found have it. No boost takes anything away."""
    if not fused:
        return fused
    best = max(f.score for f in fused.values())
    lists = [found.named[t] for t in guidance.named if named_weight > 0 and _tells(found, t)]
    named = named_weight * (2 if guidance.exact else 1) * best / max(1, len(lists))
    result = dict(fused)
    for key in {key for hits in lists for key in hits}:
        held = named * sum(key in hits for hits in lists)
        result[key] = _plus(result.get(key, Fused(0.0, {})), "named", held)
    if soft_weight > 0:
        found_in = {key[0] for key in result}
        likely = {revn: _likeness(corpus.by_revn[revn], guidance) for revn in found_in}
        shared = min(likely.values(), default=0)
        for key, scored in result.items():
            if likely[key[0]] > shared:
                more = soft_weight * (likely[key[0]] - shared)
                result[key] = _plus(scored, "soft", more * scored.score)
    return result


def _tells(found: Found, term: str) -> bool:
    return 0 < len(found.named.get(term, ())) < NAMED_LIMIT


def _plus(fused: Fused, name: str, value: float) -> Fused:
    return Fused(fused.score + value, {**fused.parts, name: value})


def _likeness(revision: ActiveRevision, guidance: Guidance) -> int:
    """How many of domain, type, kind and language agree; a domain agrees with its parent and
    children."""
    known, soft = revision.metadata, guidance.soft
    domain = known.domain or ""
    near = any(
        domain == d or domain.startswith(f"{d}/") or (domain and d.startswith(f"{domain}/"))
        for d in soft.domain
    )
    typed = known.document_type in soft.document_type
    news = guidance.news and known.source_kind == "news"
    language = guidance.near and (known.language or "ko")[:2] in NEAR_LANGUAGES
    return near + typed + news + language


def required_only(fused: dict[Key, Fused], found: Found, guidance: Guidance) -> dict[Key, Fused]:
    """The chunks that hold every required term, found by other channels or not; a term that
    is nearly everywhere requires nothing."""
    result = fused
    for term in guidance.required:
        hits = found.named.get(term)
        if hits is None or len(hits) >= NAMED_LIMIT:
            continue
        if result is fused:
            result = {key: fused.get(key, Fused(0.0, {})) for key in hits}
        else:
            result = {key: value for key, value in result.items() if key in hits}
    return result


def documents_first(fused: dict[Key, Fused]) -> dict[Key, Fused]:
    """The best chunk of each document before all others, both in their own order."""
    best: dict[int, Key] = {}
    for key in sorted(fused, key=lambda key: (-fused[key].score, key)):
        best.setdefault(key[0], key)
    lift = max((f.score for f in fused.values()), default=0.0) + 1.0
    firsts = set(best.values())
    return {k: _plus(f, "browse", lift) if k in firsts else f for k, f in fused.items()}
