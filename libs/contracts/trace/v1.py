"""The fields of trace schema 1. Optional keys may be added without a new version."""

from typing import Literal

from pydantic import Field

from libs.contracts.base import Contract
from libs.contracts.query.stages import Stage

TraceQueryType = Literal["single_doc", "comparison", "follow_up", "abstention"]


class QueryRewrite(Contract):
    """How the query was understood before anything was retrieved."""

    original_query: str
    resolved_query: str
    rewritten: bool = False
    rewrite_type: Literal[
        "conversation_state_prefix", "explicit_context", "clarification_required", "none"
    ] = "none"
    context_source: Literal["conversation_state", "context_entities", "query", "none"] = "none"
    context_status: Literal["resolved", "needs_clarification", "not_needed"] = "not_needed"
    context_resolution_confidence: float = 1.0
    reason: str = ""
    context_entities: list[str] = []
    context_projects: list[str] = []
    active_doc_ids: list[str] = []
    readable_summary: str = ""


class Attempt(Contract):
    """One pass of retrieve and verify."""

    stage: Stage
    top_k: int
    verified: bool
    verification_reasons: list[str] = []
    metadata_doc_ids: list[str] = []
    retrieve_ms: float = 0.0
    verify_ms: float = 0.0


class StageLatencies(Contract):
    """Milliseconds; `answer_generation_ms` is the rendering of the evidence."""

    query_analysis_ms: float = 0.0
    context_resolution_ms: float = 0.0
    answer_generation_ms: float = 0.0


class Planner(Contract):
    """What the planner did and why."""

    query_type: TraceQueryType = "single_doc"
    pipeline: str
    prompt_profile: str = "none"
    strategy: str
    retrieval_mode: Literal["flat", "hierarchical"] = "flat"
    metadata_first: bool = False
    rerank: bool = False
    verifier_retry: bool = False
    stage_sequence: list[str]
    selected_stage: str
    selected_top_k: int
    retrieval_budget: dict[str, int] = {}
    metadata_candidate_count: int = 0
    metadata_selected_doc_ids: list[str] = []
    metadata_ambiguous: bool = False
    comparison_coverage: dict[str, bool] = {}
    stage_latencies_ms: StageLatencies = Field(default_factory=StageLatencies)
    attempts: list[Attempt]
    readable_summary: str = ""


class AnswerSchema(Contract):
    """Mirrors the evidence envelope."""

    schema_version: Literal[1] = 1
    status: str
    status_reason: str = ""
    query_type: TraceQueryType
    claim_count: int


class Trace(Contract):
    """The whole record."""

    schema_version: Literal[1] = 1
    run_id: str
    trace_id: str | None
    query_rewrite: QueryRewrite
    planner: Planner
    answer_schema: AnswerSchema
