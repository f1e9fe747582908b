"""Tables without rulings: lines of text whose words leave the same columns white.

A run of lines with several pieces of text each is a candidate; the white columns that (nearly)
all of its rows of figures share are its column borders. The idea is that of white-space
analysis (Breuel, "Two geometric algorithms for layout analysis", DAS 2002) and of stream
parsing after Nurminen, "Algorithmic extraction of data in tables in PDF documents", 2013. What
is left is filtered by its content: figures, short cells, few blanks.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from services.parser.formats.pdf_cells import Filled, mark_headers
from services.parser.formats.pdf_page import Page, Segment, Table

JOIN = 0.6
"""A gap between words up to this many ems is a word space."""
JOIN_FIGURES = 0.42
"""The same between two figures."""
WIDE = 0.9
"""A line is one of a table when two of its pieces stand this many ems apart."""
MIN_WHITE = 0.3
"""Least width of a white column, in ems."""
LINE_GAP = 2.6
"""White of this many ems between two lines parts tables."""
MAX_SINGLE = 3
"""Lines of one piece that may stand in a row within a table."""
MIN_FIGURES = 0.4
MAX_MEAN = 25
MIN_FULL = 0.4
LONGEST = 300
"""Characters of a line that are looked at for a title and its page."""
MIN_CONTENTS = 5
"""Entries that make a table of contents."""
MAX_CODE = 0.15
"""Share of texts with signs of program code from which a run is a listing."""
FINER = 1.5
"""How many times more filled cells make a reading the finer one."""
_DIGIT = re.compile(r"[0-9]")
_FIGURE = re.compile(r"^[^\w]*[0-9][^A-Za-z]*$")
_FILLER = re.compile(r"^[.·…_\s]+$")
_ENTRY = re.compile(r"^(?:[\d.]+\s)?(?P<title>[^\W\d].*?)[\s.·…‥_]+(?P<page>[0-9]{1,4})$")
_OTHER_FIGURE = re.compile(r"\s[0-9.,]+(?=\s|$)")
_CODE = re.compile(r"[=;{}⇒]")
_UNIT_BEFORE = re.compile(r"^[$€£¥₩]$")
_UNIT_AFTER = re.compile(r"^[%)†‡*]+$")

Line = list[Segment]


def read_again(page: Page, table: Table) -> Table:
    """A table whose rulings leave rows or columns out, read by its white columns instead."""
    inside = [s for s in page.segments if s.overlap(table) > 0.5 * s.size]
    again = _table(_lines(inside))
    if again is None or _columns(again) < _columns(table):
        return table
    filled = sum(bool(c.text) for c in table.cells)
    return again if sum(bool(c.text) for c in again.cells) >= FINER * filled else table


def _columns(table: Table) -> int:
    return max(c.column + c.column_span for c in table.cells)


def find_open_tables(page: Page, taken: Sequence[Table]) -> list[Table]:
    """Tables of the page that no rulings frame, beside those already found."""
    free = [s for s in page.segments if not any(s.overlap(t) > 0.5 * s.size for t in taken)]
    found = [_table(run) for run in _runs(_lines(free)) if _may_be_table(run)]
    return [t for t in found if t is not None and not any(t.overlap(o) > 0 for o in taken)]


def _lines(segments: Sequence[Segment]) -> list[Line]:
    """What stands on one height, top down, each line from left to right."""
    lines: list[Line] = []
    middle = height = 0.0
    for segment in sorted(segments, key=lambda s: (s.y0 + s.y1, s.x0)):
        at = (segment.y0 + segment.y1) / 2
        if lines and at - middle < 0.45 * max(height, segment.y1 - segment.y0):
            lines[-1].append(segment)
        else:
            lines.append([segment])
            middle, height = at, segment.y1 - segment.y0
    return [sorted(line, key=lambda s: s.x0) for line in lines]


def _may_be_table(run: Sequence[Line]) -> bool:
    """Whether the run is worth its words: figures in three lines, and no table of contents."""
    if sum(any(_DIGIT.search(s.text) for s in line) for line in run) < 3:
        return False
    return not _is_contents([" ".join(s.text for s in line)[-LONGEST:] for line in run])


def _is_contents(lines: Sequence[str]) -> bool:
    """Whether the lines are titles that each end in a page, the pages in order."""
    entries = [m for t in lines if (m := _ENTRY.match(t)) and not _OTHER_FIGURE.search(m["title"])]
    if len(entries) < max(MIN_CONTENTS, 0.6 * len(lines)):
        return False
    pages = [int(m["page"]) for m in entries]
    return sum(a <= b for a, b in pairwise(pages)) >= 0.95 * (len(pages) - 1)


def _pieces(line: Line) -> Line:
    """The words of a line, joined where only a word space parts them; leaders dropped."""
    words = [Segment(w.x0, w.y0, w.x1, w.y1, w.text, s.em, s.bold) for s in line for w in s.words()]
    pieces: Line = []
    for word in sorted(words, key=lambda w: w.x0):
        if _FILLER.match(word.text):
            continue
        last = pieces[-1] if pieces else None
        if last is not None and _belongs(last, word):
            last.text = (
                f"{last.text} {word.text}"
                if word.x0 - last.x1 > 0.12 * word.em
                else (last.text + word.text)
            )
            last.x1 = max(last.x1, word.x1)
            last.y0, last.y1 = min(last.y0, word.y0), max(last.y1, word.y1)
        else:
            pieces.append(word)
    for piece in pieces:
        bare = piece.text.rstrip(" .·…_")
        if len(piece.text) - len(bare) >= 3:
            piece.text = bare
    return pieces


def _belongs(last: Segment, word: Segment) -> bool:
    gap = (word.x0 - last.x1) / max(min(last.em, word.em), 1.0)
    if _UNIT_BEFORE.match(last.text):
        return gap < 6
    if _UNIT_AFTER.match(word.text):
        return gap < 1.5
    figures = _FIGURE.match(last.text) and _FIGURE.match(word.text)
    return gap <= (JOIN_FIGURES if figures else JOIN)


def _is_row(line: Line) -> bool:
    return any(b.x0 - a.x1 > WIDE * min(a.em, b.em) for a, b in pairwise(line))


def _runs(lines: Sequence[Line]) -> list[list[Line]]:
    """Neighbouring lines that may be rows of one table."""
    runs: list[list[Line]] = []
    run: list[Line] = []
    single = 0
    bottom = 0.0
    for line in lines:
        row = _is_row(line)
        em = max(p.em for p in line)
        far = bool(run) and min(p.y0 for p in line) - bottom > LINE_GAP * em
        single = 0 if row else single + 1
        prose = not row and sum(len(p.text) for p in line) > 70
        if run and (far or prose or single > MAX_SINGLE):
            runs.append(run)
            run = []
        if not prose:
            run.append(line)
        bottom = max(p.y1 for p in line)
    if run:
        runs.append(run)
    return [trimmed for r in runs if len(trimmed := _trim(r)) >= 3]


def _trim(run: list[Line]) -> list[Line]:
    """The run without lines of one piece at its ends."""
    rows = [i for i, line in enumerate(run) if _is_row(line)]
    return run[rows[0] : rows[-1] + 1] if rows else []


def _body(run: Sequence[Line]) -> list[Line]:
    """The lines with two figures; where they are few, those with a figure beside a text."""
    figures = [(sum(bool(_FIGURE.match(p.text)) for p in line), line) for line in run]
    rows = [line for count, line in figures if count > 1]
    return rows if len(rows) > 2 else [ln for count, ln in figures if count and len(ln) > 1]


def _borders(run: Sequence[Line]) -> list[float]:
    """The middles of the white columns that the rows with figures share."""
    body = _body(run)
    if len(body) < 3:
        return []
    em = sorted(p.em for line in body for p in line)[sum(map(len, body)) // 2]
    events = sorted(
        [(p.x0, 1) for line in body for p in line] + [(p.x1, -1) for line in body for p in line]
    )
    allowed = len(body) // 20
    count, start = 0, None
    borders: list[float] = []
    left = min(p.x0 for line in body for p in line)
    for x, step in events:
        before, count = count, count + step
        if before > allowed >= count:
            start = x
        elif before <= allowed < count:
            if start is not None and x - start >= MIN_WHITE * em and start > left:
                borders.append((start + x) / 2)
            start = None
    return borders


def _table(run: list[Line]) -> Table | None:
    """The run as a table, or None where it does not look like one."""
    run = _trim([pieces for line in run if (pieces := _pieces(line))])
    borders = _borders(run)
    if not borders:
        return None
    rows = [_row(r, line, borders) for r, line in enumerate(run)]
    rows = _join_heads(rows, run)
    cells = [(r, *cell[1:]) for r, row in enumerate(rows) for cell in row]
    if not _passes(cells, len(rows), len(borders) + 1):
        return None
    pieces = [p for line in run for p in line]
    return Table(
        min(p.x0 for p in pieces),
        min(p.y0 for p in pieces),
        max(p.x1 for p in pieces),
        max(p.y1 for p in pieces),
        cells=mark_headers(cells),
    )


def _row(r: int, line: Line, borders: list[float]) -> list[Filled]:
    """The line's pieces in their columns; one that crosses borders spans columns."""
    cells: list[Filled] = []
    end = 0
    for piece in line:
        first = sum(b < piece.x0 + 0.25 * piece.em for b in borders)
        last = max(first, sum(b < piece.x1 - 0.25 * piece.em for b in borders))
        y = (piece.y0 + piece.y1) / 2
        if cells and first < end:
            _, c, _, span, texts = cells[-1]
            span = max(span, last - c + 1)
            cells[-1] = (r, c, 1, span, [(y, f"{texts[0][1]} {piece.text}")])
            end = c + span
            continue
        cells += [(r, c, 1, 1, []) for c in range(end, first)]
        cells.append((r, first, 1, last - first + 1, [(y, piece.text)]))
        end = last + 1
    return cells + [(r, c, 1, 1, []) for c in range(end, len(borders) + 1)]


def _join_heads(rows: list[list[Filled]], run: Sequence[Line]) -> list[list[Filled]]:
    """The rows with the lines of a wrapped header made one.

    Lines above the first row of figures belong together where they follow closely and none
    of their cells spans columns.
    """
    joined: list[list[Filled]] = []
    body = _body(run)
    for i, row in enumerate(rows):
        head = run[i][0].y0 < body[0][0].y0 and run[i] is not body[0]
        if i and head and _wraps(joined[-1], row, run[i - 1], run[i]):
            joined[-1] = [(*a[:4], a[4] + b[4]) for a, b in zip(joined[-1], row, strict=True)]
        else:
            joined.append(row)
    return joined


def _wraps(above: Sequence[Filled], row: Sequence[Filled], before: Line, line: Line) -> bool:
    if len(above) != len(row) or any(c[3] > 1 for c in (*above, *row)):
        return False
    if sum(bool(c[4]) for c in row) < 2:
        return False
    return line[0].y1 - before[0].y1 < 1.45 * line[0].em


def _passes(cells: Sequence[Filled], rows: int, columns: int) -> bool:
    """Three rows, two columns, figures in many cells, short texts and few blanks."""
    texts = [" ".join(t for _, t in c[4]) for c in cells if c[4]]
    if rows < 3 or columns < 2 or not texts:
        return False
    return (
        sum(bool(_DIGIT.search(t)) for t in texts) >= MIN_FIGURES * len(texts)
        and sum(bool(_CODE.search(t)) for t in texts) < MAX_CODE * len(texts)
        and sum(map(len, texts)) <= MAX_MEAN * len(texts)
        and sum(c[3] for c in cells if c[4]) >= MIN_FULL * rows * columns
    )
