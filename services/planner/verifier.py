"""Does the evidence hold what the question needs: terms that it states, sides that it compares.

What is missing is looked for once more by name; what that finds joins the first
evidence behind its better half, so that a needless second look costs little.
"""

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from libs.contracts.api.search import RetrieveAnswer, RetrievedChunk
from libs.contracts.query.analysis import MAX_KEYWORDS, HardFilters, QueryAnalysis
from libs.contracts.query.stages import Stage
from libs.contracts.trace import Attempt
from services.planner.agentic.rules import compared
from services.planner.support import unsupported

_APART = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class Needs:
    """`terms` the evidence has to name (laws, articles, codes, quoted phrases); `sides` that a
    comparison has."""

    terms: tuple[str, ...] = ()
    sides: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """Both, each once."""
        return tuple(dict.fromkeys((*self.terms, *self.sides)))


def needs_of(query: str, analysis: QueryAnalysis | None) -> Needs:
    """What a query needs, by its words and its analysis."""
    terms = () if analysis is None else (*analysis.must_terms, *analysis.phrases)
    return Needs(tuple(dict.fromkeys(terms)), tuple(compared(query)))


def missing(needs: Iterable[str], chunks: Iterable[RetrievedChunk]) -> list[str]:
    """The needs that no chunk holds in its text, heading path or file name; case, spaces and
    punctuation make no difference."""
    if not (wanted := {need: _plain(need) for need in needs}):
        return []
    texts = [_plain(" ".join((chunk.content, *chunk.path, chunk.file_name))) for chunk in chunks]
    return [need for need, plain in wanted.items() if not any(plain in text for text in texts)]


def joined(
    first: Sequence[RetrievedChunk],
    second: Iterable[RetrievedChunk],
    lacking: Sequence[str],
    limit: int,
) -> list[RetrievedChunk]:
    """At most `limit` chunks: the better half of `first`, then those of `second` that hold one
    of the `lacking` needs (one for each need before a second for any), then the rest."""
    known = {(c.document_id, c.chunk_id) for c in first}
    fresh = [c for c in second if (c.document_id, c.chunk_id) not in known]
    holding = [[c for c in fresh if not missing([need], [c])] for need in lacking]
    found: dict[tuple[str, str], RetrievedChunk] = {}
    for rank in range(max(map(len, holding), default=0)):
        for chunks in holding:
            if rank < len(chunks):
                found.setdefault((chunks[rank].document_id, chunks[rank].chunk_id), chunks[rank])
    half = max(limit - len(found), (limit + 1) // 2)
    kept = list(first[:half])
    return [*kept, *list(found.values())[: limit - len(kept)], *first[half:]][:limit]


def why_unsupported(query: str, answer: RetrieveAnswer, analysis: QueryAnalysis | None) -> str:
    """Why nothing of an answer is about the query, empty otherwise. A corpus that is returned
    whole, a list that is asked for, and what time has cut are not judged."""
    browses = analysis is not None and analysis.intent == "filter_browse"
    if browses or answer.unfinished or answer.strategy != "fusion":
        return ""
    words = telling_words(query, analysis)
    return unsupported(query, answer.chunks, words, searched=answer.searched)


def telling_words(query: str, analysis: QueryAnalysis | None) -> list[str]:
    """The words by which an analysis says what a query is about: its keywords and optional
    terms; none where they may not be all, or are another query's."""
    if analysis is None or len(analysis.keywords) == MAX_KEYWORDS:
        return []
    if analysis.normalized_queries[0].text != query:
        return []
    return list(dict.fromkeys([*analysis.keywords, *analysis.optional_terms]))


def filters_of(analysis: QueryAnalysis | None, *, relaxed: bool) -> QueryAnalysis | None:
    """Of an analysis what filters and prefers documents, for a search with other words; without
    its hard filters where these were given up (`relaxed`)."""
    if analysis is None:
        return None
    return QueryAnalysis(
        hard_filters=HardFilters() if relaxed else analysis.hard_filters,
        soft_filters=analysis.soft_filters,
        domain_hint=analysis.domain_hint,
        language_scope=analysis.language_scope,
        normalized_queries=analysis.normalized_queries[:1],
        analyzer_confidence=analysis.analyzer_confidence,
    )


def why_lacking(lacking: Sequence[str]) -> str:
    """What no piece of the evidence names, as an envelope says it; empty when nothing lacks."""
    return f"no piece of the evidence names {', '.join(lacking)}" if lacking else ""


def tried(stages: Mapping[Stage, float], top_k: int) -> list[Attempt]:
    """The attempts of a search that left nothing, by the milliseconds of each."""
    return [
        Attempt(
            stage=stage,
            top_k=top_k,
            verified=False,
            verification_reasons=["nothing_left"],
            retrieve_ms=milliseconds,
        )
        for stage, milliseconds in stages.items()
    ]


def _plain(text: str) -> str:
    return _APART.sub("", text.casefold())


@dataclass
class Looked:
    """The looks of one query: what was found, what it lacks, and a record of every attempt."""

    needs: Needs
    top_k: int
    query: str
    analysis: QueryAnalysis | None = None
    answer: RetrieveAnswer = field(
        default_factory=lambda: RetrieveAnswer(corpus_version=0, strategy="fusion", chunks=[])
    )
    lacking: list[str] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    unsupported: str = ""
    again: bool = False
    """Whether there was a second look."""

    def saw(self, answer: RetrieveAnswer, milliseconds: float) -> None:
        """The first look; what has nothing to do with the query is as good as nothing."""
        self.unsupported = why_unsupported(self.query, answer, self.analysis)
        if self.unsupported:
            answer = answer.model_copy(update={"chunks": []})
        self.answer = answer
        self.attempts += tried(answer.tried_ms, self.top_k)
        self._check(answer.stage, milliseconds - sum(answer.tried_ms.values()))

    def saw_again(self, answer: RetrieveAnswer, milliseconds: float) -> None:
        """The second look, for what the first lacks; it never takes the better half away."""
        chunks = joined(self.answer.chunks, answer.chunks, self.lacking, self.top_k)
        self.answer = self.answer.model_copy(update={"chunks": chunks})
        self.again = True
        self._check("reduced", milliseconds)

    @property
    def coverage(self) -> dict[str, bool]:
        """For each side of a comparison, whether the evidence holds it."""
        return {side: side not in self.lacking for side in self.needs.sides}

    @property
    def reason(self) -> str:
        """What no piece of the evidence names; empty when nothing lacks."""
        return why_lacking(self.lacking)

    def query_type(self, status: str) -> Literal["single_doc", "comparison", "abstention"]:
        """What the query turned out to be."""
        if status == "abstained":
            return "abstention"
        return "comparison" if self.needs.sides else "single_doc"

    @property
    def _why_none(self) -> str:
        return "unsupported" if self.unsupported else "no_evidence"

    def _check(self, stage: Stage, retrieve_ms: float) -> None:
        begun = time.perf_counter()
        chunks = self.answer.chunks
        self.lacking = missing(self.needs.all, chunks) if chunks else []
        reasons = [f"missing: {need}" for need in self.lacking]
        self.attempts.append(
            Attempt(
                stage=stage,
                top_k=self.top_k,
                verified=bool(chunks) and not reasons,
                verification_reasons=reasons if chunks else [self._why_none],
                retrieve_ms=round(retrieve_ms, 3),
                verify_ms=round(1000 * (time.perf_counter() - begun), 3),
            )
        )
