"""How the analysis of a query acts on its retrieval: pure, but for looking up what it names.

* Hard filters leave out documents whose metadata differ. When no document that is left
  states what they ask for, or nothing is found in those, they are given up, and the answer
  says so. Filters of the request itself are never given up.
* Named terms (phrases, must terms) raise chunks that hold them; in a query that is a phrase
  or keywords a quoted phrase is required, must terms are where the step is `strict`.
* Soft filters raise documents of a domain or type by a share of their score.
* `filter_browse` puts the best chunk of each document before all others.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from libs.contracts.api.search import RetrieveQuery
from libs.contracts.query.analysis import HardFilters, QueryAnalysis, SoftFilters
from libs.contracts.query.countries import country_code
from libs.runtime.catalog.documents import ActiveRevision
from services.retriever.channels import Found, Key
from services.retriever.fusion import Fused
from services.retriever.scope import Corpus

NAMED_LIMIT = 1000
"""A term that so many chunks hold is looked for no further: it tells nothing apart."""


@dataclass(frozen=True)
class Guidance:
    """What acts on one attempt; `relaxed` names what this attempt gave up."""

    filters: HardFilters = field(default_factory=HardFilters)
    required: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    soft: SoftFilters = field(default_factory=SoftFilters)
    browse: bool = False
    exact: bool = False
    relaxed: tuple[str, ...] = ()

    def looked_for(self, *, named: bool) -> tuple[str, ...]:
        """The terms whose chunks have to be known: what is required, and what is `named`."""
        return tuple(dict.fromkeys([*self.required, *(self.named if named else ())]))


def attempts(query: RetrieveQuery) -> list[Guidance]:
    """Strict, reduced (nothing required), relaxed (no hard filter); each that differs from the
    one before it. One empty attempt without an analysis."""
    analysis = query.analysis
    if analysis is None:
        return [Guidance()]
    required = _required(analysis, strict=query.strict)
    named = tuple(dict.fromkeys([*analysis.phrases, *analysis.must_terms]))
    filters = analysis.hard_filters
    given_up = ("phrases", *(("must_terms",) if query.strict else ())) if required else ()

    def attempt(f: HardFilters, r: tuple[str, ...], relaxed: tuple[str, ...]) -> Guidance:
        return Guidance(
            filters=f,
            required=r,
            named=named,
            soft=analysis.soft_filters,
            browse=analysis.intent == "filter_browse",
            exact=analysis.intent == "fact_lookup",
            relaxed=relaxed,
        )

    result = [attempt(filters, required, ())]
    if required:
        result.append(attempt(filters, (), given_up))
    if not filters.empty:
        result.append(attempt(HardFilters(), (), (*given_up, *_stated(filters))))
    return result


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
    return Corpus(corpus.version, kept, corpus.model)


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
    chunk holds (twice for fact lookup), of soft filters a share of the chunk's own. No boost
    takes anything away."""
    if not fused:
        return fused
    best = max(f.score for f in fused.values())
    lists = [found.named[t] for t in guidance.named if named_weight > 0 and _tells(found, t)]
    named = named_weight * (2 if guidance.exact else 1) * best / max(1, len(lists))
    result = dict(fused)
    for key in {key for hits in lists for key in hits}:
        held = named * sum(key in hits for hits in lists)
        result[key] = _plus(result.get(key, Fused(0.0, {})), "named", held)
    if soft_weight > 0 and (guidance.soft.domain or guidance.soft.document_type):
        likely = {r.revn: soft_weight * _likeness(r, guidance.soft) for r in corpus.revisions}
        for key, scored in result.items():
            if likely.get(key[0], 0.0) > 0:
                result[key] = _plus(scored, "soft", likely[key[0]] * scored.score)
    return result


def _tells(found: Found, term: str) -> bool:
    return 0 < len(found.named.get(term, ())) < NAMED_LIMIT


def _plus(fused: Fused, name: str, value: float) -> Fused:
    return Fused(fused.score + value, {**fused.parts, name: value})


def _likeness(revision: ActiveRevision, soft: SoftFilters) -> int:
    """How many of domain and type agree; a domain agrees with its parent and children."""
    domain = revision.metadata.domain or ""
    near = any(
        domain == d or domain.startswith(f"{d}/") or (domain and d.startswith(f"{domain}/"))
        for d in soft.domain
    )
    return near + (revision.metadata.document_type in soft.document_type)


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
