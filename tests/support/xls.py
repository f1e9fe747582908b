"""An XLS workbook (BIFF8) record by record: numbers with formats, hidden rows, text boxes."""

import struct

from services.parser.formats.ole_write import write_ole


def record(kind: int, body: bytes = b"") -> bytes:
    """One record."""
    return struct.pack("<HH", kind, len(body)) + body


def text(words: str, prefix: str = "H") -> bytes:
    """A string with its length in front."""
    return struct.pack(f"<{prefix}B", len(words), 1) + words.encode("utf-16-le")


def bof(kind: int) -> bytes:
    """The begin of the globals (5), a sheet (0x10) or a chart (0x20)."""
    return record(0x809, struct.pack("<HHHHII", 0x600, kind, 0, 0, 0, 0x600))


def number(row: int, column: int, style: int, value: float) -> bytes:
    """A cell with a number."""
    return record(0x203, struct.pack("<HHHd", row, column, style, value))


def label(row: int, column: int, words: str) -> bytes:
    """A cell with words."""
    return record(0x204, struct.pack("<HHH", row, column, 0) + text(words))


def text_object(number: int, kind: int, words: str) -> bytes:
    """A drawn object and its text: a box (0x06) or a comment (0x19)."""
    common = struct.pack("<HHHHH12x", 0x15, 0x12, kind, number, 0)
    box = struct.pack("<HH6xHHI", 0, 0, len(words), 16, 0)
    return (
        record(0x5D, common) + record(0x1B6, box)
        + record(0x3C, b"\x01" + words.encode("utf-16-le")) + record(0x3C, bytes(16))
    )  # fmt: skip


def chart(*words: str) -> bytes:
    """A chart with these texts."""
    texts = b"".join(record(0x100D, b"\0\0" + text(w, "B")) for w in words)
    return bof(0x20) + texts + record(0x0A)


def workbook(
    sheets: list[tuple[str, int, bytes]],
    formats: list[str],
    builtins: tuple[int, ...] = (),
    spelled: dict[int, str] | None = None,
) -> bytes:
    """A workbook of (name, type, records); style n + 1 has format n, then come the built-ins,
    whose codes the file may spell itself."""
    head = bof(5) + record(0x42, struct.pack("<H", 1200))
    for number, code in (spelled or {}).items():
        head += record(0x41E, struct.pack("<H", number) + text(code))
    for i, code in enumerate(formats):
        head += record(0x41E, struct.pack("<H", 164 + i) + text(code))
    for code in (0, *(164 + i for i in range(len(formats))), *builtins):
        head += record(0xE0, struct.pack("<HH16x", 0, code))
    size = len(head) + sum(len(record(0x85, bytes(6) + text(n, "B"))) for n, _, _ in sheets) + 4
    bodies = b""
    for name, kind, records in sheets:
        head += record(0x85, struct.pack("<IBB", size + len(bodies), 0, kind) + text(name, "B"))
        bodies += bof(0x20 if kind == 2 else 0x10) + records + record(0x0A)
    return write_ole({("Workbook",): head + record(0x0A) + bodies})
