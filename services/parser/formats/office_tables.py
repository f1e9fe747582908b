"""Tables of a docling document: their cells, and the tables that stand inside these."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from libs.contracts.artefacts.rows import TableCell
from services.parser.formats.office_text import joined
from services.parser.formats.rows import clean

if TYPE_CHECKING:
    from docling_core.types.doc.document import DoclingDocument

MAX_NESTED = 4
"""How deep tables are followed into tables; deeper ones stay text of their cells."""


def cells_of(document: "DoclingDocument", item: Any) -> list[TableCell]:
    """The cells; the first row is the header where none is marked and the table has a body."""
    cells = [
        TableCell(
            row=c.start_row_offset_idx,
            column=c.start_col_offset_idx,
            row_span=c.row_span,
            column_span=c.col_span,
            text=_text(document, c),
            header=c.column_header or c.row_header,
        )
        for c in item.data.table_cells
    ]
    if any(c.header for c in cells) or max((c.row for c in cells), default=0) < 1:
        return cells
    return [c.model_copy(update={"header": True}) if c.row == 0 else c for c in cells]


def chart_cells(chart: Any) -> list[TableCell]:
    """The cells of a chart's data, whose first row is the header."""
    return [
        TableCell(
            row=c.start_row_offset_idx,
            column=c.start_col_offset_idx,
            row_span=c.row_span,
            column_span=c.col_span,
            text=clean(c.text),
            header=c.start_row_offset_idx == 0,
        )
        for c in chart.chart_data.table_cells
    ]


def nested_tables(document: "DoclingDocument", item: Any, depth: int = 0) -> Iterator[Any]:
    """The tables inside the cells of a table, each before those inside it."""
    if depth == MAX_NESTED:
        return
    for cell in item.data.table_cells:
        reference = getattr(cell, "ref", None)
        if reference is not None:
            yield from _below(document, reference.resolve(document), depth)


def _below(document: "DoclingDocument", node: Any, depth: int) -> Iterator[Any]:
    for child in node.children:
        inner = child.resolve(document)
        if type(inner).__name__ == "TableItem":
            yield inner
            yield from nested_tables(document, inner, depth + 1)
        elif type(inner).__name__ == "GroupItem":
            yield from _below(document, inner, depth)


def _text(document: "DoclingDocument", cell: Any) -> str:
    reference = getattr(cell, "ref", None)
    if reference is None:
        return clean(cell.text)
    return clean(joined(document, reference.resolve(document), "\n"))
