"""Who must act decides what happens to a failed delivery."""

import pytest

from libs.contracts.faults import Code, DocumentFault, StaleFault, TakenOverFault, WorldFault
from libs.runtime.faultpolicy import RetryPolicy, decide

POLICY = RetryPolicy(world_retries=3, bug_retries=1, first_delay=2.0, longest_delay=10.0)


@pytest.mark.parametrize(
    ("error", "failures", "action", "delay"),
    [
        (DocumentFault(Code.ENCRYPTED, "x"), 1, "fail", 0.0),
        (StaleFault(Code.SUPERSEDED, "x"), 1, "drop", 0.0),
        (TakenOverFault("x"), 9, "leave", 0.0),
        (WorldFault(Code.STORE_AWAY, "x"), 1, "retry", 2.0),
        (WorldFault(Code.STORE_AWAY, "x"), 2, "retry", 4.0),
        (WorldFault(Code.STORE_AWAY, "x"), 3, "retry", 8.0),
        (WorldFault(Code.STORE_AWAY, "x"), 4, "park", 0.0),
        (WorldFault(Code.RATE_LIMITED, "x", retry_after=7.0), 1, "retry", 7.0),
        (WorldFault(Code.RATE_LIMITED, "x", retry_after=7000.0), 1, "retry", 10.0),
        (RuntimeError("x"), 1, "retry", 2.0),
        (RuntimeError("x"), 2, "park", 0.0),
    ],
)
def test_decisions(error: Exception, failures: int, action: str, delay: float) -> None:
    decision = decide(error, failures, POLICY)
    assert (decision.action, decision.delay) == (action, delay)


def test_our_bug_says_its_type_and_never_its_text() -> None:
    decision = decide(ValueError("a line of the document"), 1, POLICY)
    assert decision.detail == "unexpected ValueError"
    assert decision.code is Code.INTERNAL
