"""From cells to HTML with exact spans, and to text rows that search can find.

The one builder of every format. A table is a list of `TableCell`; what a format knows about
spans and headers is in the cells, everything else follows from them here.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from libs.contracts.artefacts.rows import TableCell

MAX_COLUMNS = 1000
"""Columns past this are dropped: the `colspan` limit of the HTML standard."""
ROWS_A_PIECE, COLUMNS_A_PIECE = 50, 40
"""Of a long or wide table: so much of it is one piece."""
MAX_GRID = 1_000_000
"""Grid places of one table; spans of a hostile file are clipped to stay within it."""
MAX_HEADER_ROWS = 8


@dataclass(frozen=True)
class Span:
    """A cell as markup gives it: no place yet, only its text, spans and whether it is a header."""

    text: str
    row_span: int = 1
    column_span: int = 1
    header: bool = False


def place(rows: Iterable[Iterable[Span]]) -> list[TableCell]:
    """Cells at the grid places that the HTML table model gives them.

    Each cell takes the next free column of its row; a row span of 0 reaches to the last row.
    Overlong spans are clipped to the table (HTML standard, "forming a table").
    """
    given = [list(row) for row in rows]
    taken: dict[int, int] = {}
    cells: list[TableCell] = []
    budget = MAX_GRID
    for r, row in enumerate(given):
        column = 0
        for span in row:
            while taken.get(column, 0) > r:
                column += 1
            left = len(given) - r
            height = min(span.row_span, left) if span.row_span > 0 else left
            width = max(1, min(span.column_span, MAX_COLUMNS - column))
            if column >= MAX_COLUMNS or budget < height * width:
                break
            budget -= height * width
            for c in range(column, column + width):
                taken[c] = max(taken.get(c, 0), r + height)
            cells.append(
                TableCell(
                    row=r,
                    column=column,
                    row_span=height,
                    column_span=width,
                    text=span.text,
                    header=span.header,
                )
            )
            column += width
    return cells


def plain_cells(rows: Sequence[Sequence[str]], header_rows: int = 1) -> list[TableCell]:
    """Cells of a table without spans; the first `header_rows` rows are its header."""
    return [
        TableCell(row=r, column=c, text=text, header=r < header_rows)
        for r, row in enumerate(rows)
        for c, text in enumerate(row[:MAX_COLUMNS])
    ]


def header_height(cells: Sequence[TableCell]) -> int:
    """How many leading rows are header rows: every cell is a header and none reaches below."""
    rows = _by_row(cells)
    height = 0
    reach = 0
    for r in sorted(rows):
        if r >= MAX_HEADER_ROWS or r != height or not all(c.header for c in rows[r]):
            break
        height = r + 1
        reach = max(reach, *(c.row + c.row_span for c in rows[r]))
    if reach > height:
        # a header cell that reaches into the body takes its row out of the head
        closed = [
            h for h in range(height + 1)
            if all(c.row >= h or c.row + c.row_span <= h for r in range(h) for c in rows[r])
        ]  # fmt: skip
        return max(closed)
    return height


def table_html(cells: Sequence[TableCell]) -> str:
    """Compact HTML: `<th>` for header cells, header rows in `<thead>`, text escaped.

    Line breaks inside a cell become `<br>`.
    """
    rows = _by_row(cells)
    if not rows:
        return ""
    head = header_height(cells)
    last = max(rows)
    parts = ["<table>"]
    if head:
        parts += ["<thead>", *_html_rows(rows, 0, head), "</thead>"]
    if last >= head:
        parts += ["<tbody>", *_html_rows(rows, head, last + 1), "</tbody>"]
    parts.append("</table>")
    return "".join(parts)


def table_text(cells: Sequence[TableCell]) -> str:
    """One line a body row, `header: value; header: value`, so that a row is found by both.

    The value of a cell that spans rows stands in each of them; one that spans columns stands
    once, under the first of its headers. Without a header row, or with
    a header alone, the values are joined by ` | `.
    """
    if not cells:
        return ""
    grid = _grid(cells)
    head = header_height(cells)
    names = _column_names(grid[:head])
    lines = [line for row in grid[head:] if (line := _named(row, names) if head else _values(row))]
    return "\n".join(lines or [line for row in grid if (line := _values(row))])


def record_tables(records: Sequence[Mapping[str, str]]) -> Iterator[list[TableCell]]:
    """Records as tables of at most `ROWS_A_PIECE` lines, one for each `COLUMNS_A_PIECE` of their
    field names, which stand in the header in the order in which they first come."""
    names = list(dict.fromkeys(name for record in records for name in record))
    for start in range(0, max(1, len(names)), COLUMNS_A_PIECE):
        columns = names[start : start + COLUMNS_A_PIECE]
        lines = [columns, *([record.get(name, "") for name in columns] for record in records)]
        yield from split_body(plain_cells(lines), ROWS_A_PIECE)


def split_body(cells: Sequence[TableCell], limit: int) -> Iterator[list[TableCell]]:
    """The table in pieces of at most `limit` body rows, the header rows repeated in each.

    A row span that crosses a border is cut there and its text repeated, so that each piece
    stands alone.
    """
    head = header_height(cells)
    last = max((c.row for c in cells), default=-1) + 1
    if last - head <= limit:
        yield list(cells)
        return
    header = [c for c in cells if c.row < head]
    pieces: dict[int, list[TableCell]] = {}
    for cell in (c for c in cells if c.row >= head):
        end = min(cell.row + cell.row_span, last)
        for piece in range((cell.row - head) // limit, (end - 1 - head) // limit + 1):
            start = head + piece * limit
            top, bottom = max(cell.row, start), min(end, start + limit)
            moved = {"row": head + top - start, "row_span": bottom - top}
            pieces.setdefault(piece, []).append(cell.model_copy(update=moved))
    for piece in sorted(pieces):
        yield header + pieces[piece]


def _by_row(cells: Sequence[TableCell]) -> dict[int, list[TableCell]]:
    rows: dict[int, list[TableCell]] = {}
    for cell in sorted(cells, key=lambda c: (c.row, c.column)):
        rows.setdefault(cell.row, []).append(cell)
    return rows


def _html_rows(rows: dict[int, list[TableCell]], start: int, end: int) -> Iterator[str]:
    for r in range(start, end):
        yield "<tr>" + "".join(_html_cell(c) for c in rows.get(r, ())) + "</tr>"


def _html_cell(cell: TableCell) -> str:
    tag = "th" if cell.header else "td"
    down = f' rowspan="{cell.row_span}"' if cell.row_span > 1 else ""
    across = f' colspan="{cell.column_span}"' if cell.column_span > 1 else ""
    return f"<{tag}{down}{across}>{_text(cell.text)}</{tag}>"


def _text(text: str) -> str:
    return escape(text.strip(), quote=False).replace("\n", "<br>")


def _grid(cells: Sequence[TableCell]) -> list[list[TableCell | None]]:
    """Every place of the table with the cell that covers it; spans clipped to `MAX_GRID`."""
    height = max(c.row for c in cells) + 1
    width = min(MAX_COLUMNS, max(c.column + c.column_span for c in cells))
    height = min(height, max(1, MAX_GRID // width))
    grid: list[list[TableCell | None]] = [[None] * width for _ in range(height)]
    for cell in cells:
        for r in range(cell.row, min(cell.row + cell.row_span, height)):
            for c in range(cell.column, min(cell.column + cell.column_span, width)):
                grid[r][c] = cell
    return grid


def _column_names(head: list[list[TableCell | None]]) -> list[str]:
    """A name a column: the texts above it, outermost first, each once."""
    if not head:
        return []
    names: list[str] = []
    for column in range(len(head[0])):
        parts = [cell.text for row in head if (cell := row[column]) is not None]
        names.append(" ".join(dict.fromkeys(" ".join(p.split()) for p in parts if p.strip())))
    return names


def _named(row: list[TableCell | None], names: list[str]) -> str:
    parts: list[str] = []
    previous: TableCell | None = None
    for cell, name in zip(row, names, strict=True):
        if cell is None or cell is previous or not cell.text.strip():
            previous = cell
            continue
        previous = cell
        value = " ".join(cell.text.split())
        parts.append(f"{name}: {value}" if name else value)
    return "; ".join(parts)


def _values(row: list[TableCell | None]) -> str:
    parts: list[str] = []
    previous: TableCell | None = None
    for cell in row:
        if cell is not None and cell is not previous and cell.text.strip():
            parts.append(" ".join(cell.text.split()))
        previous = cell
    return " | ".join(parts)
