"""XLS (and workbooks that openpyxl refuses) by calamine: values, spans, visibility.

An XLS workbook's own records add its number formats and what is drawn, commented and printed.
"""

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from pathlib import Path

from libs.contracts.faults import Code, DocumentFault
from services.parser.formats.ole_write import CUTOFF, MAGIC, write_ole
from services.parser.formats.sheets_biff import BiffSheet, read_biff
from services.parser.formats.sheets_biff_text import ole_stream
from services.parser.formats.sheets_format import plain
from services.parser.formats.sheets_tables import Sheet, edges, text_of

MAX_GRID = 20_000_000
"""Places of a sheet, filled or not; calamine needs 24 bytes and more for each."""
HEAD = 4
"""Bytes before each record of an XLS workbook: its kind and its size."""
DIMENSIONS, STRINGS = 0x200, 0xFC
SHORTEST_TABLE, SHORTEST_STRING = 8, 3
_PLACE = re.compile(rb'<c [^>]*?\br="([A-Z]{1,7})([0-9]{1,10})"')


def read_calamine(path: Path) -> Iterator[Sheet]:
    """The sheets in order. Encrypted and broken files are `DocumentFault`."""
    import python_calamine as calamine

    _check_extent(path)
    sound = _sound(path)
    try:
        book = calamine.CalamineWorkbook.from_object(sound)
    except calamine.PasswordError as problem:
        raise DocumentFault(
            Code.ENCRYPTED, "the workbook is protected by a password; upload it without protection"
        ) from problem
    except (calamine.CalamineError, OSError, ValueError) as problem:
        raise DocumentFault(
            Code.UNREADABLE, "the workbook is damaged; open and save it again"
        ) from problem
    records = read_biff(path)
    for at, about in enumerate(book.sheets_metadata):
        sheet = Sheet(about.name, hidden=about.visible != calamine.SheetVisibleEnum.Visible)
        own = records[at] if at < len(records) else None
        if about.typ != calamine.SheetTypeEnum.WorkSheet:
            if own is not None and own.charts:
                _add_records(sheet, own)
                yield sheet
            continue
        try:
            source = book.get_sheet_by_index(at)
        except (calamine.CalamineError, ValueError):
            continue
        # rows come from the top of the sheet, columns from the first that is filled
        left = source.start[1] if source.start else 0
        for r, row in enumerate(source.iter_rows()):
            for c, value in enumerate(row, left):
                text = value_text(value)
                if text:
                    sheet.cells[(r, c)] = text
        for first, last in source.merged_cell_ranges or ():
            sheet.merged.append((*first, *last))
        if own is not None:
            _add_records(sheet, own)
        yield sheet


def _sound(path: Path) -> Path | io.BytesIO:
    """The file as calamine can bear it: an XLS workbook's records in a new compound file.

    calamine follows the sectors of a damaged compound file in circles, and sets memory aside
    for all that the records announce; where memory is used up, the process is aborted.
    `DocumentFault` where the file holds no workbook.
    """
    with path.open("rb") as source:
        if source.read(len(MAGIC)) != MAGIC:
            return path
    for name in ("Workbook", "Book"):
        if records := ole_stream(path, name):
            # calamine wants a short stream in such a file, and misreads longer ones of that kind
            long = _plausible(records).ljust(CUTOFF, b"\0")
            return io.BytesIO(write_ole({(name,): long, ("Short",): b"\0"}))
    raise DocumentFault(Code.UNREADABLE, "the workbook is damaged; open and save it again")


def _plausible(records: bytes) -> bytes:
    """The records of a workbook, no sheet and no table of strings announced as larger than the
    records can hold."""
    found = bytearray(records)
    at = 0
    while at + HEAD <= len(found):
        kind, size = struct.unpack_from("<HH", found, at)
        body = at + HEAD
        if kind == DIMENSIONS:
            found[body : body + size] = bytes(min(size, len(found) - body))
        elif kind == STRINGS and size >= SHORTEST_TABLE <= len(found) - body:
            (count,) = struct.unpack_from("<I", found, body + 4)
            struct.pack_into("<I", found, body + 4, min(count, len(found) // SHORTEST_STRING))
        at = body + size
    return bytes(found)


def _check_extent(path: Path) -> None:
    """Raise `DocumentFault(TOO_LARGE)` for a sheet of XLSX whose cells lie too far apart.

    calamine lays out all cells between the first and the last, and aborts the process where
    memory does not suffice. The sheets of XLS are small enough by their format.
    """
    for content in _worksheets(path):
        places = [(_column(m[1]), int(m[2])) for m in _PLACE.finditer(content)]
        wide = max((column for column, _ in places), default=0)
        deep = max((row for _, row in places), default=0)
        if wide * deep > MAX_GRID:
            raise DocumentFault(
                Code.TOO_LARGE,
                f"a sheet spans {deep} rows and {wide} columns; "
                "remove the cells far away from the others",
            )


def _worksheets(path: Path) -> Iterator[bytes]:
    """The XML of each sheet of an XLSX workbook, as far as it can be read."""
    if not zipfile.is_zipfile(path):
        return
    damaged = (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError)
    with suppress(*damaged), zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.startswith("xl/worksheets/") and name.endswith(".xml"):
                yield archive.read(name)


def _column(letters: bytes) -> int:
    """The number of a column by its letters: A is 1."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


def _add_records(sheet: Sheet, own: BiffSheet) -> None:
    """What the records of an XLS sheet say beyond its values."""
    sheet.cells.update((place, text) for place, text in own.numbers.items() if text)
    sheet.hidden_rows |= own.hidden_rows
    sheet.hidden_columns |= own.hidden_columns
    sheet.texts += own.texts + [f"Chart: {'; '.join(texts)}" for texts in own.charts if texts]
    sheet.notes += own.notes
    sheet.heads = edges(own.head)
    sheet.feet = edges(own.foot)


def value_text(value: object) -> str:
    """A value as text: whole numbers without a point, dates and times in ISO form."""
    if isinstance(value, bool) or value is None:
        return text_of(value)
    if isinstance(value, int | float):
        return plain(value)
    if isinstance(value, datetime):
        moment = value if value.microsecond == 0 else _rounded(value)
        if moment.time() == time():
            return moment.date().isoformat()
        return moment.isoformat(" ")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        seconds = round(value.total_seconds())
        return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return text_of(value)


def _rounded(value: datetime) -> datetime:
    try:
        return (value + timedelta(milliseconds=500)).replace(microsecond=0)
    except OverflowError:
        return value.replace(microsecond=0)
