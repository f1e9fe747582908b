"""The ledger: whatever runs in whatever order, no limit is passed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.planner.agentic.budget import Cost, Ledger, Reservation

costs = st.builds(Cost, tokens=st.integers(0, 60), calls=st.integers(0, 4))


@given(
    st.builds(Cost, tokens=st.integers(1, 200), calls=st.integers(1, 12)),
    st.lists(st.tuples(costs, st.booleans(), st.floats(0, 1), st.booleans()), max_size=40),
)
def test_spent_and_reserved_never_pass_the_limit(
    limit: Cost, steps: list[tuple[Cost, bool, float, bool]]
) -> None:
    ledger = Ledger(limit, 1000.0, lambda: 0.0)
    open_steps: list[tuple[Reservation, float, bool]] = []
    for number, (cost, evidence, used, settle_first) in enumerate(steps):
        if settle_first and open_steps:
            held, share, was_evidence = open_steps.pop(0)
            spent = Cost(int(held.cost.tokens * share), int(held.cost.calls * share))
            ledger.settle(held, spent, evidence=was_evidence)
        reserved = ledger.reserve(f"s{number}", cost, evidence=evidence)
        if reserved is not None:
            open_steps.append((reserved, used, evidence))
        assert (ledger.spent + ledger.held).fits(limit)
        assert ledger.left.tokens >= 0
        assert ledger.left.calls >= 0
    assert ledger.spent == sum(ledger.by_step.values(), Cost())


@given(st.integers(2, 1000), st.lists(st.integers(1, 400), max_size=10))
def test_models_leave_half_of_the_tokens_to_evidence(limit: int, wanted: list[int]) -> None:
    ledger = Ledger(Cost(limit, 100), 1000.0, lambda: 0.0)
    for tokens in wanted:
        held = ledger.reserve("model", Cost(tokens))
        if held:
            ledger.settle(held, held.cost)
    assert ledger.reserve("render", Cost(limit // 2), evidence=True) is not None


def test_a_step_cannot_spend_more_than_it_held_nor_be_settled_twice() -> None:
    ledger = Ledger(Cost(100, 5), 1000.0, lambda: 0.0)
    held = ledger.reserve("a", Cost(10, 1))
    assert held is not None
    with pytest.raises(ValueError, match="more than"):
        ledger.settle(held, Cost(11, 1))
    ledger.settle(held, Cost(4, 1))
    with pytest.raises(ValueError, match="already"):
        ledger.settle(held, Cost(1))
    assert ledger.left == Cost(96, 4)


def test_the_state_follows_what_is_scarcest_and_nothing_begins_after_the_end() -> None:
    now = [0.0]
    ledger = Ledger(Cost(100, 10), 1000.0, lambda: now[0])
    states = []
    for now[0] in (0.0, 600.0, 900.0, 1000.0):
        states.append(ledger.state)
    assert states == ["healthy", "tight", "critical", "exhausted"]
    assert ledger.reserve("late", Cost(calls=1)) is None
    assert ledger.reserve("render", Cost(tokens=9), evidence=True) is not None
