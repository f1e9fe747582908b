"""Spreadsheets: XLSX by openpyxl, XLS by calamine, XLSB, ODS and CSV by readers of our own."""

import warnings
from collections.abc import Iterator
from importlib.metadata import version

from libs.contracts.faults import Code, DocumentFault
from services.parser.formats.archives import opened
from services.parser.formats.attached import add_attachments
from services.parser.formats.attached_find import office_attachments
from services.parser.formats.base import ParseInput, ShardResult
from services.parser.formats.flat_office import is_xml, packaged
from services.parser.formats.images import add_image
from services.parser.formats.rows import Rows
from services.parser.formats.sheets_csv import read_csv
from services.parser.formats.sheets_ods import read_ods
from services.parser.formats.sheets_old import read_calamine
from services.parser.formats.sheets_tables import MAX_CELLS, Sheet, add_sheet
from services.parser.formats.sheets_xlsb import is_xlsb, read_xlsb
from services.parser.formats.sheets_xlsx import NotReadable, read_xlsx
from services.parser.formats.sheets_xml import read_xml_workbook


def parse(given: ParseInput) -> ShardResult:
    """Rows of a workbook, a heading a sheet, or of one CSV table."""
    rows = Rows()
    name = given.profile.format
    if name == "csv":
        add_sheet(rows, read_csv(given, rows), heading=False)
        return rows.result("csv")
    if name == "xls" and given.profile.encoding is not None and is_xml(given.path):
        _add_all(given, rows, read_xml_workbook(given))
        return rows.result("xml")
    if name in ("xlsx", "ods"):
        given = opened(packaged(given))
    if name == "ods":
        _add_all(given, rows, read_ods(given))
        add_attachments(given, rows, office_attachments(given.path))
        return rows.result("ods")
    engine = "python-calamine"
    if name == "xlsx" and is_xlsb(given.path):
        _add_all(given, rows, read_xlsb(given))
        add_attachments(given, rows, office_attachments(given.path))
        return rows.result("xlsb")
    if name == "xlsx":
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _add_all(given, rows, read_xlsx(given))
            engine = "openpyxl"
        except NotReadable:
            rows = Rows()
    if engine == "python-calamine":
        _add_all(given, rows, read_calamine(given.path))
    if name == "xlsx":
        if engine == "python-calamine":
            rows.note("number_formats", "this kind of workbook is read without its number formats")
        add_attachments(given, rows, office_attachments(given.path))
    return rows.result(engine, {engine: version(engine)})


def _add_all(given: ParseInput, rows: Rows, sheets: Iterator[Sheet]) -> None:
    left = MAX_CELLS
    for sheet in sheets:
        given.progress(1)
        if len(sheet.cells) > left:
            if left == MAX_CELLS:
                raise DocumentFault(
                    Code.TOO_LARGE,
                    f"a sheet holds over {MAX_CELLS} filled cells; split it or upload it as CSV",
                )
            rows.note("sheets_left_out", "sheets past the limit were left out", severity="warning")
            continue
        left -= len(sheet.cells)
        add_sheet(rows, sheet)
        for text in sheet.texts:
            rows.add("paragraph", text, hidden=sheet.hidden)
        for chart in sheet.charts:
            rows.add("caption", chart.title, hidden=sheet.hidden)
            rows.table(chart.cells, caption=chart.title or None, hidden=sheet.hidden)
        for data in sheet.images:
            add_image(rows, given.assets, data, hidden=sheet.hidden)
        for note in sheet.notes:
            rows.add("note", note, hidden=sheet.hidden)
        for text in sheet.heads:
            rows.add("page_header", text, hidden=sheet.hidden)
        for text in sheet.feet:
            rows.add("page_footer", text, hidden=sheet.hidden)
        given.progress(0)
