"""The cells of a ruled table once its grid is known: text lines, hidden rows, spacers, headers."""

import itertools
import re
from collections.abc import Sequence

from libs.contracts.artefacts.rows import TableCell
from services.parser.formats.pdf_page import Word

SPACER = 6.0
"""Rows or columns thinner than this, in points, that hold nothing are dropped."""
_DIGIT = re.compile(r"[0-9]")

Filled = tuple[int, int, int, int, list[tuple[float, str]]]
"""A cell as row, column, row span, column span and its text lines as (middle y, text)."""


def text_lines(words: Sequence[Word]) -> list[tuple[float, str]]:
    """Words gathered into lines, as (middle y, text), top down and left to right."""
    lines: list[list[Word]] = []
    for word in sorted(words, key=lambda w: ((w.y0 + w.y1) / 2, w.x0)):
        middle = (word.y0 + word.y1) / 2
        if lines:
            last = lines[-1]
            reference = sum((w.y0 + w.y1) / 2 for w in last) / len(last)
            if middle - reference < 0.45 * max(word.y1 - word.y0, last[0].y1 - last[0].y0):
                last.append(word)
                continue
        lines.append([word])
    return [
        (
            sum((w.y0 + w.y1) / 2 for w in line) / len(line),
            " ".join(w.text for w in sorted(line, key=lambda w: w.x0)),
        )
        for line in lines
    ]


def split_rows(cells: list[Filled]) -> list[Filled]:
    """A grid row whose cells hold lined-up lines of figures is several rows without rules."""
    by_row: dict[int, list[Filled]] = {}
    for cell in cells:
        by_row.setdefault(cell[0], []).append(cell)
    moved: list[Filled] = []
    shift = 0
    for r in sorted(by_row):
        row = by_row[r]
        parts = _lined_up(row, cells)
        for _, c, rs, cs, lines in row:
            if parts is None:
                moved.append((r + shift, c, rs, cs, lines))
                continue
            pieces: list[list[tuple[float, str]]] = [[] for _ in parts]
            for y, text in lines:
                nearest = min(range(len(parts)), key=lambda i: abs(parts[i] - y))
                pieces[nearest].append((y, text))
            moved += [(r + shift + i, c, 1, cs, piece) for i, piece in enumerate(pieces)]
        shift += len(parts) - 1 if parts else 0
    return moved


def _lined_up(row: list[Filled], cells: list[Filled]) -> list[float] | None:
    """The heights of the rows that a grid row holds, or None when it is one row."""
    r = row[0][0]
    if any(c[2] > 1 for c in row) or any(c[0] < r < c[0] + c[2] for c in cells):
        return None
    filled = [c[4] for c in row if c[4]]
    if len(filled) < 2 or max(len(lines) for lines in filled) < 3:
        return None
    longest = max(filled, key=len)
    heights = [y for y, _ in longest]
    pitch = min(b - a for a, b in itertools.pairwise(heights))
    other = [lines for lines in filled if lines is not longest]
    if not all(min(abs(y - h) for h in heights) < 0.3 * pitch for lines in other for y, _ in lines):
        return None
    if sum(len(lines) for lines in other) < 0.7 * len(other) * len(heights):
        return None
    figures = [text for lines in filled for _, text in lines]
    return heights if sum(bool(_DIGIT.search(t)) for t in figures) >= 0.4 * len(figures) else None


def drop_spacers(cells: list[Filled], ys: list[float], xs: list[float]) -> list[Filled]:
    """Thin rows and columns that hold no text, taken out of the grid and of the spans."""
    rows = max(c[0] + c[2] for c in cells)
    if rows == len(ys) - 1:
        thin = [r for r in range(rows) if ys[r + 1] - ys[r] < SPACER]
        for r in reversed(thin):
            if not any(c[4] and c[0] == r and c[2] == 1 for c in cells):
                cells = [
                    (c[0] - (c[0] > r), c[1], c[2] - (c[0] <= r < c[0] + c[2]), c[3], c[4])
                    for c in cells
                ]
                cells = [c for c in cells if c[2] > 0]
    thin = [c for c in range(len(xs) - 1) if xs[c + 1] - xs[c] < SPACER]
    for k in reversed(thin):
        if not any(c[4] and c[1] == k and c[3] == 1 for c in cells):
            cells = [
                (c[0], c[1] - (c[1] > k), c[2], c[3] - (c[1] <= k < c[1] + c[3]), c[4])
                for c in cells
            ]
            cells = [c for c in cells if c[3] > 0]
    return cells


def mark_headers(cells: list[Filled]) -> list[TableCell]:
    """Cells with their text; the first row is a header when what follows has more figures.

    Where a header cell spans columns or rows, the rows below that complete it belong to it.
    """
    rows = max(c[0] for c in cells) + 1
    columns = max(c[1] + c[3] for c in cells)
    head = 0
    if rows > 1 and columns > 1:
        first = [c for c in cells if c[0] == 0]
        if len(first) > 1 or first[0][3] < columns:
            head = max(c[2] for c in first)
            if any(1 < c[3] < columns for c in first):
                head = max(head, 2)
        head = min(head, rows - 1)
        texts = [" ".join(t for _, t in c[4]) for c in cells if c[0] < head]
        figures = sum(1 for t in texts if t and not any(ch.isalpha() for ch in t))
        if figures > 0.5 * max(1, sum(1 for t in texts if t)):
            head = 0
    return [
        TableCell(
            row=r,
            column=c,
            row_span=rs,
            column_span=cs,
            text=" ".join(t for _, t in lines),
            header=r < head,
        )
        for r, c, rs, cs, lines in cells
    ]
