"""XLSX: cells streamed by openpyxl's sheet parser, drawn parts read from the container."""

import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

from libs.contracts.faults import Code, DocumentFault
from services.parser.formats.base import ParseInput
from services.parser.formats.sheets_drawn import add_drawn, relations, tree
from services.parser.formats.sheets_format import builtin_code, shown
from services.parser.formats.sheets_tables import MAX_CELLS, Sheet, edge_text, text_of

PROGRESS_ROWS = 2_000
MAX_MERGES = 100_000
_WORKBOOK = "xl/workbook.xml"
_SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}sheet"
_RELATION_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


class NotReadable(Exception):
    """openpyxl cannot read this workbook; another reader may."""


def read_xlsx(given: ParseInput) -> Iterator[Sheet]:
    """The worksheets in order, cells as shown, formulas by their cached values."""
    import openpyxl
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        with given.path.open("rb") as file:
            load: Any = openpyxl.load_workbook  # type: ignore[attr-defined]
            book = load(file, read_only=True, data_only=True, keep_links=False)
            if not book.worksheets:
                raise NotReadable
            for source in book.worksheets:
                yield _sheet(given, book, source)
            yield from _chart_sheets(given)
    except (KeyError, TypeError, ValueError, InvalidFileException, SyntaxError, OSError) as problem:
        raise NotReadable from problem
    except (zipfile.BadZipFile, zlib.error, EOFError) as problem:
        raise DocumentFault(
            Code.UNREADABLE, "the workbook is damaged; open and save it again"
        ) from problem


def _sheet(given: ParseInput, book: Any, source: Any) -> Sheet:
    from openpyxl.worksheet._reader import WorkSheetParser

    sheet = Sheet(source.title, hidden=source.sheet_state != "visible")
    formats: dict[int, str] = {}
    with source._get_source() as stream:
        parser: Any = WorkSheetParser(
            stream, source._shared_strings, data_only=True, epoch=book.epoch
        )  # type: ignore[no-untyped-call]
        for count, (_, row) in enumerate(parser.parse()):
            if count % PROGRESS_ROWS == 0:
                given.progress(0)
            for cell in row:
                if cell["value"] is None:
                    continue
                text = _shown(book, formats, cell)
                if text:
                    sheet.cells[(cell["row"] - 1, cell["column"] - 1)] = text
            if len(sheet.cells) > MAX_CELLS:
                break
    _layout(sheet, parser)
    add_drawn(given, sheet, source._worksheet_path)
    return sheet


def _shown(book: Any, formats: dict[int, str], cell: dict[str, Any]) -> str:
    value = cell["value"]
    if cell["data_type"] != "n" or isinstance(value, bool):
        return text_of(value)
    style = cell["style_id"] or 0
    if style not in formats:
        formats[style] = _format_code(book, style)
    return shown(value, formats[style], epoch_1904=book.epoch.year == 1904)


def _format_code(book: Any, style: int) -> str:
    from openpyxl.styles.numbers import BUILTIN_FORMATS_MAX_SIZE

    try:
        number = book._cell_styles[style].numFmtId
        if number < BUILTIN_FORMATS_MAX_SIZE:
            return builtin_code(number)
        return str(book._number_formats[number - BUILTIN_FORMATS_MAX_SIZE])
    except (IndexError, AttributeError):
        return "General"


def _layout(sheet: Sheet, parser: Any) -> None:
    """Merged ranges, hidden rows and columns, heads and feet of the printed sheet."""
    from openpyxl.utils.cell import range_boundaries

    if parser.merged_cells is not None:
        for merged in parser.merged_cells.mergeCell[:MAX_MERGES]:
            left, top, right, bottom = range_boundaries(merged.ref)  # type: ignore[no-untyped-call]
            sheet.merged.append((top - 1, left - 1, bottom - 1, right - 1))
    for number, about in parser.row_dimensions.items():
        if about.get("hidden") in {"1", "true"}:
            sheet.hidden_rows.add(int(float(number)) - 1)
    hidden = [a for a in parser.column_dimensions.values() if a.get("hidden") in {"1", "true"}]
    for about in hidden:
        first, last = int(about["min"]), min(int(about["max"]), 16_384)
        sheet.hidden_columns.update(range(first - 1, last))
    edges = getattr(parser, "HeaderFooter", None)
    if edges is not None:
        sheet.heads = list(_edge_texts(edges.oddHeader))
        sheet.feet = list(_edge_texts(edges.oddFooter))


def _edge_texts(edge: Any) -> Iterator[str]:
    """The three parts of a printed head or foot that hold text."""
    for part in (edge.left, edge.center, edge.right):
        text = edge_text(part.text or "")
        if text:
            yield text


def _chart_sheets(given: ParseInput) -> Iterator[Sheet]:
    """The sheets that are one chart each, which openpyxl leaves out."""
    with zipfile.ZipFile(given.path) as archive:
        if not any(name.startswith("xl/chartsheets/") for name in archive.namelist()):
            return
        names = {s.get(_RELATION_ID): s for s in tree(archive, _WORKBOOK).iter(_SHEET)}
        found = [(i, t) for k, t, i in relations(archive, _WORKBOOK) if k == "chartsheet"]
    for identity, part in found:
        about = names.get(identity)
        if about is not None:
            hidden = about.get("state", "visible") != "visible"
            sheet = Sheet(about.get("name", ""), hidden=hidden)
            add_drawn(given, sheet, part)
            yield sheet
