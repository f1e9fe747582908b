"""The vector store: memory that follows the file."""

from pathlib import Path

import numpy as np
import pytest

from libs.runtime.index.matrix import Matrix, Nearest
from libs.runtime.index.vectors import FILE, VectorStore


def rows(count: int, seed: int = 1, dimension: int = 8) -> np.ndarray:
    vectors = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def put(store: VectorStore, namespace: str, revn: int, count: int = 4) -> None:
    store.write(namespace, revn, "m", [f"c{i}" for i in range(count)], rows(count, revn), {})


def seen(store: VectorStore, namespace: str, *revns: int) -> set[int]:
    (hits,) = store.search(namespace, "m", [Nearest(rows(1)[0], frozenset(revns), None, 1000)])
    return {hit.revn for hit in hits}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index" / FILE


def test_readers_follow_a_writer(path: Path) -> None:
    writer, reader = VectorStore(path), VectorStore(path)
    assert seen(reader, "a", 1) == set()
    for revn in range(1, 6):
        put(writer, "a", revn)
        assert seen(reader, "a", *range(9)) == set(range(1, revn + 1))
        assert seen(writer, "a", *range(9)) == set(range(1, revn + 1))
    writer.remove("a", [1, 2, 3, 4])
    assert seen(reader, "a", *range(9)) == {5}
    writer.remove("a", [5])
    assert seen(reader, "a", *range(9)) == set()
    put(writer, "a", 6)
    assert seen(reader, "a", *range(9)) == {6}
    writer.close()
    reader.close()


def test_only_what_changed_is_read_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[int] = []
    put_entries = Matrix.put

    def counted(self: Matrix, entries) -> None:
        entries = list(entries)
        loaded.extend(e.revn for e in entries)
        put_entries(self, entries)

    store = VectorStore(path)
    for revn in range(1, 9):
        put(store, "a", revn)
    assert seen(store, "a", 1) == {1}
    monkeypatch.setattr(Matrix, "put", counted)
    put(store, "a", 3)
    put(store, "a", 9)
    put(store, "b", 1)
    assert seen(store, "a", *range(10)) == set(range(1, 10))
    assert seen(store, "a", *range(10)) == set(range(1, 10))
    assert sorted(loaded) == [3, 9]
    store.close()


def test_memory_holds_what_was_searched_last(path: Path) -> None:
    store = VectorStore(path, cache_bytes=1)
    for namespace in "abc":
        put(store, namespace, 1)
    for namespace in "abcabc":
        assert seen(store, namespace, 1) == {1}
        assert list(store._residents)[-1] == (namespace, "m")
        assert len(store._residents) <= 2
    store.close()


def test_a_model_has_one_dimension(path: Path) -> None:
    store = VectorStore(path)
    sixteen = Nearest(rows(1, dimension=16)[0], frozenset([1]), None, 1)
    put(store, "a", 1)
    with pytest.raises(ValueError, match="8 dimensions"):
        store.write("a", 2, "m", ["c"], rows(1, dimension=16), {})
    with pytest.raises(ValueError, match="8 dimensions"):
        store.search("a", "m", [sixteen])
    store.write("a", 1, "m", ["c"], rows(1, dimension=16), {})
    (hits,) = store.search("a", "m", [sixteen])
    assert [hit.chunk_id for hit in hits] == ["c"]
    assert hits[0].score == pytest.approx(1.0, abs=1e-3)
    store.close()
