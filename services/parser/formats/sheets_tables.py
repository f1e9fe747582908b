"""A sheet's cells as tables: regions between blank rows and columns, headers, spans, pieces."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from libs.contracts.artefacts.rows import TableCell
from services.parser.formats.rows import Rows, clean
from services.parser.formats.sheets_charts import Chart
from services.parser.formats.tables import (
    COLUMNS_A_PIECE,
    ROWS_A_PIECE,
    header_height,
    split_body,
)

MAX_CUTS = 40
LONG = 20_000
"""Cells from which a region is cut before its cells are made."""
MAX_CELLS = 500_000
"""Cells of one workbook that are kept: what one process can hold as rows."""
_NUMBER = re.compile(r"[-+(]?\s*[$€£¥₩]?\s*[0-9][0-9,.\s]*%?\)?(?:[eE][-+]?[0-9]+)?")
_EDGE_CODE = re.compile(r"&(?:[A-Z](?![a-z])|[0-9]+|K[0-9A-F]{6}|\"[^\"]*\")")

Place = tuple[int, int]
Area = tuple[int, int, int, int]
"""Top, left, bottom and right of a block of cells, ends included."""


@dataclass
class Sheet:
    """A sheet as read: shown texts by (row, column) from 0, merged ranges, what is hidden.

    `texts`, `images`, `charts`, `notes`, `heads` and `feet` are what is drawn, commented and
    printed; `pictures` the leftmost image that is anchored in a row.
    """

    name: str
    cells: dict[Place, str] = field(default_factory=dict)
    merged: list[Area] = field(default_factory=list)
    hidden: bool = False
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    images: list[bytes] = field(default_factory=list)
    pictures: dict[int, bytes] = field(default_factory=dict)
    charts: list[Chart] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    feet: list[str] = field(default_factory=list)


def looks_numeric(text: str) -> bool:
    """Whether a shown text is a number, an amount or a percentage."""
    return _NUMBER.fullmatch(text.strip()) is not None


def add_sheet(rows: Rows, sheet: Sheet, *, heading: bool = True) -> None:
    """Rows of one sheet: its name as heading, then its regions from the top left.

    Hidden rows and columns go into rows of their own, marked hidden.
    """
    hidden = {p for p in sheet.cells if p[0] in sheet.hidden_rows or p[1] in sheet.hidden_columns}
    if not (sheet.cells or sheet.texts or sheet.images or sheet.charts or sheet.notes):
        return
    if heading:
        rows.heading(sheet.name, 1, evidence="markup", hidden=sheet.hidden)
    spans = {(m[0], m[1]): (m[2], m[3]) for m in sheet.merged}
    for region in regions(sheet.cells, sheet.merged):
        if len(region) > LONG and not hidden and len({p[1] for p in region}) > 1:
            _add_long(rows, sheet, spans, region)
            continue
        shown = _cells_of(sheet, spans, [p for p in region if p not in hidden])
        _add_region(rows, shown, lists=heading, hidden=sheet.hidden)
        unseen = _cells_of(sheet, spans, [p for p in region if p in hidden])
        _add_region(rows, unseen, lists=heading, hidden=True)
    if hidden or sheet.hidden:
        rows.note("hidden_text", "hidden sheets, rows or columns are kept out of evidence")


def regions(cells: Iterable[Place], merged: list[Area]) -> list[list[Place]]:
    """The cells in groups parted by blank rows and columns, from the top left.

    Only filled cells are looked at, so a sheet that claims a billion cells costs nothing.
    """
    spans = {(top, left): (bottom, right) for top, left, bottom, right in merged}
    boxes = [(r, c, *spans.get((r, c), (r, c))) for r, c in cells]
    if not boxes:
        return []
    parted = sorted(_parted(boxes, 0, 0), key=lambda group: min(group)[:2])
    heads: dict[tuple[int, int, int], list[Area]] = {}
    joined: list[list[Area]] = []
    for group in parted:
        top, left, bottom, right = _bounds(group)
        head = heads.pop((top - 2, left, right), None)
        if head is not None:
            # a single row one blank row above a region of the same columns is its header
            head += group
            continue
        joined.append(group)
        if top == bottom and left < right:
            heads[(bottom, left, right)] = group
    return [[(r, c) for r, c, _, _ in group] for group in joined]


def _bounds(boxes: list[Area]) -> Area:
    return (
        min(b[0] for b in boxes),
        min(b[1] for b in boxes),
        max(b[2] for b in boxes),
        max(b[3] for b in boxes),
    )


def _parted(boxes: list[Area], axis: int, depth: int) -> list[list[Area]]:
    """Cut along blank rows (axis 0), then columns, until neither cuts."""
    boxes.sort(key=lambda b: b[axis])
    groups: list[list[Area]] = []
    reach = -2
    for box in boxes:
        if box[axis] > reach + 1:
            groups.append([])
        groups[-1].append(box)
        reach = max(reach, box[axis + 2])
    if depth > MAX_CUTS or (len(groups) == 1 and depth and axis):
        return [boxes]
    return [part for group in groups for part in _parted(group, 1 - axis, depth + 1)]


def _add_region(rows: Rows, table: list[TableCell], *, lists: bool, hidden: bool) -> None:
    """A region as table pieces; a single cell, or (`lists`) a column of words, as paragraphs."""
    if not table:
        return
    caption = None
    wide = max(c.column + c.column_span for c in table)
    words = not any(looks_numeric(c.text) for c in table)
    if len(table) == 1 or (lists and wide == 1 and words):
        for cell in table:
            rows.add("paragraph", cell.text, hidden=hidden)
        return
    first = [c for c in table if c.row == 0]
    if len(first) == 1 and wide > 1 and sum(1 for c in table if c.row == 1) > 1:
        caption = first[0].text
        rows.add("caption", caption, hidden=hidden)
        table = [c.model_copy(update={"row": c.row - 1}) for c in table if c.row > 0]
    table = _with_header(table)
    for part in _columns(table):
        for piece in split_body(part, ROWS_A_PIECE):
            rows.table(piece, caption=caption, hidden=hidden)


def _add_long(
    rows: Rows, sheet: Sheet, spans: dict[Place, tuple[int, int]], region: list[Place]
) -> None:
    """A region of very many cells, piece by piece, so that its cells are in memory only once.

    The first piece tells the header, which is repeated in the others.
    """
    lines: dict[int, list[Place]] = {}
    for place in sorted(region):
        lines.setdefault(place[0], []).append(place)
    columns = sorted({p[1] for p in region})
    numbers = sorted(lines)
    caption = None
    if len(lines[numbers[0]]) == 1 and len(lines[numbers[1]]) > 1:
        caption = sheet.cells[lines[numbers.pop(0)][0]]
        rows.add("caption", caption, hidden=sheet.hidden)
    first = [p for n in numbers[:ROWS_A_PIECE] for p in lines[n]]
    head = header_height(_with_header(_cells_of(sheet, spans, first, columns)))
    above = [p for n in numbers[:head] for p in lines[n]]
    for start in range(head, len(numbers), ROWS_A_PIECE):
        places = above + [p for n in numbers[start : start + ROWS_A_PIECE] for p in lines[n]]
        cells = _cells_of(sheet, spans, places, columns)
        cells = [c.model_copy(update={"header": True}) if c.row < head else c for c in cells]
        for part in _columns(cells):
            rows.table(part, caption=caption, hidden=sheet.hidden)


def _cells_of(
    sheet: Sheet,
    spans: dict[Place, tuple[int, int]],
    places: list[Place],
    columns: list[int] | None = None,
) -> list[TableCell]:
    """The cells at these places, rows and columns without any closed up, or all but `columns`."""
    used_rows = sorted({p[0] for p in places})
    used_columns = columns or sorted({p[1] for p in places})
    made = []
    for r, c in sorted(places):
        low, far = spans.get((r, c), (r, c))
        row, column = bisect_right(used_rows, r) - 1, bisect_right(used_columns, c) - 1
        row_span = max(1, bisect_right(used_rows, low) - row)
        column_span = max(1, bisect_right(used_columns, far) - column)
        made.append(
            TableCell.model_construct(
                row=row,
                column=column,
                row_span=row_span,
                column_span=column_span,
                text=sheet.cells[(r, c)],
                header=False,
            )
        )
    return made


def _with_header(table: list[TableCell]) -> list[TableCell]:
    """The first row is a header when it holds words and something below holds none.

    Header cells that span columns take the rows below them along.
    """
    height = max(c.row for c in table) + 1
    first = [c for c in table if c.row == 0]
    if height < 2 or any(looks_numeric(c.text) for c in first):
        return table
    body = [c for c in table if c.row > 0]
    if len(first) < 2 and not any(looks_numeric(c.text) for c in body):
        return table
    head = max(c.row_span for c in first)
    if any(c.column_span > 1 for c in first):
        second = [c for c in table if c.row == 1]
        if second and not any(looks_numeric(c.text) for c in second):
            head = max(head, 2)
    head = min(head, height - 1)
    return [c.model_copy(update={"header": True}) if c.row < head else c for c in table]


def _columns(table: list[TableCell]) -> Iterator[list[TableCell]]:
    """A very wide table in pieces, its first column repeated in each."""
    width = max(c.column + c.column_span for c in table)
    if width <= COLUMNS_A_PIECE:
        yield table
        return
    labels = [c for c in table if c.column == 0]
    step = COLUMNS_A_PIECE - 1
    for start in range(1, width, step):
        piece = [c.model_copy(update={"column_span": 1}) for c in labels]
        for cell in table:
            low = max(cell.column, start)
            high = min(cell.column + cell.column_span, start + step)
            if cell.column > 0 and low < high:
                moved = {"column": low - start + 1, "column_span": high - low}
                piece.append(cell.model_copy(update=moved))
        yield sorted(piece, key=lambda c: (c.row, c.column))


def edges(raw: str) -> list[str]:
    """The left, middle and right part of a printed head or foot, those that hold text."""
    return [text for part in re.split("&[LCR]", raw) if (text := edge_text(part))]


def edge_text(part: str) -> str:
    """One part of a printed head or foot, without codes such as the page number."""
    return clean(_EDGE_CODE.sub("", part).replace("&&", "&"))


def text_of(value: object) -> str:
    """A cell value without a number format as text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return clean(str(value))
