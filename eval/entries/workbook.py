"""A run as a workbook: a summary, and every case coloured by how it ended."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from xlsxwriter import Workbook
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from eval.entries.figures import FIGURES, SHOWN, Case

GREEN, YELLOW, RED = "#C6EFCE", "#FFEB9C", "#FFC7CE"
"""Right, in the top 5, wrong: the fills that spreadsheets use for good, neutral and bad."""
WIDTHS = (48, 14, 10, 12, 28)


def colour(place: int | None) -> str:
    """The fill of a case by the place of the right entry."""
    if place is None or place > SHOWN:
        return RED
    return GREEN if place == 1 else YELLOW


def write_workbook(
    path: Path, report: Mapping[str, Any], cases: Mapping[str, Sequence[Case]]
) -> None:
    """The sheets `summary` and `cases`: a row a question, a column a setting."""
    with Workbook(path, {"strings_to_formulas": False, "strings_to_urls": False}) as book:
        bold = book.add_format({"bold": True})
        fills = {one: book.add_format({"bg_color": one}) for one in (GREEN, YELLOW, RED)}
        _summary(book.add_worksheet("summary"), report, bold, fills)
        _cases(book.add_worksheet("cases"), cases, bold, fills)


def _summary(
    sheet: Worksheet, report: Mapping[str, Any], bold: Format, fills: Mapping[str, Format]
) -> None:
    row = 0
    first = next(iter(report["settings"].values()))
    tables = {
        "settings": report["settings"],
        "popularity": first["by_popularity"],
        "source": first["by_source"],
    }
    for title, found in tables.items():
        sheet.write_row(row, 0, [title, *FIGURES], bold)
        for name, figures in found.items():
            row += 1
            sheet.write_row(row, 0, [name, *(figures[figure] for figure in FIGURES)])
        row += 2
    for text, fill in (("right", GREEN), ("in the top 5", YELLOW), ("wrong", RED)):
        sheet.write(row, 0, text, fills[fill])
        row += 1
    sheet.set_column(0, 0, WIDTHS[0])


def _cases(
    sheet: Worksheet,
    cases: Mapping[str, Sequence[Case]],
    bold: Format,
    fills: Mapping[str, Format],
) -> None:
    heads = ["question", "entry", "source", "popularity", "first found", *cases]
    sheet.write_row(0, 0, heads, bold)
    row = 0
    for row, beside in enumerate(zip(*cases.values(), strict=True), 1):
        case = beside[0]
        first = case.ranking[0].name if case.ranking else ""
        told = [case.question, case.entry_id, case.source, case.bucket, first]
        sheet.write_row(row, 0, told)
        sheet.write(row, 0, case.question, fills[colour(case.place)])
        for column, one in enumerate(beside, len(told)):
            sheet.write(row, column, one.place or "–", fills[colour(one.place)])
    for column, width in enumerate(WIDTHS):
        sheet.set_column(column, column, width)
    sheet.freeze_panes(1, 1)
    sheet.autofilter(0, 0, row, len(heads) - 1)
