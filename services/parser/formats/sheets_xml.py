"""Workbooks of Excel 2002 and 2003 in one XML text ("XML Spreadsheet", Microsoft, 2001)."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from services.parser.formats.base import ParseInput
from services.parser.formats.rows import clean
from services.parser.formats.sheets_format import shown
from services.parser.formats.sheets_ods import column_letters
from services.parser.formats.sheets_tables import MAX_CELLS, Sheet
from services.parser.formats.xml_tree import xml_root

_NS = "{urn:schemas-microsoft-com:office:spreadsheet}"
_HIDDEN = "{urn:schemas-microsoft-com:office:excel}Visible"
_NAMED = {
    "General Number": "General", "General Date": "yyyy-mm-dd hh:mm", "Long Date": "yyyy-mm-dd",
    "Medium Date": "yyyy-mm-dd", "Short Date": "yyyy-mm-dd", "Long Time": "hh:mm:ss",
    "Medium Time": "hh:mm", "Short Time": "hh:mm", "Currency": "#,##0.00",
    "Euro Currency": "#,##0.00", "Fixed": "0.00", "Standard": "#,##0.00", "Percent": "0.00%",
    "Scientific": "0.00E+00", "Yes/No": '"Yes";"Yes";"No"', "True/False": '"True";"True";"False"',
    "On/Off": '"On";"On";"Off"',
}  # fmt: skip
"""Formats that have a name; dates are written year first, as everywhere here."""
MAX_PLACE = 1 << 20
EPOCH = datetime(1899, 12, 30)


def read_xml_workbook(given: ParseInput) -> Iterator[Sheet]:
    """The sheets in order, cells as shown. Raises as `xml_root`."""
    root = xml_root(given)
    formats = _formats(root)
    for source in root.findall(f"{_NS}Worksheet"):
        sheet = Sheet(source.get(f"{_NS}Name", ""))
        visible = next((e.text or "" for e in source.iter(_HIDDEN)), "")
        sheet.hidden = visible.strip() in ("SheetHidden", "SheetVeryHidden")
        for table in source.findall(f"{_NS}Table"):
            _fill(sheet, table, formats)
        yield sheet
        given.progress(0)


def _formats(root: Any) -> dict[str, str]:
    """Number formats by the name of their style; a style without one takes its parent's."""
    found: dict[str, str] = {}
    for style in root.iter(f"{_NS}Style"):
        code = found.get(style.get(f"{_NS}Parent", ""), "General")
        for number in style.findall(f"{_NS}NumberFormat"):
            name = number.get(f"{_NS}Format", "General")
            code = _NAMED.get(name, name)
        found[style.get(f"{_NS}ID", "")] = code
    return found


def _fill(sheet: Sheet, table: Any, formats: dict[str, str]) -> None:
    column = 0
    for about in table.findall(f"{_NS}Column"):
        column = _number(about, "Index", column + 1) - 1
        span = _number(about, "Span", 0)
        if about.get(f"{_NS}Hidden") == "1":
            sheet.hidden_columns.update(range(column, column + span + 1))
        column += span + 1
    row = 0
    for line in table.findall(f"{_NS}Row"):
        row = _number(line, "Index", row + 1) - 1
        if line.get(f"{_NS}Hidden") == "1":
            sheet.hidden_rows.add(row)
        column = 0
        for cell in line.findall(f"{_NS}Cell"):
            column = _number(cell, "Index", column + 1) - 1
            across, down = _number(cell, "MergeAcross", 0), _number(cell, "MergeDown", 0)
            style = cell.get(f"{_NS}StyleID") or line.get(f"{_NS}StyleID") or ""
            if (text := _shown(cell, formats.get(style, "General"))) and _room(sheet):
                sheet.cells[(row, column)] = text
            if across or down:
                sheet.merged.append((row, column, row + down, column + across))
            for note in cell.findall(f"{_NS}Comment"):
                said = clean("".join(note.itertext()))
                place = f"{column_letters(column)}{row + 1}"
                sheet.notes += [f"{place}: {said}"] if said else []
            column += across + 1
        row += _number(line, "Span", 0) + 1


def _room(sheet: Sheet) -> bool:
    return len(sheet.cells) <= MAX_CELLS


def _number(element: Any, name: str, default: int) -> int:
    value = element.get(f"{_NS}{name}", "")
    return min(int(value), MAX_PLACE) if value.isdecimal() and len(value) < 9 else default


def _shown(cell: Any, code: str) -> str:
    data = cell.find(f"{_NS}Data")
    if data is None:
        return ""
    text = "".join(data.itertext())
    kind = data.get(f"{_NS}Type", "String")
    with suppress(ValueError, OverflowError):
        if kind == "Number":
            return clean(shown(float(text), code))
        if kind == "DateTime":
            days = (datetime.fromisoformat(text) - EPOCH) / timedelta(days=1)
            return clean(shown(days, code if code != "General" else "yyyy-mm-dd hh:mm"))
        if kind == "Boolean":
            return "TRUE" if text == "1" else "FALSE"
    return clean(text)
