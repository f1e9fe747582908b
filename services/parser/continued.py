"""Tables that go on over a page border are one table, its header kept once. Pure.

Two tables are parts of one where nothing but furniture, footnotes or a word such as
`(continued)` stands between them, they have as many columns and the same edges, and the second
repeats the header of the first or begins with a row that looks like the first one's body.
"""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from libs.contracts.artefacts.rows import Row
from services.parser.formats.tables import header_height, table_html, table_text

SAME_EDGE = 4.0
"""Points by which the edges of the parts may differ."""
MIRRORED = 40.0
"""Points by which both edges may move together, from a left to a right page."""
MAX_CELLS = 50_000
"""Cells of a joined table; what follows stays a table of its own."""
BETWEEN = 6
"""Rows between the parts that are looked at."""

_CONTINUED = re.compile(
    r"\W*(?:(?:table|표)\s*[\dA-Z.\-]+\W*)?(?:continued|cont['’]?d?|계\s*속|이어서)\W*",
    re.IGNORECASE,
)
_SILENT = frozenset({"page_header", "page_footer", "footnote"})


@dataclass(frozen=True, slots=True)
class _Part:
    """A table as the join remembers it, and the rows since the table before it."""

    index: int
    page: int
    left: float
    right: float
    columns: int
    head: tuple[tuple[int, str], ...]
    first: tuple[tuple[int, str], ...]
    figures: frozenset[int]
    cells: int
    captioned: bool
    between: tuple[int, ...] | None


@dataclass
class Continued:
    """Collects tables in order; `chains` tells which go on in which."""

    _parts: list[_Part] = field(default_factory=list)
    _since: list[int] = field(default_factory=list)

    def see(self, row: Row, index: int) -> None:
        """Take note of the next row."""
        if row.kind == "table" and row.page is not None and row.boxes and row.cells:
            between = tuple(self._since) if len(self._since) <= BETWEEN else None
            self._parts.append(_part(row, index, row.page, between))
            self._since.clear()
        elif row.kind not in _SILENT and not _CONTINUED.fullmatch(row.text):
            self._since = [*self._since, index][: BETWEEN + 1]

    def chains(self, furniture: Container[int]) -> dict[int, int]:
        """The first table's index for every table that goes on from it."""
        first: dict[int, int] = {}
        cells = 0
        for before, part in zip(self._parts, self._parts[1:], strict=False):
            near = part.between is not None and all(i in furniture for i in part.between)
            if before.index not in first:
                cells = before.cells
            if near and cells + part.cells <= MAX_CELLS and _goes_on(before, part):
                first[part.index] = first.get(before.index, before.index)
                cells += part.cells
        return first


def join_tables(rows: Iterable[tuple[int, Row]], chains: dict[int, int]) -> Iterator[Row]:
    """The rows with every chain of tables as one, at the place of its first part."""
    waiting = {first: index for index, first in chains.items()}
    held: list[Row] = []
    parts: list[Row] = []
    last = -1
    for index, row in rows:
        if index in waiting and not parts:
            parts, last = [row], waiting[index]
        elif parts and index in chains:
            parts.append(row)
        elif parts:
            held.append(row)
        else:
            yield row
        if parts and index == last:
            yield _joined(parts)
            yield from held
            parts, held = [], []
    if parts:
        yield _joined(parts)
        yield from held


def _part(row: Row, index: int, page: int, between: tuple[int, ...] | None) -> _Part:
    head = header_height(row.cells)
    columns = max(c.column + c.column_span for c in row.cells)
    by_column: dict[int, list[str]] = {}
    for cell in row.cells:
        if cell.row >= head:
            by_column.setdefault(cell.column, []).append(cell.text)
    return _Part(
        index,
        page,
        row.boxes[0].bbox[0],
        row.boxes[0].bbox[2],
        columns,
        tuple((c.column, c.text) for c in row.cells if c.row < head),
        tuple((c.column, c.text) for c in row.cells if c.row == 0),
        frozenset(i for i, texts in by_column.items() if _is_numeric(texts)),
        len(row.cells),
        row.caption is not None and not _CONTINUED.search(row.caption),
        between,
    )


def _is_numeric(texts: Sequence[str]) -> bool:
    filled = [t for t in texts if t]
    return 2 * sum(_has_figures(t) for t in filled) > len(filled) > 0


def _has_figures(text: str) -> bool:
    return any(c.isdecimal() for c in text)


def _goes_on(before: _Part, part: _Part) -> bool:
    if part.page != before.page + 1 or part.columns != before.columns or part.columns < 2:
        return False
    left, right = part.left - before.left, part.right - before.right
    if abs(left - right) > SAME_EDGE or abs(left) > MIRRORED:
        return False
    if before.head and part.head == before.head:
        return True
    if part.captioned or abs(left) > SAME_EDGE:
        return False
    if not part.head:
        return True
    told = [text for column, text in part.first if column in before.figures]
    return bool(told) and all(_has_figures(text) for text in told)


def _joined(parts: Sequence[Row]) -> Row:
    """One table row of the parts' cells: a repeated header once, page and place of the first."""
    if len(parts) == 1:
        return parts[0]
    head = header_height(parts[0].cells)
    top = _top(parts[0], head)
    cells = list(parts[0].cells)
    breaks: list[int] = []
    for part in parts[1:]:
        skip = head if _top(part, head) == top else 0
        start = max(c.row + c.row_span for c in cells) - skip
        breaks += [start + skip] * len(part.boxes)
        cells += [
            c.model_copy(update={"row": start + c.row, "header": False})
            for c in part.cells
            if c.row >= skip
        ]
    return parts[0].model_copy(
        update={
            "cells": cells,
            "html": table_html(cells),
            "text": table_text(cells),
            "boxes": [box for part in parts for box in part.boxes],
            "breaks": breaks,
        }
    )


def _top(part: Row, head: int) -> list[tuple[int, str]]:
    return [(c.column, c.text) for c in part.cells if c.row < head]
