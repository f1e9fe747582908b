"""The trace of a run, schema version 1: pure builders."""

from libs.contracts.api.search import SearchRequest, SearchResponse
from libs.contracts.trace import AnswerSchema, Attempt, Planner, QueryRewrite, Trace
from libs.contracts.trace.v1 import StageLatencies


def trace_of(request: SearchRequest, response: SearchResponse, planner: Planner) -> Trace:
    """The record of a query that was used as it stands: what the planner did, and the envelope
    mirrored."""
    return Trace(
        run_id=response.run_id,
        trace_id=response.trace_id,
        query_rewrite=QueryRewrite(
            original_query=request.query,
            resolved_query=request.query,
            readable_summary="The query was used as it stands.",
        ),
        planner=planner,
        answer_schema=AnswerSchema(
            status=response.status,
            status_reason=response.status_reason,
            query_type=response.query_type,
            claim_count=response.claim_count,
        ),
    )


def classic_trace(
    request: SearchRequest,
    response: SearchResponse,
    *,
    strategy: str,
    analysis_ms: float,
    attempts: list[Attempt],
    coverage: dict[str, bool],
    render_ms: float,
    again: bool = False,
    by_meaning: bool = True,
) -> Trace:
    """The record of a classic query: its attempts, the last of which stands; milliseconds.
    `again` says that it was looked for a second time, `by_meaning` that vectors took part."""
    return _flat_trace(
        request,
        response,
        strategy=strategy,
        stages=["retrieve", "verify", *(["retrieve", "verify"] if again else []), "render"],
        again=again,
        attempts=attempts,
        coverage=coverage,
        by_meaning=by_meaning,
        latencies=StageLatencies(
            query_analysis_ms=round(analysis_ms, 3), answer_generation_ms=round(render_ms, 3)
        ),
    )


def cached_trace(request: SearchRequest, response: SearchResponse) -> Trace:
    """The record of a query of either mode that was answered from the cache."""
    return _flat_trace(
        request,
        response,
        strategy="cache",
        stages=["cache"],
        attempts=[_served(request, response)],
        coverage={},
        latencies=StageLatencies(),
    )


def _flat_trace(
    request: SearchRequest,
    response: SearchResponse,
    *,
    strategy: str,
    stages: list[str],
    attempts: list[Attempt],
    coverage: dict[str, bool],
    latencies: StageLatencies,
    again: bool = False,
    by_meaning: bool = True,
) -> Trace:
    return trace_of(
        request,
        response,
        Planner(
            query_type=response.query_type,
            pipeline=request.mode,
            strategy=strategy,
            stage_sequence=stages,
            selected_stage=attempts[-1].stage,
            verifier_retry=again,
            comparison_coverage=coverage,
            selected_top_k=request.top_k,
            retrieval_budget=request.budget.model_dump(),
            stage_latencies_ms=latencies,
            attempts=attempts,
            readable_summary=_told(
                strategy if by_meaning or strategy != "fusion" else "words",
                attempts,
                response,
                request.top_k,
                again=again,
            ),
        ),
    )


_STRATEGIES = {
    "fusion": "Searched by words and by meaning",
    "words": "Searched by words alone, vectors took no part",
    "small_corpus": "The corpus is so small that all of it was given, best first",
    "empty": "No document satisfies the filters",
    "nothing_published": "Nothing is published yet",
    "cache": "An equal query was answered before, from the same corpus",
}


_NAMES = {
    "phrases": "its quoted phrase",
    "must_terms": "the names that it requires",
    "file_format": "the format",
    "year": "the year",
    "country": "the country",
}


def given_up(relaxed: list[str]) -> str:
    """What of a query was given up, in words."""
    return ", ".join(_NAMES.get(name, name) for name in relaxed)


def _told(
    strategy: str, attempts: list[Attempt], response: SearchResponse, top_k: int, *, again: bool
) -> str:
    """The run in a sentence or two, for somebody who sees nothing else."""
    found = len(response.evidence)
    said = [_STRATEGIES.get(strategy, strategy)]
    if response.relaxed_filters:
        said.append(f"{given_up(response.relaxed_filters)} left nothing and was given up")
    if again:
        said.append("a second search by name followed, since the first evidence lacked some")
    if attempts and attempts[-1].verification_reasons == ["unsupported"]:
        said.append("what was found has nothing to do with the query, so nothing is given")
    elif found and attempts and not attempts[-1].verified:
        said.append("some of what the query needs is in none of the pieces")
    if response.budget.stop_reason == "time":
        said.append("its time ended before all was done")
    if response.outline:
        said.append(f"{len(response.outline)} more had no room in its tokens and are listed")
    return f"{'; '.join(said)}: {found} of at most {top_k} pieces."


def _served(request: SearchRequest, response: SearchResponse) -> Attempt:
    found = bool(response.evidence)
    return Attempt(
        stage="strict",
        top_k=request.top_k,
        verified=found,
        verification_reasons=[] if found else ["no_evidence"],
    )
