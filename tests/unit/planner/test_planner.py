"""Rendering, cache key and trace of a classic query: pure parts."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from libs.contracts.api.search import (
    Asset,
    PlanQuery,
    RetrievedChunk,
    SearchRequest,
    SearchResponse,
)
from libs.contracts.artefacts import Box
from libs.contracts.trace import Attempt
from libs.runtime.models.settings import Endpoint
from services.planner.cache import cache_key
from services.planner.rendering import evidence_of, evidence_text
from services.planner.settings import Settings
from services.planner.traces import classic_trace
from services.planner.workflow import workflow_of


def chunk(**changes) -> RetrievedChunk:
    fields = {
        "document_id": "doc-1", "revision": 3, "file_name": "법령.pdf", "chunk_id": "tab",
        "type": "text", "content": "제1조 목적", "path": ["제1장", "제1조"], "order": 0,
        "page_numbers": [4, 5], "boxes": [Box(page=4, bbox=(72.0, 90.5, 523.1, 310.0))],
        "content_hash": "sha256:ab", "score": 0.08123456789123,
        "channels": {"content": 0.08},
    }  # fmt: skip
    return RetrievedChunk(**{**fields, **changes})


def query(**changes) -> PlanQuery:
    request = SearchRequest.model_validate({"query": "목적", **changes})
    return PlanQuery(namespace="default", key_id="key-1", request=request)


def test_evidence_cites_everything_that_a_quotation_needs() -> None:
    piece = evidence_of(chunk(), explain=False)
    assert (piece.document_id, piece.revision, piece.chunk_id) == ("doc-1", 3, "tab")
    assert (piece.source_file_name, piece.section_path) == ("법령.pdf", ["제1장", "제1조"])
    assert (piece.page_numbers, piece.content_hash) == ([4, 5], "sha256:ab")
    assert piece.boxes[0].bbox == (72.0, 90.5, 523.1, 310.0)
    assert piece.explain is None
    assert evidence_of(chunk(), explain=True).explain == {"channels": {"content": 0.08}}


def test_a_table_chunk_brings_its_own_html() -> None:
    piece = evidence_of(chunk(type="table", html="<table></table>"), explain=False)
    assert piece.assets == [Asset(chunk_id="tab", type="table", html="<table></table>")]


def test_the_text_numbers_pieces_and_says_where_they_stand() -> None:
    text = evidence_text([evidence_of(chunk(), explain=False)] * 2)
    assert text.startswith("[1] 법령.pdf › 제1장 › 제1조 (p. 4, 5)\n제1조 목적\n\n[2] ")


def test_the_text_leaves_the_marks_of_assets_out() -> None:
    marked = chunk(content="Fees:\n\n[[table:tab12]]\n\nas of May.")
    assert evidence_text([evidence_of(marked, explain=False)]).endswith("Fees:\n\nas of May.")


def test_the_cache_key_changes_with_all_that_an_answer_depends_on() -> None:
    base = cache_key(query(), 7, "f")
    others = [
        cache_key(query(), 8, "f"),
        cache_key(query(), 7, "g"),
        cache_key(query(top_k=5), 7, "f"),
        cache_key(query(query="목적 2"), 7, "f"),
        cache_key(query(filters={"year": 2024}), 7, "f"),
        cache_key(query(mode="agentic"), 7, "f"),
        cache_key(query(budget={"tokens": 3999}), 7, "f"),
        cache_key(query(budget={"milliseconds": 4999}), 7, "f"),
        cache_key(query(conversation=[{"role": "user", "text": "그 사업은?"}]), 7, "f"),
        cache_key(query(**{"continue": "run-1"}), 7, "f"),
        cache_key(query(explain=True), 7, "f"),
        cache_key(query().model_copy(update={"key_id": "key-2"}), 7, "f"),
        cache_key(query().model_copy(update={"namespace": "other"}), 7, "f"),
    ]
    assert len({base, *others}) == len(others) + 1
    assert cache_key(query(), 7, "f") == base


@pytest.mark.parametrize(
    "changed",
    [
        {"retriever_mix_dense": 0.5}, {"retriever_boost_named": 0.0}, {"retriever_depth": 50},
        {"embedder": "use"}, {"reranker_folder": Path("/models/other")},
        {"model_rerank": Endpoint(url="http://127.0.0.1:1/v1", name="other")},
        {"model_analyze": Endpoint(url="http://127.0.0.1:1/v1", name="other")},
        {"model_plan": Endpoint(url="http://127.0.0.1:1/v1", name="other")},
        {"planner_analysis": False}, {"context_resolution_threshold": 0.7},
    ],
)  # fmt: skip
def test_answers_of_other_settings_or_models_have_other_keys(changed: dict[str, Any]) -> None:
    plain, other = (
        workflow_of(
            cast(Any, None), cast(Any, SimpleNamespace(catalog=SimpleNamespace(documents=None))),
            Settings(**fields, _env_file=None), None,
        )
        for fields in ({"planner_cache": False}, {"planner_cache": False, **changed})
    )  # fmt: skip
    assert plain.key(query(), 7) != other.key(query(), 7)
    assert plain.key(query(), 7) == plain.key(query(), 7)


def test_the_trace_mirrors_the_envelope_and_holds_its_required_fields() -> None:
    response = SearchResponse(
        run_id="run-1", trace_id="0" * 32, corpus_version=7, claim_count=1,
        evidence=[evidence_of(chunk(), explain=False)],
    )  # fmt: skip
    trace = classic_trace(
        query().request,
        response,
        strategy="fusion",
        analysis_ms=0.125,
        attempts=[Attempt(stage="strict", top_k=10, verified=True, retrieve_ms=3.25)],
        coverage={},
        render_ms=0.5,
    ).model_dump(mode="json")
    assert trace["schema_version"] == 1
    assert trace["query_rewrite"]["rewrite_type"] == "none"
    assert trace["planner"]["attempts"][0]["retrieve_ms"] == 3.25
    assert trace["planner"]["stage_latencies_ms"] == {
        "query_analysis_ms": 0.125, "context_resolution_ms": 0.0, "answer_generation_ms": 0.5,
    }  # fmt: skip
    assert trace["answer_schema"] == {
        "schema_version": 1, "status": "ok", "status_reason": "", "query_type": "single_doc",
        "claim_count": 1,
    }  # fmt: skip
