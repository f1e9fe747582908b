"""Fusion: the formulas as stated, and what must hold for any lists."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.retriever.fusion import above, convex, min_max, reciprocal_rank

WEIGHTS = {"path": 1.0, "content": 2.0, "term": 1.5}

ranked = st.lists(
    st.tuples(st.integers(0, 50), st.floats(0, 100)), max_size=30, unique_by=lambda hit: hit[0]
).map(lambda hits: sorted(hits, key=lambda hit: -hit[1]))


def test_rank_fusion_is_weight_over_k_plus_rank_plus_one() -> None:
    lists = {
        "path": [("a", 9.0)],
        "content": [("b", 5.0), ("a", 4.0)],
        "term": [("c", 1.0), ("b", 1.0)],
    }
    fused = reciprocal_rank(lists, WEIGHTS, 60)
    assert fused["a"].score == pytest.approx(1.0 / 61 + 2.0 / 62)
    assert fused["b"].score == pytest.approx(2.0 / 61 + 1.5 / 62)
    assert fused["c"].score == pytest.approx(1.5 / 61)
    assert fused["b"].parts == {"content": pytest.approx(2.0 / 61), "term": pytest.approx(1.5 / 62)}


def test_min_max_spans_zero_to_one_and_equal_scores_are_ones() -> None:
    assert min_max([("a", 6.0), ("b", 4.0), ("c", 2.0)]) == {"a": 1.0, "b": 0.5, "c": 0.0}
    assert min_max([("a", 3.0), ("b", 3.0)]) == {"a": 1.0, "b": 1.0}
    assert min_max([]) == {}


def test_scores_are_shares_of_the_best_above_the_floor() -> None:
    assert above([("a", 0.9), ("b", 0.8), ("c", 0.6)], 0.7) == {
        "a": 1.0, "b": pytest.approx(0.5), "c": 0.0,
    }  # fmt: skip
    assert above([("a", 0.7)], 0.7) == {"a": 0.0}
    assert above([], 0.7) == {}


def test_the_mix_is_half_lexical_and_half_dense() -> None:
    content, dense = [("a", 10.0), ("b", 5.0)], [("b", 0.9), ("c", 0.8)]
    shares = dict.fromkeys("abc", 0.5)
    fused = convex(content, dense, shares=shares, floor=0.7, extra={})
    scores = {k: v.score for k, v in fused.items()}
    assert scores == {"a": 0.5, "b": 0.75, "c": pytest.approx(0.25)}


def test_a_chunk_without_its_vector_keeps_its_full_lexical_score() -> None:
    content, dense = [("new", 10.0), ("old", 9.0), ("low", 0.0)], [("old", 0.9)]
    shares = {"old": 0.5, "low": 0.5}
    fused = convex(content, dense, shares=shares, floor=0.7, extra={})
    assert fused["new"].score == 1.0
    assert fused["old"].score == pytest.approx(0.5 * 0.9 + 0.5)


def test_each_chunk_is_mixed_by_the_share_of_where_it_is_from() -> None:
    lists = [("a", 1.0), ("b", 1.0)]
    fused = convex(lists, [("b", 1.0)], shares={"a": 0.2, "b": 0.7}, floor=0.0, extra={})
    assert fused["a"].parts == {"content": pytest.approx(0.8)}
    assert fused["b"].parts == {"content": pytest.approx(0.3), "dense": pytest.approx(0.7)}


@given(ranked, ranked, st.floats(0, 1), st.floats(-1, 1))
def test_the_mix_stays_within_zero_and_one(content, dense, share, floor) -> None:
    shares = {key: share for key, _ in [*content, *dense]}
    fused = convex(content, dense, shares=shares, floor=floor, extra={})
    assert set(fused) == set(shares)
    assert all(-1e-9 <= f.score <= 1 + 1e-9 for f in fused.values())


@given(ranked)
def test_rank_fusion_of_one_channel_keeps_its_order(content) -> None:
    fused = reciprocal_rank({"content": content}, WEIGHTS, 60)
    assert sorted(fused, key=lambda key: -fused[key].score) == [key for key, _ in content]
