"""Budgets cut at random, against the receipt: never overrun, and what was spent adds up."""

import asyncio
from typing import Any
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from libs.contracts.api.search import SearchResponse
from libs.contracts.faults import Code, WorldFault
from services.planner.agentic import mode
from tests.unit.planner.test_agentic import READS, Bus, asks, count, hit, section, workflow

QUESTIONS = (
    "When was the director of Quiet Harbour born?",
    "Compare Quiet Harbour and Loud Bay: which is older?",
    "Quiet Harbour was made in 1931.",
    "List all films of Mira Voss",
)


def answered(query: str, tokens: int, calls: int, top_k: int, late: list[str]) -> SearchResponse:
    bus = Bus(**{name: WorldFault(Code.TIMEOUT, "late") for name in late})
    bus.sections = [
        section(["Cast"], hits=[hit("person", covered=1.0)]),
        section(["Music"], summary="Who wrote it.", opened=False),
    ]
    body: dict[str, Any] = {"query": query, "top_k": top_k, "budget": {"tokens": tokens}}
    with patch.object(mode, "CALLS", calls):
        return asyncio.run(workflow(bus, reads=READS).answer(asks(**body)))


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(QUESTIONS),
    st.integers(1, 80),
    st.integers(0, 16),
    st.integers(1, 4),
    st.lists(st.sampled_from(["retrieve", "probe", "navigate", "hydrate"]), max_size=2),
)
def test_a_cut_budget_is_kept_told_and_gives_the_same_again(
    query: str, tokens: int, calls: int, top_k: int, late: list[str]
) -> None:
    response = answered(query, tokens, calls, top_k, late)
    receipt = response.budget
    assert (receipt.limit["tokens"], receipt.limit["calls"]) == (tokens, calls)
    for name in ("tokens", "calls"):
        assert receipt.spent[name] <= receipt.limit[name]
        assert receipt.spent[name] == sum(step.get(name, 0) for step in receipt.steps)
    if response.evidence:
        assert count([response.evidence_text])[0] <= receipt.spent["tokens"]
    assert len(response.evidence) <= top_k
    assert receipt.steps[-1]["unopened"] == len(response.outline)
    complete = receipt.stop_reason == "complete"
    assert complete == (response.status in ("ok", "abstained"))
    assert complete or response.status_reason
    skipped = [step for step in receipt.steps if step.get("skipped")]
    assert not (skipped and complete)
    again = answered(query, tokens, calls, top_k, late)
    assert (again.evidence, again.outline) == (response.evidence, response.outline)
    assert again.budget.stop_reason == receipt.stop_reason


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(QUESTIONS), st.integers(1, 80), st.integers(1, 80))
def test_more_tokens_never_give_less(query: str, some: int, more: int) -> None:
    few, many = (
        answered(query, tokens, 24, 4, []).evidence for tokens in sorted((some, some + more))
    )
    assert len(few) <= len(many)
