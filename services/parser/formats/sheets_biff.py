"""What calamine leaves of an XLS workbook, read from its records: number formats, hidden rows
and columns, printed heads and feet, text boxes, comments, texts of charts.

Record layouts follow [MS-XLS] 2.4; a workbook of Excel 5 (BIFF5) is read for its formats, hidden
rows and columns. Values of cells that hold no number stay calamine's.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from services.parser.formats.rows import one_line
from services.parser.formats.sheets_biff_text import continued, ole_stream, record_text, short_text
from services.parser.formats.sheets_format import LOCAL_DATES, builtin_code, shown
from services.parser.formats.sheets_tables import MAX_CELLS, Place

BOF, EOF, BOUNDSHEET, CONTINUE = 0x809, 0x0A, 0x85, 0x3C
FORMAT, XF, DATEMODE, CODEPAGE = 0x41E, 0xE0, 0x22, 0x42
NUMBER, RK, MULRK, FORMULA, ROW, COLINFO = 0x203, 0x27E, 0xBD, 0x06, 0x208, 0x7D
HEADER, FOOTER, OBJ, TXO, NOTE, SERIESTEXT = 0x14, 0x15, 0x5D, 0x1B6, 0x1C, 0x100D
OLD_FORMAT = 0x1E
BIFF8 = 0x0600
COMMENT_OBJECT = 0x19
CHART_SHEET = 2
MAX_RECORDS = 4_000_000
MAX_COLUMN = 16_384
_FAULTS = (struct.error, IndexError, ValueError, OverflowError)

Record = tuple[int, bytes]


@dataclass
class BiffSheet:
    """One sheet: numbers as shown by place, what is hidden, drawn, commented and printed.

    `head` and `foot` keep Excel's codes (`&L`, `&P`); `charts` holds the texts of each chart.
    """

    name: str
    chart_sheet: bool
    numbers: dict[Place, str] = field(default_factory=dict)
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)
    head: str = ""
    foot: str = ""
    texts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    charts: list[list[str]] = field(default_factory=list)


@dataclass
class _Book:
    version: int = BIFF8
    codec: str = "cp1252"
    epoch_1904: bool = False
    formats: dict[int, str] = field(default_factory=dict)
    cell_formats: list[int] = field(default_factory=list)
    sheets: list[tuple[int, BiffSheet]] = field(default_factory=list)

    def shown(self, style: int, value: float) -> str:
        number = self.cell_formats[style] if style < len(self.cell_formats) else 0
        own = None if number in LOCAL_DATES else self.formats.get(number)
        code = own or builtin_code(number)
        return shown(value, code, epoch_1904=self.epoch_1904)


def read_biff(path: Path) -> list[BiffSheet]:
    """The sheets of the workbook, in the order of its tabs; none where it has no records."""
    stream = ole_stream(path, "Workbook", "Book")
    book = _globals(stream)
    for offset, sheet in book.sheets:
        reader = _SheetReader(book, sheet)
        for kind, body in _records(stream, offset):
            try:
                if not reader.take(kind, body):
                    break
            except _FAULTS:
                continue
        reader.end()
    return [sheet for _, sheet in book.sheets]


def _records(stream: bytes, at: int) -> Iterator[Record]:
    for _ in range(MAX_RECORDS):
        if at + 4 > len(stream):
            return
        kind, size = struct.unpack_from("<HH", stream, at)
        yield kind, stream[at + 4 : at + 4 + size]
        at += 4 + size


def _globals(stream: bytes) -> _Book:
    book = _Book()
    for count, (kind, body) in enumerate(_records(stream, 0)):
        if kind == EOF or (count == 0 and kind != BOF):
            break
        try:
            _global(book, kind, body)
        except _FAULTS:
            continue
    return book


def _global(book: _Book, kind: int, body: bytes) -> None:
    match kind:
        case 0x809:
            book.version = int.from_bytes(body[:2], "little")
        case 0x42:
            page = int.from_bytes(body[:2], "little")
            book.codec = {1200: "cp1252", 10000: "mac_roman", 32768: "mac_roman"}.get(
                page, f"cp{page}"
            )
        case 0x22:
            book.epoch_1904 = body[:1] == b"\x01"
        case 0x41E | 0x1E:
            number = int.from_bytes(body[:2], "little")
            book.formats[number] = record_text(body[2:], book.version, book.codec, wide=True)
        case 0xE0:
            book.cell_formats.append(int.from_bytes(body[2:4], "little"))
        case 0x85:
            offset, _, sheet_type = struct.unpack_from("<IBB", body)
            name = short_text(body[6:], book.version, book.codec)
            book.sheets.append((offset, BiffSheet(name, sheet_type == CHART_SHEET)))


class _SheetReader:
    """Takes the records of one sheet; charts lie inside it as sheets of their own."""

    def __init__(self, book: _Book, sheet: BiffSheet) -> None:
        self.book = book
        self.sheet = sheet
        self.depth = 0
        self.object: tuple[int, int] = (0, 0)
        self.pending: tuple[int, list[bytes]] | None = None
        self.comments: dict[int, str] = {}
        self.commented: list[tuple[int, int, int]] = []

    def take(self, kind: int, body: bytes) -> bool:
        """Take one record; False at the end of the sheet."""
        if kind == CONTINUE:
            if self.pending is not None:
                self.pending[1].append(body)
            return True
        self._text_ended()
        if kind == BOF:
            self.depth += 1
            if self.depth > 1 or self.sheet.chart_sheet:
                self.sheet.charts.append([])
        elif kind == EOF:
            self.depth -= 1
            return self.depth > 0
        elif kind == SERIESTEXT and self.sheet.charts:
            text = one_line(short_text(body[2:], self.book.version, self.book.codec))
            self.sheet.charts[-1] += [text] if text else []
        elif kind == OBJ:
            self.object = struct.unpack_from("<HH", body, 4)
        elif kind == TXO and int.from_bytes(body[10:12], "little"):
            self.pending = (int.from_bytes(body[10:12], "little"), [])
        elif kind == NOTE and len(body) >= 8:
            row, column, _, number = struct.unpack_from("<HHHH", body)
            self.commented.append((row, column, number))
        elif self.depth == 1:
            self._layout(kind, body)
            if len(self.sheet.numbers) < MAX_CELLS and not self.sheet.chart_sheet:
                self._number(kind, body)
        return True

    def end(self) -> None:
        """What waited for the end of the sheet: comments with the cells they belong to."""
        self._text_ended()
        from openpyxl.utils.cell import get_column_letter

        for row, column, number in self.commented:
            text = self.comments.get(number, "")
            if text:
                place = f"{get_column_letter(min(column, MAX_COLUMN - 1) + 1)}{row + 1}"
                self.sheet.notes.append(f"{place}: {text}")

    def _text_ended(self) -> None:
        if self.pending is None:
            return
        size, blocks = self.pending
        self.pending = None
        text = one_line(continued(size, blocks))
        object_type, number = self.object
        if object_type == COMMENT_OBJECT:
            self.comments[number] = text
        elif text:
            self.sheet.texts.append(text)

    def _layout(self, kind: int, body: bytes) -> None:
        if kind == ROW:
            if body[12] & 0x20:
                self.sheet.hidden_rows.add(int.from_bytes(body[:2], "little"))
        elif kind == COLINFO:
            first, last, _, _, flags = struct.unpack_from("<HHHHH", body)
            if flags & 1:
                self.sheet.hidden_columns.update(range(first, min(last + 1, MAX_COLUMN)))
        elif kind == HEADER and body:
            self.sheet.head = record_text(body, self.book.version, self.book.codec, wide=True)
        elif kind == FOOTER and body:
            self.sheet.foot = record_text(body, self.book.version, self.book.codec, wide=True)

    def _number(self, kind: int, body: bytes) -> None:
        if kind == NUMBER:
            row, column, style, value = struct.unpack_from("<HHHd", body)
        elif kind == RK:
            row, column, style, packed = struct.unpack_from("<HHHI", body)
            value = _unpacked(packed)
        elif kind == FORMULA and body[12:14] != b"\xff\xff":
            row, column, style, value = struct.unpack_from("<HHHd", body)
        elif kind == MULRK:
            row, column = struct.unpack_from("<HH", body)
            for at in range(4, len(body) - 2, 6):
                style, packed = struct.unpack_from("<HI", body, at)
                place = (row, column + (at - 4) // 6)
                self.sheet.numbers[place] = self.book.shown(style, _unpacked(packed))
            return
        else:
            return
        self.sheet.numbers[(row, column)] = self.book.shown(style, value)


def _unpacked(packed: int) -> float:
    """An RK number: 30 bits of an integer or of a double, perhaps in hundredths."""
    if packed & 2:
        signed: float = (packed >> 2) - (1 << 30 if packed & 0x80000000 else 0)
    else:
        signed = struct.unpack("<d", struct.pack("<Q", (packed & 0xFFFFFFFC) << 32))[0]
    return signed / 100 if packed & 1 else signed
