"""Metrics and intervals, against values worked out by hand and laws they must keep."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.retrieval.bootstrap import interval, paired
from eval.retrieval.compare import compare
from eval.retrieval.metrics import METRICS, figures, ndcg

PLACES = [f"p{n}" for n in range(12)]


def test_figures_of_a_ranking() -> None:
    found = figures(["x", "a", "y", "b", "z", "c"], {"a": 1, "b": 1, "c": 1})
    assert found["recall@2"] == pytest.approx(1 / 3)
    assert found["recall@5"] == pytest.approx(2 / 3)
    assert (found["all@5"], found["all@10"]) == (0.0, 1.0)
    assert found["mrr@10"] == 0.5
    assert (found["acc@1"], found["acc@5"]) == (0.0, 1.0)
    gained = 1 / math.log2(3) + 1 / math.log2(5) + 1 / math.log2(7)
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4)
    assert found["ndcg@10"] == pytest.approx(gained / ideal)


def test_grades_are_gains() -> None:
    assert ndcg(["low", "high"], {"high": 2, "low": 1}, 10) == pytest.approx(
        (1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3))
    )


def test_what_is_beyond_the_cut_does_not_count() -> None:
    ranking = [*PLACES[:10], "gold"]
    assert all(value == 0 for value in figures(ranking, {"gold": 1}).values())


@given(
    st.lists(st.sampled_from(PLACES), unique=True),
    st.dictionaries(st.sampled_from(PLACES), st.integers(1, 3), min_size=1),
)
def test_figures_lie_between_nothing_and_the_ideal(
    ranking: list[str], relevant: dict[str, int]
) -> None:
    found = figures(ranking, relevant)
    assert set(found) == set(METRICS)
    assert all(0 <= value <= 1 + 1e-9 for value in found.values())
    ideal = sorted(relevant, key=lambda place: -relevant[place])
    assert figures(ideal, relevant)["ndcg@10"] == pytest.approx(1)
    assert found["recall@2"] <= found["recall@5"] <= found["recall@10"]
    assert found["all@5"] <= found["recall@5"]


def test_intervals_are_the_same_for_the_same_seed_and_hold_the_mean() -> None:
    values = [0.0, 0.2, 0.4, 1.0] * 20
    once = interval(values, seed=3)
    assert once == interval(values, seed=3)
    assert once != interval(values, seed=4)
    assert once.low < once.mean < once.high
    assert once.mean == pytest.approx(0.4)


def test_more_cases_make_narrower_intervals() -> None:
    few, many = (interval([0.0, 1.0] * n, seed=1, samples=500) for n in (10, 1000))
    assert many.high - many.low < (few.high - few.low) / 5


def test_a_constant_loss_is_one_and_noise_is_none() -> None:
    before = [0.5, 0.6, 0.7, 0.8] * 10
    assert paired([value - 0.1 for value in before], before, seed=1).is_loss
    assert paired([value + 0.1 for value in before], before, seed=1).is_gain
    same = paired(before, before, seed=1)
    assert not same.is_loss
    assert not same.is_gain
    flipped = [*before[1:], before[0]]
    assert not paired(flipped, before, seed=1).is_loss


def test_sides_are_compared_over_the_cases_that_both_have() -> None:
    ours = {"a": {"ndcg@10": 1.0}, "b": {"ndcg@10": 0.0}, "c": {"abstention": 1.0}}
    theirs = {"a": {"ndcg@10": 0.5}, "c": {"ndcg@10": 0.9}}
    (found,) = compare(("classic", ours), ("bm25s", theirs), seed=1)
    assert found.metric == "ndcg@10"
    assert found.difference.mean == 0.5
