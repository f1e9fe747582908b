"""What a trace shows once it is redacted."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.contracts.trace import Attempt, Planner, QueryRewrite, Trace
from libs.contracts.trace.redaction import REDACTED, Redaction, redact
from libs.contracts.trace.v1 import AnswerSchema

SECRET = "canary-7f3a"


def trace_with(secret: str) -> dict[str, Any]:
    """A trace with the secret wherever a name, a text or a document id may stand."""
    trace = Trace(
        run_id="run-1",
        trace_id="0af7",
        query_rewrite=QueryRewrite(
            original_query=f"what about {secret}?",
            resolved_query=f"the budget of {secret}",
            rewritten=True,
            rewrite_type="conversation_state_prefix",
            reason=f"{secret} was spoken of before",
            context_entities=[secret, "Hanbit"],
            context_projects=[f"project {secret}"],
            active_doc_ids=[secret, "doc-b"],
            readable_summary=f"Resolved to {secret} in doc-b.",
        ),
        planner=Planner(
            pipeline="agentic",
            strategy="comparison",
            stage_sequence=["search", "side_1", "render"],
            selected_stage="strict",
            selected_top_k=10,
            retrieval_budget={"tokens": 4000},
            metadata_selected_doc_ids=[secret],
            comparison_coverage={secret: True, f"the {secret}": False},
            attempts=[
                Attempt(
                    stage="strict",
                    top_k=10,
                    verified=False,
                    verification_reasons=[f"missing:{secret}", "no_evidence"],
                    metadata_doc_ids=[secret, "doc-b", "doc-c"],
                    retrieve_ms=1.5,
                )
            ],
            readable_summary=f"{secret} was searched.",
        ),
        answer_schema=AnswerSchema(
            status="ok", status_reason=f"{secret} or Hanbit?", query_type="comparison",
            claim_count=2,
        ),
    )  # fmt: skip
    return trace.model_dump(mode="json")


@given(st.text(min_size=3).filter(lambda text: json.dumps(text)[1:-1] not in _shown("\0\0\0")))
def test_no_name_text_or_id_survives(secret: str) -> None:
    assert json.dumps(secret)[1:-1] not in _shown(secret)


def _shown(secret: str) -> str:
    return json.dumps(redact(trace_with(secret), "all"))


def test_of_ids_alone_the_ids_go_and_the_words_stay() -> None:
    masked = redact(trace_with(SECRET), "doc_ids")
    assert SECRET not in json.dumps(masked)
    assert masked["query_rewrite"]["original_query"] == f"what about {REDACTED}?"
    assert masked["query_rewrite"]["context_entities"] == [REDACTED, "Hanbit"]
    assert masked["planner"]["comparison_coverage"] == {REDACTED: True, f"the {REDACTED}": False}
    assert "doc-b" not in json.dumps(masked)


@pytest.mark.parametrize("how", ["all", "doc_ids"])
def test_lists_keep_their_length_and_the_trace_its_schema(how: Redaction) -> None:
    masked = redact(trace_with(SECRET), how)
    read = Trace.model_validate(masked)
    assert read.query_rewrite.active_doc_ids == [REDACTED] * 2
    assert read.planner.metadata_selected_doc_ids == [REDACTED]
    assert read.planner.attempts[0].metadata_doc_ids == [REDACTED] * 3
    assert len(read.query_rewrite.context_entities) == 2
    assert len(read.planner.attempts[0].verification_reasons) == 2
    assert len(read.planner.comparison_coverage) == 2
    assert read.planner.retrieval_budget == {"tokens": 4000}
    assert read.planner.stage_sequence == ["search", "side_1", "render"]
    assert read.planner.attempts[0].retrieve_ms == 1.5
    assert (read.run_id, read.trace_id) == ("run-1", "0af7")


def test_every_entity_becomes_the_mark() -> None:
    masked = redact(trace_with(SECRET), "all")
    assert masked["query_rewrite"]["context_entities"] == [REDACTED, REDACTED]
    assert masked["planner"]["comparison_coverage"] == {"<redacted 1>": True, "<redacted 2>": False}


def test_summaries_are_written_anew_from_what_is_left() -> None:
    masked = redact(trace_with(SECRET), "all")
    assert masked["query_rewrite"]["readable_summary"] == (
        "The query was rewritten (conversation_state_prefix); its context held 2 entities, "
        "1 projects, 2 active documents. Names are redacted."
    )
    assert masked["planner"]["readable_summary"].startswith(
        "agentic, comparison: stage strict, 0 of 1 attempts verified"
    )


@pytest.mark.parametrize("how", ["all", "doc_ids"])
def test_the_given_trace_stays_as_it_is(how: Redaction) -> None:
    trace = trace_with(SECRET)
    before = copy.deepcopy(trace)
    redact(trace, how)
    assert trace == before


def test_what_a_newer_version_adds_is_masked_too() -> None:
    trace = trace_with("x")
    trace["planner"]["relaxed"] = {SECRET: [{"title": SECRET, "score": 0.5}]}
    trace["planner"]["candidate_doc_ids"] = [SECRET]
    trace["planner"]["strategy"] = f"asks for {SECRET} by name"
    assert SECRET not in json.dumps(redact(trace, "all"))
    assert redact(trace, "all")["planner"]["relaxed"] == {
        "<redacted 1>": [{"<redacted 1>": REDACTED, "<redacted 2>": 0.5}]
    }
    trace["planner"]["strategy"] = "bridge"
    assert SECRET not in json.dumps(redact(trace, "doc_ids"))


def test_an_id_that_is_a_field_of_the_schema_changes_no_key() -> None:
    trace = trace_with("planner")
    assert redact(trace, "doc_ids").keys() == trace.keys()
    assert redact(trace, "doc_ids")["planner"]["pipeline"] == "agentic"


def test_empty_strings_stay_empty() -> None:
    trace = trace_with("x")
    trace["answer_schema"]["status_reason"] = ""
    assert redact(trace, "all")["answer_schema"]["status_reason"] == ""
