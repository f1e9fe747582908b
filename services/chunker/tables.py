"""Tables as chunks: text that search can read, and HTML that is exact.

A table's text is its caption, its column headers, and one line a row: `header: value; …`. A
table over the limit is cut between rows into parts of even size; each that begins with a row
carries the caption, its headers and exact HTML, and stands on the pages of its own rows.
"""

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import takewhile

from libs.contracts.artefacts.chunk import canonical_table, canonical_text
from libs.contracts.artefacts.rows import Row, TableCell
from services.chunker.cut import Unit, fit
from services.chunker.text import CountMany, clean, one_line

MAX_SPAN = 1000
"""Spans of a cell are followed so far when its value is repeated in the lines it covers."""

Piece = tuple[Unit, int | None]
"""A unit of a table, or a piece of one, with its row of the grid."""

LEVELS = " / "
"""Joins the levels of a column's header."""
CAPTION_SHARE = 0.25
"""Of a part's tokens, the most that the caption may take to be repeated."""
MAX_LABEL = 32
"""Longest header, in characters, that is repeated whole before every value."""


@dataclass(frozen=True)
class TablePart:
    """A piece of a table: `identity` is the text its chunk id is made of; `html` is None where
    the part only continues a row that began in the part before; `row` is the table's, with the
    boxes that the part stands in."""

    content: str
    identity: str
    html: str | None
    tokens: int
    row: Row


@dataclass(frozen=True)
class TableText:
    """A table ready to be counted and cut: `units` are caption, headers and rows, in order, the
    first the caption where `captioned`; `grid_rows` names the row of the grid for each unit,
    None for caption and headers.
    `covering` holds the cells that cover each grid row."""

    row: Row
    units: list[Unit]
    grid_rows: list[int | None]
    header_rows: tuple[int, ...]
    covering: dict[int, list[TableCell]]
    captioned: bool = False


def read_table(row: Row, caption: str) -> TableText | None:
    """The table as lines of text; None when there is nothing to read in it."""
    by_row = _covering(row.cells)
    header_rows = _header_rows(row.cells, sorted(by_row))
    headers = _column_headers(row.cells, header_rows)
    labels = _labels(headers)
    lines: list[tuple[str, int | None]] = [(one_line(clean(caption)), None)]
    lines.append((" | ".join(dict.fromkeys(headers.values())), None))
    for r in sorted(by_row):
        if r not in header_rows:
            lines.append((_line(by_row[r], labels), r))
    if not row.cells:
        lines += [(line, None) for line in clean(row.text).split("\n")]
    kept = [(text, r) for text, r in lines if text]
    if not kept:
        return None
    units = [Unit(text, "\n" if i else "", row) for i, (text, _) in enumerate(kept)]
    captioned = bool(lines[0][0]) and len(kept) > 1
    return TableText(row, units, [r for _, r in kept], header_rows, by_row, captioned)


def cut_table(table: TableText, limit: int, count_many: CountMany) -> list[TablePart]:
    """The parts of a counted table, each within `limit` tokens."""
    if sum(u.tokens for u in table.units) <= limit:
        row = table.row
        content = "\n".join(u.text for u in table.units)
        html = row.html or (table_html(row.cells) if row.cells else None)
        identity = canonical_table(row.cells) if row.cells else canonical_text(content)
        return [TablePart(content, identity, html, sum(u.tokens for u in table.units), row)]
    head = table.units[0] if table.captioned else None
    if head is None or head.tokens > limit * CAPTION_SHARE:
        head = None
    room = limit - (head.tokens if head else 0)
    pieces: list[Piece] = []
    for whole, place in zip(table.units, table.grid_rows, strict=True):
        if whole is not head:
            pieces += [(one, place) for one in fit([whole], room, count_many)]
    return [_part(table, head, group) for group in _shared_out(pieces, room)]


def _shared_out(pieces: Sequence[Piece], room: int) -> list[list[Piece]]:
    """The pieces in order, in as few groups as `room` tokens allow, of even size."""
    total = sum(unit.tokens for unit, _ in pieces)
    share = total / max(1, math.ceil(total / room))
    groups: list[list[Piece]] = [[]]
    size = done = 0
    for unit, place in pieces:
        full = done + unit.tokens / 2 > share * len(groups)
        if groups[-1] and (full or size + unit.tokens > room):
            groups.append([])
            size = 0
        groups[-1].append((unit, place))
        size += unit.tokens
        done += unit.tokens
    return groups


def table_html(cells: Sequence[TableCell]) -> str:
    """The cells as an HTML table with their spans."""
    rows: defaultdict[int, list[TableCell]] = defaultdict(list)
    for cell in cells:
        rows[cell.row].append(cell)
    lines = []
    for r in sorted(rows):
        line = ""
        for cell in sorted(rows[r], key=lambda c: c.column):
            tag = "th" if cell.header else "td"
            spans = f' rowspan="{cell.row_span}"' if cell.row_span > 1 else ""
            spans += f' colspan="{cell.column_span}"' if cell.column_span > 1 else ""
            line += f"<{tag}{spans}>{escape(cell.text)}</{tag}>"
        lines.append(f"<tr>{line}</tr>")
    return "<table>" + "".join(lines) + "</table>"


def _part(table: TableText, head: Unit | None, group: Sequence[Piece]) -> TablePart:
    lead = [head] if head and group[0][0].begins else []
    units = [*lead, *(unit for unit, _ in group)]
    content = "\n".join(unit.text for unit in units)
    tokens = sum(unit.tokens for unit in units)
    row = _standing(table.row, [r for _, r in group if r is not None])
    body = [r for unit, r in group if r is not None and unit.begins]
    if not body:
        return TablePart(content, canonical_text(content), None, tokens, row)
    cells = _rebase(table.covering, [*table.header_rows, *body])
    return TablePart(content, canonical_table(cells), table_html(cells), tokens, row)


def _standing(row: Row, grid_rows: Sequence[int]) -> Row:
    """The row with the boxes in which these grid rows stand, where it tells them apart."""
    if not row.breaks or len(row.breaks) != len(row.boxes) - 1:
        return row
    places = {bisect_right(row.breaks, r) for r in grid_rows} or {0}
    boxes = [row.boxes[i] for i in sorted(places)]
    return row.model_copy(update={"page": boxes[0].page, "boxes": boxes})


def _rebase(covering: dict[int, list[TableCell]], rows: Sequence[int]) -> list[TableCell]:
    """The cells of these grid rows as a table of their own, spans clipped to it."""
    first: dict[int, tuple[int, TableCell]] = {}
    spans: Counter[int] = Counter()
    for i, r in enumerate(rows):
        for cell in covering[r]:
            first.setdefault(id(cell), (i, cell))
            spans[id(cell)] += 1
    return [
        cell.model_copy(update={"row": i, "row_span": spans[key]})
        for key, (i, cell) in first.items()
    ]


def _covering(cells: Sequence[TableCell]) -> dict[int, list[TableCell]]:
    """For each grid row in which a cell begins, the cells that cover it, by column."""
    starts = {c.row for c in cells}
    by_row: dict[int, list[TableCell]] = {r: [] for r in starts}
    for cell in cells:
        for r in range(cell.row, cell.row + max(1, min(cell.row_span, MAX_SPAN))):
            if r in starts:
                by_row[r].append(cell)
    for covering in by_row.values():
        covering.sort(key=lambda c: c.column)
    return by_row


def _header_rows(cells: Sequence[TableCell], rows: Sequence[int]) -> tuple[int, ...]:
    """The leading rows whose cells are all headers. Where no cell is marked, the first row of
    several counts when its cells are distinct words."""
    plain = {c.row for c in cells if not c.header}
    leading = list(takewhile(lambda r: r not in plain, rows))
    if leading or any(c.header for c in cells) or len(rows) < 2:
        return tuple(leading) if len(leading) < len(rows) else ()
    first = [one_line(c.text) for c in cells if c.row == rows[0]]
    words = len(first) > 1 and all(t and not t[0].isdigit() for t in first)
    return (rows[0],) if words and len(set(first)) == len(first) else ()


def _column_headers(cells: Sequence[TableCell], header_rows: Sequence[int]) -> dict[int, str]:
    """Header text by column; several header rows are joined from the top."""
    texts: defaultdict[int, list[str]] = defaultdict(list)
    for cell in sorted((c for c in cells if c.row in header_rows), key=lambda c: (c.row, c.column)):
        text = one_line(clean(cell.text))
        for column in range(cell.column, cell.column + min(cell.column_span, MAX_SPAN)):
            if text and text not in texts[column]:
                texts[column].append(text)
    return {column: LEVELS.join(texts[column]) for column in sorted(texts)}


def _labels(headers: dict[int, str]) -> dict[int, str]:
    """What stands before a value: the header, or of a long one its lowest level where that
    tells the columns apart; the line of headers has it whole."""
    lowest = {column: text.rsplit(LEVELS, 1)[-1] for column, text in headers.items()}
    count = Counter(lowest.values())
    return {
        column: lowest[column] if len(text) > MAX_LABEL and count[lowest[column]] == 1 else text
        for column, text in headers.items()
    }


def _line(cells: Sequence[TableCell], labels: dict[int, str]) -> str:
    values = []
    for cell in cells:
        text = one_line(clean(cell.text))
        label = labels.get(cell.column, "")
        if text:
            values.append(f"{label}: {text}" if label and label != text else text)
    return ("; " if labels else " | ").join(values)
