"""A compound file ([MS-CFB], version 4) made of streams: what a reader wants that takes no less.

Sectors of 4,096 bytes, so that the header alone names every sector of the allocation table: up
to `MAX_SECTORS`, about 400 MB.
"""

import struct
from collections.abc import Mapping

from libs.contracts.faults import Code, DocumentFault

SECTOR = 4096
MINI = 64
CUTOFF = 4096
MAX_SECTORS = 109 * SECTOR // 4 - 109
_FREE, _END, _TABLE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_STORAGE, _STREAM, _ROOT = 1, 2, 5

Path = tuple[str, ...]


def write_ole(streams: Mapping[Path, bytes]) -> bytes:
    """The bytes of a compound file with these streams, each named by its storages and its name.

    Names are cut to the 31 characters that the format allows. `DocumentFault(TOO_LARGE)` where
    the streams need more sectors than one header names.
    """
    entries = _entries(streams)
    chains: list[tuple[int, bytes]] = []
    mini, mini_table = bytearray(), []
    starts: dict[Path, int] = {}
    sector = 0
    for path, data in streams.items():
        if not data:
            starts[path] = _END
        elif len(data) < CUTOFF:
            starts[path] = len(mini) // MINI
            count = -(-len(data) // MINI)
            mini_table += [*range(starts[path] + 1, starts[path] + count), _END]
            mini += data.ljust(count * MINI, b"\0")
        else:
            starts[path] = sector
            sector = _chain(chains, sector, data)
    mini_start = sector if mini else _END
    sector = _chain(chains, sector, bytes(mini))
    mini_table_start = sector if mini else _END
    sector = _chain(chains, sector, struct.pack(f"<{len(mini_table)}I", *mini_table), b"\xff")
    folder_start = sector
    folder = _folder(entries, streams, starts, mini_start, len(mini))
    sector = _chain(chains, sector, folder)
    return _assembled(chains, sector, folder_start, mini_table_start)


def _chain(chains: list[tuple[int, bytes]], sector: int, data: bytes, fill: bytes = b"\0") -> int:
    """Put `data` into the next sectors; the sector behind them."""
    if not data:
        return sector
    count = -(-len(data) // SECTOR)
    chains.append((count, data.ljust(count * SECTOR, fill)))
    return sector + count


def _entries(streams: Mapping[Path, bytes]) -> list[Path]:
    """Every storage and stream, those of one storage in the order the format sorts them."""
    known = {path[:depth] for path in streams for depth in range(1, len(path) + 1)}
    return sorted(known, key=lambda p: (p[:-1], len(_name(p)), p[-1][:31].upper()))


def _name(path: Path) -> bytes:
    return path[-1][:31].encode("utf-16-le")


def _folder(
    entries: list[Path],
    streams: Mapping[Path, bytes],
    starts: Mapping[Path, int],
    mini_start: int,
    mini_size: int,
) -> bytes:
    """The directory: siblings form a chain to the right, which is a sorted tree as well."""
    numbers = {path: i for i, path in enumerate(entries, 1)}
    first: dict[Path, int] = {}
    right: dict[Path, int] = {}
    for before, path in zip([(), *entries], entries, strict=False):
        if before and before[:-1] == path[:-1]:
            right[before] = numbers[path]
        else:
            first[path[:-1]] = numbers[path]
    out = [_entry(b"R\0o\0o\0t\0 \0E\0n\0t\0r\0y\0", _ROOT, first.get((), _FREE), mini_start,
                  mini_size, _FREE)]  # fmt: skip
    for path in entries:
        kind = _STREAM if path in streams else _STORAGE
        size = len(streams.get(path, b""))
        start = starts.get(path, 0)
        sibling = right.get(path, _FREE)
        out.append(_entry(_name(path), kind, first.get(path, _FREE), start, size, sibling))
    return b"".join(out)


def _entry(name: bytes, kind: int, child: int, start: int, size: int, right: int) -> bytes:
    return struct.pack(
        "<64sHBBIII16sI8s8sIQ",
        name, len(name) + 2, kind, 1, _FREE, right, child, b"", 0, b"", b"", start, size,
    )  # fmt: skip


def _assembled(
    chains: list[tuple[int, bytes]], used: int, folder_start: int, mini_start: int
) -> bytes:
    tables = 1
    while tables * (SECTOR // 4) < used + tables:
        tables += 1
    if tables > 109:
        raise DocumentFault(
            Code.TOO_LARGE, f"the streams of the document need over {MAX_SECTORS} sectors; split it"
        )
    table: list[int] = []
    for count, _ in chains:
        table += [*range(len(table) + 1, len(table) + count), _END]
    table += [_TABLE] * tables
    table += [_FREE] * (tables * (SECTOR // 4) - len(table))
    minis = 0 if mini_start == _END else folder_start - mini_start
    places = [used + i if i < tables else _FREE for i in range(109)]
    header = struct.pack(
        "<8s16sHHHHH6sIIIIIIIIII",
        MAGIC, b"", 0x3E, 4, 0xFFFE, 12, 6, b"", 0, tables, folder_start, 0, CUTOFF,
        mini_start, minis, _END, 0, places[0],
    ) + struct.pack("<108I", *places[1:])  # fmt: skip
    body = b"".join(data for _, data in chains)
    return header.ljust(SECTOR, b"\0") + body + struct.pack(f"<{len(table)}I", *table)
