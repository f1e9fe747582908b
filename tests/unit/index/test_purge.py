"""When deletions are cleared out, and that clearing keeps everything else."""

import json
import time
from pathlib import Path

import pytest

from libs.runtime.index.lexical_reader import LexicalReader
from libs.runtime.index.lexical_writer import LexicalWriter
from libs.runtime.index.port import IndexDocument
from libs.runtime.index.purge import (
    PURGE_SECONDS,
    PURGE_SECONDS_PER_DOCUMENT,
    Purger,
    Segment,
    dirty_segments,
)


def documents(count: int) -> list[IndexDocument]:
    return [
        IndexDocument(f"t{i}", i, "text", ["word", f"w{i}"], ["path"], f"text {i}")
        for i in range(count)
    ]


@pytest.mark.parametrize(
    ("alive", "dead", "seconds"),
    [
        (3, 1, 0.0),
        (1, 99, 0.0),
        (100, 1, PURGE_SECONDS),
        (1_000_000, 10, 1_000_000 * PURGE_SECONDS_PER_DOCUMENT),
    ],
)
def test_many_dead_are_cleared_at_once_few_after_a_while(
    alive: int, dead: int, seconds: float
) -> None:
    assert Segment("s", 0, alive, dead).patience() == seconds


def meta(folder: Path, **segments: tuple[int, int]) -> None:
    """A `meta.json` with segments of so many documents, so many of them deleted."""
    entries = [
        {
            "segment_id": name,
            "max_doc": size,
            "deletes": {"num_deleted_docs": dead} if dead else None,
        }
        for name, (size, dead) in segments.items()
    ]
    (folder / "meta.json").write_text(json.dumps({"segments": entries}))


def test_deletions_wait_for_their_time(tmp_path: Path) -> None:
    now = 1000.0
    purger = Purger(tmp_path, clock=lambda: now)
    meta(tmp_path, a=(100, 0), b=(50, 0))
    assert purger.look() == set()
    assert purger.seconds() is None
    meta(tmp_path, a=(100, 3), b=(50, 0), c=(10, 1))
    assert purger.look() == {"a", "c"}
    assert dirty_segments(tmp_path) == [Segment("a", 0, 97, 3), Segment("c", 147, 9, 1)]
    assert purger.seconds() == PURGE_SECONDS
    now += PURGE_SECONDS / 2
    meta(tmp_path, a=(100, 4))
    assert purger.look() == {"a"}
    assert purger.seconds() == PURGE_SECONDS / 2
    meta(tmp_path, a=(100, 40))
    purger.look()
    assert purger.seconds() == 0.0
    purger.put_off()
    assert purger.seconds() == PURGE_SECONDS
    purger.hurry()
    assert purger.seconds() == 0.0
    meta(tmp_path, d=(100, 0))
    assert purger.look() == set()
    assert purger.seconds() is None


def test_purging_clears_deletions_and_keeps_the_rest(tmp_path: Path) -> None:
    writer, reader = LexicalWriter(tmp_path), LexicalReader(tmp_path)
    for future in [writer.write("ns", revn, documents(30)) for revn in range(60)]:
        future.result()
    digest = reader.digest("ns", 0)
    assert writer.remove("ns", list(range(0, 60, 7))).result() == 9 * 30
    writer.purge().result(timeout=60)
    assert dirty_segments(tmp_path) == []
    for revn in range(60):
        assert (reader.digest("ns", revn) == digest) is bool(revn % 7)
    writer.close()


def test_many_dead_are_cleared_without_asking(tmp_path: Path) -> None:
    writer, reader = LexicalWriter(tmp_path), LexicalReader(tmp_path)
    for future in [writer.write("ns", revn, documents(20)) for revn in range(10)]:
        future.result()
    writer.remove("ns", list(range(5))).result()
    deadline = time.monotonic() + 60
    while dirty_segments(tmp_path):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert [reader.digest("ns", revn).count for revn in range(10)] == [0] * 5 + [20] * 5
    writer.close()
