"""XLSB, the binary form of XLSX: parts of records ([MS-XLSB] 2.1.4) in the package of XLSX."""

import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from libs.contracts.faults import Code, DocumentFault
from services.parser.formats.base import ParseInput
from services.parser.formats.rows import clean
from services.parser.formats.sheets_drawn import add_drawn, relations
from services.parser.formats.sheets_format import builtin_code, shown
from services.parser.formats.sheets_tables import MAX_CELLS, Sheet, edges, text_of

WORKBOOK = "xl/workbook.bin"
MAX_PART = 256 << 20
MAX_MERGES = 100_000
LAST_COLUMN = 16_383
PROGRESS_RECORDS = 50_000
_FAULTS = (struct.error, IndexError, KeyError, ValueError, SyntaxError)
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError)

# kinds of records, [MS-XLSB] 2.3
ROW, COLUMNS, MERGED, EDGES = 0, 60, 176, 479
RK, ERROR, TRUTH, REAL, TEXT, SHARED = 2, 3, 4, 5, 6, 7
FORMULA_TEXT, FORMULA_REAL, FORMULA_TRUTH, FORMULA_ERROR, RICH = 8, 9, 10, 11, 62
STRING, FORMAT, STYLE, STYLES, STYLES_END = 19, 44, 47, 617, 618
SETTINGS, SHEET, COMMENT, COMMENT_TEXT = 153, 156, 635, 637
_ERRORS = {0: "#NULL!", 7: "#DIV/0!", 15: "#VALUE!", 23: "#REF!", 29: "#NAME?", 36: "#NUM!",
           42: "#N/A", 43: "#GETTING_DATA"}  # fmt: skip
_ROW_HIDDEN, _COLUMN_HIDDEN, _EPOCH_1904 = 0x10, 1, 1

Record = tuple[int, bytes]


@dataclass
class _Book:
    """What the sheets of a workbook share; `sheets` are name, whether hidden, and relation."""

    sheets: list[tuple[str, bool, str]] = field(default_factory=list)
    strings: list[str] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    epoch_1904: bool = False


def is_xlsb(path: Path) -> bool:
    """Whether the package at `path` holds a workbook in binary form."""
    try:
        with zipfile.ZipFile(path) as archive:
            return WORKBOOK in archive.namelist()
    except _DAMAGED:
        return False


def read_xlsb(given: ParseInput) -> Iterator[Sheet]:
    """The sheets in order, cells as shown, formulas by their kept values.

    `DocumentFault`: `UNREADABLE` for a damaged workbook, `TOO_LARGE` for a part that is far
    too large.
    """
    try:
        with zipfile.ZipFile(given.path) as archive:
            parts = {i: (kind, part) for kind, part, i in relations(archive, WORKBOOK)}
            named = dict(parts.values())
            book = _book(archive, named)
            for name, hidden, identity in book.sheets:
                kind, part = parts.get(identity, ("", ""))
                if kind not in ("worksheet", "chartsheet", "dialogsheet"):
                    continue
                sheet = Sheet(name, hidden=hidden)
                _fill(given, sheet, book, _records(archive, part))
                _add_comments(archive, sheet, part)
                add_drawn(given, sheet, part)
                yield sheet
    except (*_DAMAGED, *_FAULTS) as problem:
        raise DocumentFault(
            Code.UNREADABLE, "the workbook is damaged; open and save it again"
        ) from problem


def _records(archive: zipfile.ZipFile, part: str | None) -> Iterator[Record]:
    """The records of a part in order, up to where it breaks off."""
    if part is None:
        return
    if archive.getinfo(part).file_size > MAX_PART:
        raise DocumentFault(Code.TOO_LARGE, "a sheet of the workbook is far too large")
    data = archive.read(part)
    at = 0
    while at < len(data):
        kind, at = _varied(data, at, 2)
        size, at = _varied(data, at, 4)
        yield kind, data[at : at + size]
        at += size


def _varied(data: bytes, at: int, longest: int) -> tuple[int, int]:
    """A number of up to `longest` bytes with seven bits in each, and where it ends."""
    number = 0
    for place, byte in enumerate(data[at : at + longest]):
        number |= (byte & 0x7F) << 7 * place
        at += 1
        if not byte & 0x80:
            break
    return number, at


def _text(body: bytes, at: int) -> tuple[str, int]:
    """A string with its length in front, and where it ends; no string at all is empty."""
    (size,) = struct.unpack_from("<I", body, at)
    if size == 0xFFFFFFFF:
        return "", at + 4
    end = at + 4 + 2 * size
    if end > len(body):
        raise ValueError
    return body[at + 4 : end].decode("utf-16-le", "replace"), end


def _book(archive: zipfile.ZipFile, named: dict[str, str]) -> _Book:
    book = _Book()
    for kind, body in _records(archive, WORKBOOK):
        if kind == SETTINGS:
            book.epoch_1904 = bool(body[0] & _EPOCH_1904)
        elif kind == SHEET:
            book.sheets.append(_named_sheet(body))
    for kind, body in _records(archive, named.get("sharedStrings")):
        if kind == STRING:
            book.strings.append(clean(_text(body, 1)[0]))
    custom: dict[int, str] = {}
    used = False
    for kind, body in _records(archive, named.get("styles")):
        used = kind == STYLES or (used and kind != STYLES_END)
        if kind == FORMAT:
            custom[int.from_bytes(body[:2], "little")] = _text(body, 2)[0]
        elif kind == STYLE and used:
            number = int.from_bytes(body[2:4], "little")
            book.codes.append(custom.get(number) or builtin_code(number))
    return book


def _named_sheet(body: bytes) -> tuple[str, bool, str]:
    """Excel's first versions of the format wrote four bytes more before the names."""
    for at in (8, 12):
        try:
            identity, after = _text(body, at)
            name, end = _text(body, after)
        except (ValueError, struct.error):
            continue
        if end == len(body):
            return name, body[0] != 0, identity
    raise ValueError


def _fill(given: ParseInput, sheet: Sheet, book: _Book, records: Iterator[Record]) -> None:
    row = 0
    for count, (kind, body) in enumerate(records):
        if count % PROGRESS_RECORDS == 0:
            given.progress(0)
        if kind == ROW:
            row = int.from_bytes(body[:4], "little")
            if body[11] & _ROW_HIDDEN:
                sheet.hidden_rows.add(row)
        elif kind in _VALUES:
            column, style = struct.unpack_from("<II", body)
            text = _value(book, kind, body, style & 0xFFFFFF)
            if text and column <= LAST_COLUMN:
                sheet.cells[(row, column)] = text
            if len(sheet.cells) > MAX_CELLS:
                return
        elif kind == COLUMNS:
            first, last = struct.unpack_from("<II", body)
            if body[16] & _COLUMN_HIDDEN:
                sheet.hidden_columns.update(range(first, min(last, LAST_COLUMN) + 1))
        elif kind == MERGED and len(sheet.merged) < MAX_MERGES:
            top, bottom, left, right = struct.unpack_from("<4I", body)
            sheet.merged.append((top, left, bottom, right))
        elif kind == EDGES:
            head, after = _text(body, 2)
            sheet.heads, sheet.feet = edges(head), edges(_text(body, after)[0])


_VALUES = frozenset({RK, ERROR, TRUTH, REAL, TEXT, SHARED, RICH,
                     FORMULA_TEXT, FORMULA_REAL, FORMULA_TRUTH, FORMULA_ERROR})  # fmt: skip


def _value(book: _Book, kind: int, body: bytes, style: int) -> str:
    """What a cell's record shows."""
    if kind == SHARED:
        return _at(book.strings, int.from_bytes(body[8:12], "little"), "")
    if kind in (TEXT, FORMULA_TEXT, RICH):
        return clean(_text(body, 9 if kind == RICH else 8)[0])
    if kind in (TRUTH, FORMULA_TRUTH):
        return text_of(bool(body[8]))
    if kind in (ERROR, FORMULA_ERROR):
        return _ERRORS.get(body[8], "#N/A")
    number = _rk(body) if kind == RK else struct.unpack_from("<d", body, 8)[0]
    return shown(number, _at(book.codes, style, "General"), epoch_1904=book.epoch_1904)


def _rk(body: bytes) -> float:
    """A number in four bytes ([MS-XLSB] 2.5.122): two bits say whether whole, and in hundredths."""
    (raw,) = struct.unpack_from("<i", body, 8)
    if raw & 2:
        number: float = raw >> 2
    else:
        number = struct.unpack("<d", bytes(4) + struct.pack("<i", raw & ~3))[0]
    return number / 100 if raw & 1 else number


def _at(texts: Sequence[str], place: int, otherwise: str) -> str:
    return texts[place] if place < len(texts) else otherwise


def _add_comments(archive: zipfile.ZipFile, sheet: Sheet, part: str) -> None:
    from openpyxl.utils.cell import get_column_letter

    for kind, target, _ in relations(archive, part):
        place = ""
        for record, body in _records(archive, target) if kind == "comments" else ():
            if record == COMMENT:
                row, _, column = struct.unpack_from("<3I", body, 4)
                place = f"{get_column_letter(min(column, LAST_COLUMN) + 1)}{row + 1}"
            elif record == COMMENT_TEXT and (text := clean(_text(body, 1)[0])):
                sheet.notes.append(f"{place}: {text}")
