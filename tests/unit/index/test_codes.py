"""Codes: estimates with a known error, and shortlists that hold what they should."""

import numpy as np
import pytest

from libs.runtime.index.codes import Codes


def cone(count: int, dimension: int, seed: int) -> np.ndarray:
    """Unit vectors about one axis, spread over some directions more than over others."""
    random = np.random.default_rng(seed)
    turned, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((dimension, dimension)))
    spread = np.arange(1, dimension + 1) ** -0.5
    vectors = random.standard_normal((count, dimension)) * spread @ turned
    vectors += np.sqrt(3 * np.square(spread).sum() / dimension)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors.astype(np.float32)


def coded(vectors: np.ndarray, piece: int = 700) -> Codes:
    codes = Codes(vectors.mean(axis=0))
    for start in range(0, len(vectors), piece):
        codes.add(vectors[start : start + piece])
    return codes


@pytest.mark.parametrize("dimension", [96, 200])
def test_a_shortlist_is_short_and_holds_the_nearest(dimension: int) -> None:
    vectors, queries = cone(2000, dimension, 2), cone(20, dimension, 3)
    codes, rows, kept, wanted = coded(vectors), np.arange(2000), 0, 0
    for query in queries:
        near = codes.shortlist(query, rows, 20)
        assert (np.diff(near) > 0).all()
        assert len(near) < 1000
        nearest = np.argsort(-(vectors @ query))[:20]
        kept, wanted = kept + np.isin(nearest, near).sum(), wanted + 20
        assert nearest[0] in near
    assert kept / wanted >= 0.98


def test_only_rows_that_are_asked_for_are_shortlisted() -> None:
    vectors, (query,) = cone(3000, 64, 2), cone(1, 64, 3)
    rows = np.arange(1, 3000, 3)
    near = coded(vectors).shortlist(query, rows, 10)
    assert set(near.tolist()) <= set(rows.tolist())
    best = rows[np.argmax(vectors[rows] @ query)]
    assert best in near


def test_pieces_and_the_whole_are_coded_alike() -> None:
    vectors, (query,) = cone(2000, 64, 2), cone(1, 64, 3)
    rows = np.arange(2000)
    near = [coded(vectors, piece).shortlist(query, rows, 10).tolist() for piece in (90, 700, 5000)]
    assert near[0] == near[1] == near[2]


def test_equal_vectors_are_all_shortlisted_or_none() -> None:
    vectors, (query,) = np.repeat(cone(200, 64, 2), 10, axis=0), cone(1, 64, 3)
    near = coded(vectors).shortlist(query, np.arange(2000), 5)
    assert np.bincount(near // 10).tolist().count(10) == len(near) // 10
    assert len(near) % 10 == 0


@pytest.mark.parametrize("same", [np.zeros(64, np.float32), np.full(64, 0.125, np.float32)])
def test_vectors_that_are_all_the_same_are_all_near(same: np.ndarray) -> None:
    near = coded(np.tile(same, (500, 1))).shortlist(same, np.arange(500), 5)
    assert len(near) == 500


def test_long_vectors_are_counted_without_overflow() -> None:
    vectors = np.random.default_rng(2).standard_normal((300, 6000)).astype(np.float32)
    near = coded(vectors).shortlist(-10 * vectors[7] - 9 * vectors[0], np.arange(300), 5)
    assert not {0, 7} & set(near.tolist())
    assert 7 in coded(vectors).shortlist(vectors[7], np.arange(300), 1)
