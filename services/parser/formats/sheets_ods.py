"""ODS: the cells as their own program showed them, streamed from the content of the package.

A cell of OpenDocument holds its value and, beside it, the text that was shown (OASIS, "Open
Document Format for Office Applications 1.2, Part 1", 2011, 9.1.4 and 19.385).
"""

import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from libs.contracts.artefacts.rows import TableCell
from libs.contracts.faults import Code, DocumentFault
from services.parser.formats.base import ParseInput
from services.parser.formats.rows import clean
from services.parser.formats.sheets_charts import Chart
from services.parser.formats.sheets_tables import MAX_CELLS, Sheet

CONTENT = "content.xml"
REPLACEMENTS = "ObjectReplacements/"
"""Pictures of objects that are read themselves."""
MAX_COLUMN, MAX_ROW = 16_384, 1 << 20
MAX_SPACES = 100
MAX_PART = 32 << 20
PROGRESS_ROWS = 2_000
_BASE = "urn:oasis:names:tc:opendocument:xmlns:"
_OFFICE, _TABLE, _TEXT, _STYLE, _DRAW, _CHART = (
    f"{{{_BASE}{name}:1.0}}" for name in ("office", "table", "text", "style", "drawing", "chart")
)
_HREF = "{http://www.w3.org/1999/xlink}href"
_CELLS = (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")
_VALUES = tuple(
    f"{_OFFICE}{name}value" for name in ("string-", "date-", "time-", "boolean-", "")
)  # fmt: skip
_PARAGRAPH = f"{_TEXT}p"
_UNSHOWN = (f"{_OFFICE}annotation", f"{_TEXT}note")
_DRAWN = (f"{_DRAW}image", f"{_DRAW}object", f"{_DRAW}text-box")


def read_ods(given: ParseInput) -> Iterator[Sheet]:
    """The sheets in order. A package that cannot be read is `DocumentFault(UNREADABLE)`."""
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import ParseError

    try:
        with zipfile.ZipFile(given.path) as archive:
            reader = _Reader(archive, lambda: given.progress(0))
            yield from reader.read(CONTENT)
    except (ParseError, DefusedXmlException, zipfile.BadZipFile, zlib.error, KeyError, OSError,
            EOFError, RuntimeError, NotImplementedError) as problem:  # fmt: skip
        raise DocumentFault(
            Code.UNREADABLE, "the workbook is damaged; open and save it again"
        ) from problem


class _Reader:
    """Follows the tables of a part; a table inside a cell is no sheet."""

    def __init__(self, archive: zipfile.ZipFile, progress: Callable[[], None]) -> None:
        self._archive = archive
        self._progress = progress
        self._unseen: set[str] = set()
        self._sheet = Sheet("")
        self._depth = self._row = self._column = self._columns = 0

    def read(self, part: str) -> Iterator[Sheet]:
        from defusedxml.ElementTree import iterparse

        with self._archive.open(part) as content:
            for event, element in iterparse(content, ("start", "end")):
                if element.tag == f"{_TABLE}table":
                    self._depth += 1 if event == "start" else -1
                    if self._depth == 1 and event == "start":
                        self._begin(element)
                    elif self._depth == 0:
                        yield self._sheet
                        element.clear()
                elif event == "end" and self._depth == 1:
                    self._end(element)
                elif event == "end" and element.tag == f"{_STYLE}style":
                    shown = (p.get(f"{_TABLE}display") for p in element)
                    if "false" in shown:
                        self._unseen.add(element.get(f"{_STYLE}name", ""))

    def _begin(self, table: Any) -> None:
        hidden = table.get(f"{_TABLE}style-name", "") in self._unseen
        self._sheet = Sheet(table.get(f"{_TABLE}name", ""), hidden=hidden)
        self._row = self._column = self._columns = 0

    def _end(self, element: Any) -> None:
        if element.tag == f"{_TABLE}table-column":
            number = _repeated(element, "columns", MAX_COLUMN)
            if _is_hidden(element):
                self._sheet.hidden_columns.update(range(self._columns, self._columns + number))
            self._columns += number
        elif element.tag in _CELLS:
            self._cell(element)
        elif element.tag == f"{_TABLE}table-row":
            number = _repeated(element, "rows", MAX_ROW)
            if _is_hidden(element):
                self._sheet.hidden_rows.update(range(self._row, self._row + number))
            self._repeat_row(number)
            self._row += number
            self._column = 0
            element.clear()
            if self._row % PROGRESS_ROWS == 0:
                self._progress()
        elif element.tag == f"{_TABLE}shapes":
            self._drawn(element)
            element.clear()

    def _cell(self, cell: Any) -> None:
        number = _repeated(cell, "columns", MAX_COLUMN)
        if text := _shown(cell):
            for column in range(self._column, self._column + number):
                self._keep(self._row, column, text)
        wide, high = _count(cell, "number-columns-spanned"), _count(cell, "number-rows-spanned")
        if wide > 1 or high > 1:
            area = (self._row, self._column, self._row + high - 1, self._column + wide - 1)
            self._sheet.merged.append(area)
        for note in cell.iter(f"{_OFFICE}annotation"):
            text = _paragraphs(note.iter(_PARAGRAPH))
            place = f"{column_letters(self._column)}{self._row + 1}"
            self._sheet.notes += [f"{place}: {text}"] if text else []
        self._drawn(cell)
        self._column += number

    def _drawn(self, element: Any) -> None:
        """Pictures, charts and text boxes that stand on a cell or on the sheet."""
        for tag in _DRAWN:
            for drawn in element.iter(tag):
                name = drawn.get(_HREF, "").removeprefix("./")
                if tag == f"{_DRAW}text-box":
                    text = _paragraphs(drawn.iter(_PARAGRAPH))
                    self._sheet.texts += [text] if text else []
                elif name.startswith(REPLACEMENTS):
                    continue
                elif tag == f"{_DRAW}image" and self._holds(name):
                    self._sheet.images.append(self._archive.read(name))
                elif tag == f"{_DRAW}object" and self._holds(f"{name}/{CONTENT}"):
                    chart = self._chart(f"{name}/{CONTENT}")
                    self._sheet.charts += [chart] if chart is not None else []

    def _holds(self, name: str) -> bool:
        try:
            return 0 < self._archive.getinfo(name).file_size <= MAX_PART
        except KeyError:
            return False

    def _chart(self, part: str) -> Chart | None:
        """The chart of an object, which keeps its values in a table; None for another object."""
        from defusedxml.ElementTree import fromstring

        root = fromstring(self._archive.read(part))
        if root.find(f".//{_CHART}chart") is None:
            return None
        title = root.find(f".//{_CHART}chart/{_CHART}title")
        text = _paragraphs(title.iter(_PARAGRAPH)) if title is not None else ""
        inner = _Reader(self._archive, self._progress)
        cells = next((sheet.cells for sheet in inner.read(part) if sheet.cells), {})
        made = [
            TableCell(row=row, column=column, text=shown, header=row == 0)
            for (row, column), shown in sorted(cells.items())
        ]
        return Chart(text, made) if made else None

    def _repeat_row(self, number: int) -> None:
        if number == 1:
            return
        row = [(c, t) for (r, c), t in self._sheet.cells.items() if r == self._row]
        for further in range(self._row + 1, self._row + number) if row else ():
            for column, text in row:
                self._keep(further, column, text)
            if len(self._sheet.cells) > MAX_CELLS:
                return

    def _keep(self, row: int, column: int, text: str) -> None:
        if len(self._sheet.cells) <= MAX_CELLS:
            self._sheet.cells[(row, column)] = text


def column_letters(column: int) -> str:
    """The letters of a column counted from 0: A, …, Z, AA."""
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def _is_hidden(element: Any) -> bool:
    return element.get(f"{_TABLE}visibility") in ("collapse", "filter")


def _repeated(element: Any, what: str, most: int) -> int:
    return min(_count(element, f"number-{what}-repeated"), most)


def _count(element: Any, name: str) -> int:
    count = element.get(f"{_TABLE}{name}", "1")
    return max(1, int(count)) if count.isdecimal() and len(count) < 9 else 1


def _shown(cell: Any) -> str:
    """The paragraphs of a cell, those of its comments left out; else its plain value."""
    text = _paragraphs(cell.iterfind(_PARAGRAPH))
    return text or clean(next(filter(None, (cell.get(name, "") for name in _VALUES)), ""))


def _paragraphs(elements: Any) -> str:
    return "\n".join(filter(None, (clean("".join(_pieces(p))) for p in elements)))


def _pieces(element: Any) -> list[str]:
    pieces = [element.text or ""]
    for child in element:
        if child.tag == f"{_TEXT}s":
            count = child.get(f"{_TEXT}c", "1")
            pieces.append(" " * (min(int(count), MAX_SPACES) if count.isdecimal() else 1))
        elif child.tag == f"{_TEXT}tab":
            pieces.append("\t")
        elif child.tag == f"{_TEXT}line-break":
            pieces.append("\n")
        elif child.tag not in _UNSHOWN:
            pieces += _pieces(child)
        pieces.append(child.tail or "")
    return pieces
