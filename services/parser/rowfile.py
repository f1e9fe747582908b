"""Rows on disk, read and written one by one: the format of `libs.runtime.artefacts`."""

import io
from collections.abc import Iterable, Iterator
from itertools import chain, count, islice
from pathlib import Path

import orjson
import zstandard

from libs.contracts.artefacts.rows import Row

LEVEL = 3
FEW = 500
OPTIONS = orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE


def write_rows(path: Path, rows: Iterable[Row]) -> int:
    """Write rows compressed, one canonical JSON object a line; returns how many.

    `order` is counted from 0, whatever it was.
    A few are compressed at once: a stream's tables, made for any length, cost more than that.
    """
    lines = map(_line, count(), rows)
    first = list(islice(lines, FEW))
    if len(first) < FEW:
        path.write_bytes(zstandard.ZstdCompressor(LEVEL).compress(b"".join(first)))
        return len(first)
    written = 0
    with path.open("wb") as file, zstandard.ZstdCompressor(LEVEL).stream_writer(file) as out:
        for line in chain(first, lines):
            out.write(line)
            written += 1
    return written


def _line(order: int, row: Row) -> bytes:
    plain = row.model_dump(mode="json", exclude_defaults=True)
    plain["order"] = order
    return orjson.dumps(plain, option=OPTIONS)


def read_rows(paths: Iterable[Path]) -> Iterator[Row]:
    """The rows of the files, one after the other."""
    for path in paths:
        with (
            path.open("rb") as file,
            zstandard.ZstdDecompressor().stream_reader(file) as plain,
            io.BufferedReader(plain, 1 << 20) as lines,
        ):
            for line in lines:
                yield Row.model_validate_json(line)
