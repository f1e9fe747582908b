"""Vectors in memory: blocks, scopes, replacement."""

import numpy as np
import pytest

from libs.runtime.index import matrix as module
from libs.runtime.index.matrix import Entry, Matrix, Nearest


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", 16)
    monkeypatch.setattr(module, "_FIRST_BLOCK", 4)


def entry(revn: int, size: int, *, version: int = 0, dimension: int = 6) -> Entry:
    vectors = np.random.default_rng([revn, version]).standard_normal((size, dimension))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ids = [f"r{revn}e{version}c{i}" for i in range(size)]
    return Entry(
        version, revn, ids, np.arange(size, dtype=np.uint8) % 3, vectors.astype(np.float32)
    )


def expected(
    entries: list[Entry], query: np.ndarray, types: frozenset[int] | None = None
) -> list[str]:
    scored = [
        (float(vector @ query), name)
        for e in entries
        for vector, name, kind in zip(e.vectors, e.chunk_ids, e.types, strict=True)
        if types is None or int(kind) in types
    ]
    return [name for _, name in sorted(scored, reverse=True)]


def found(matrix: Matrix, query: np.ndarray, *revns: int, limit: int = 1000) -> list[str]:
    (hits,) = matrix.search([Nearest(query, frozenset(revns), None, limit)])
    return [h.chunk_id for h in hits]


def test_revisions_of_any_size_cross_blocks() -> None:
    query = entry(0, 1).vectors[0]
    entries = [entry(revn, size) for revn, size in enumerate([1, 3, 0, 15, 16, 17, 50, 2], 1)]
    matrix = Matrix(6)
    for start in range(0, len(entries), 3):
        matrix.put(entries[start : start + 3])
        there = entries[: start + 3]
        assert found(matrix, query, *(e.revn for e in there)) == expected(there, query)
    assert found(matrix, query, 4, 6) == expected([entries[3], entries[5]], query)
    kinds = frozenset({0, 2})
    (hits,) = matrix.search([Nearest(query, frozenset(range(9)), kinds, 10)])
    assert [h.chunk_id for h in hits] == expected(entries, query, kinds)[:10]


def test_dropped_revisions_free_their_memory() -> None:
    query = entry(0, 1).vectors[0]
    matrix = Matrix(6)
    held: dict[int, Entry] = {}
    for turn in range(200):
        fresh = entry(turn % 7, 5 + turn % 11, version=turn)
        matrix.drop([fresh.revn])
        matrix.put([fresh])
        held[fresh.revn] = fresh
    assert matrix.ids == {revn: e.id for revn, e in held.items()}
    assert found(matrix, query, *held) == expected(list(held.values()), query)
    assert matrix.nbytes <= 3 * sum(e.vectors.nbytes for e in held.values())
    matrix.drop(list(held))
    assert found(matrix, query, *held) == []
    assert matrix.nbytes == 0


def test_a_scope_that_was_searched_before_sees_what_came_since() -> None:
    query = entry(0, 1).vectors[0]
    matrix = Matrix(6)
    matrix.put([entry(1, 4)])
    assert found(matrix, query, 1, 2) == expected([entry(1, 4)], query)
    matrix.put([entry(2, 30)])
    assert found(matrix, query, 1, 2) == expected([entry(1, 4), entry(2, 30)], query)
    matrix.drop([1])
    assert found(matrix, query, 1, 2) == expected([entry(2, 30)], query)
    for revn in range(20):
        assert (found(matrix, query, revn) == []) is (revn != 2)


@pytest.mark.parametrize("limit", [1, 7, 40, 99, 100])
def test_ties_at_the_limit_are_ordered_by_place(limit: int) -> None:
    row = entry(0, 1).vectors
    same = [
        e._replace(vectors=np.repeat(row, 20, axis=0)) for e in (entry(r, 20) for r in range(5))
    ]
    matrix = Matrix(6)
    matrix.put(same[::-1])
    (hits,) = matrix.search([Nearest(row[0], frozenset(range(5)), None, limit)])
    assert [(h.revn, h.order) for h in hits] == [(r, i) for r in range(5) for i in range(20)][
        :limit
    ]
    assert len({h.score for h in hits}) == 1


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 16, 40])
def test_queries_of_one_scan_find_what_each_finds_alone(count: int) -> None:
    entries = [entry(revn, size) for revn, size in enumerate([15, 16, 17, 50, 2], 1)]
    matrix = Matrix(6)
    matrix.put(entries)
    matrix.drop([2])
    vectors = entry(0, count).vectors
    scopes = [frozenset({1, 4}), frozenset(range(9)), frozenset({7})]
    kinds = [None, frozenset({0, 2})]
    queries = [
        Nearest(vector, scopes[n % 3], kinds[n % 2], 1 + n * 3 % 90)
        for n, vector in enumerate(vectors)
    ]
    together = matrix.search(queries)
    for query, hits in zip(queries, together, strict=True):
        (alone,) = matrix.search([query])
        assert [(h.revn, h.order) for h in hits] == [(h.revn, h.order) for h in alone]
        assert [h.score for h in hits] == pytest.approx([h.score for h in alone], abs=1e-6)
        living = [e for e in entries if e.revn in query.revns and e.revn != 2]
        assert [h.chunk_id for h in hits] == expected(living, query.vector, query.types)[
            : query.limit
        ]


def test_of_many_only_those_that_may_be_near_are_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FEW", 100)
    scored: list[int] = []
    picked, scanned = Matrix._picked, Matrix._scanned

    def counted(self: Matrix, rows: np.ndarray, vector: np.ndarray) -> np.ndarray:
        scored.append(len(rows))
        return picked(self, rows, vector)

    def never(self: Matrix, vectors: list[np.ndarray]) -> list[np.ndarray]:
        assert not vectors
        return scanned(self, vectors)

    monkeypatch.setattr(Matrix, "_picked", counted)
    monkeypatch.setattr(Matrix, "_scanned", never)
    entries = [entry(revn, size, dimension=256) for revn, size in enumerate([500, 900, 1000], 1)]
    matrix = Matrix(256)
    for each in entries:
        for number in (0, 7):
            query = (each.vectors[number] + 0.2 * entries[0].vectors[0]).astype(np.float32)
            matrix.put([each] if number == 0 else [])
            there = entries[: each.revn]
            near = found(matrix, query, 1, 2, 3, limit=1)
            assert near == expected(there, query)[:1]
    assert len(scored) == 6
    assert max(scored) < 300


def test_codes_follow_what_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FEW", 4)
    matrix = Matrix(6)
    held: dict[int, Entry] = {}
    for turn in range(120):
        fresh = entry(turn % 5, 5 + turn % 11, version=turn)
        matrix.drop([fresh.revn])
        matrix.put([fresh])
        held[fresh.revn] = fresh
        query = fresh.vectors[turn % 5]
        assert found(matrix, query, *held, limit=1) == expected(list(held.values()), query)[:1]
    matrix.drop(list(held))
    assert matrix.nbytes == 0
