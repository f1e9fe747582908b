"""Which of the true tables are ruled: drawn with lines between rows and between columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

SHARE = 0.5
"""Share of the borders between rows, and between columns, that must be drawn."""
COVER = 0.5
"""Share of a border's length that lines must cover for it to count as drawn."""
SLACK = 2.0


@dataclass(frozen=True)
class PlacedCell:
    """A true cell: its grid place, both ends included, and its text's box from the top left."""

    rows: tuple[int, int]
    columns: tuple[int, int]
    bbox: tuple[float, float, float, float]


@dataclass(frozen=True)
class Lines:
    """The rulings of a page: horizontal (x0, x1, y) and vertical (y0, y1, x)."""

    height: float
    horizontal: tuple[tuple[float, float, float], ...]
    vertical: tuple[tuple[float, float, float], ...]


def page_lines(path: Path, pages: Sequence[int]) -> dict[int, Lines]:
    """The axis-parallel lines of these pages of a PDF, in points from the top left."""
    from liteparse import LiteParse

    reader = LiteParse(
        ocr_enabled=False,
        quiet=True,
        num_workers=1,
        extract_vector_graphics=True,
        target_pages=",".join(str(p) for p in sorted(set(pages))),
    )
    found = {}
    for page in reader.parse(str(path)).pages:
        horizontal, vertical = [], []
        for line in page.vector_graphics.lines if page.vector_graphics else ():
            if abs(line.y1 - line.y2) <= SLACK:
                left, right = sorted((line.x1, line.x2))
                horizontal.append((left, right, (line.y1 + line.y2) / 2))
            elif abs(line.x1 - line.x2) <= SLACK:
                top, bottom = sorted((line.y1, line.y2))
                vertical.append((top, bottom, (line.x1 + line.x2) / 2))
        found[page.page_num] = Lines(page.height, tuple(horizontal), tuple(vertical))
    return found


def is_ruled(cells: Sequence[PlacedCell], lines: Lines) -> bool:
    """Whether at least half of the borders between rows and between columns are drawn."""
    if not cells:
        return False
    x0, x1 = min(c.bbox[0] for c in cells), max(c.bbox[2] for c in cells)
    y0, y1 = min(c.bbox[1] for c in cells), max(c.bbox[3] for c in cells)
    rows = _gaps([(c.rows, c.bbox[1], c.bbox[3]) for c in cells])
    columns = _gaps([(c.columns, c.bbox[0], c.bbox[2]) for c in cells])
    across = [_covered(lines.horizontal, gap, x0, x1) for gap in rows]
    down = [_covered(lines.vertical, gap, y0, y1) for gap in columns]
    return _share(across) >= SHARE and _share(down) >= SHARE


def _gaps(
    spans: Sequence[tuple[tuple[int, int], float, float]],
) -> list[tuple[float, float]]:
    """The room between neighbouring rows (or columns), told by the cells that span one alone."""
    extent: dict[int, tuple[float, float]] = {}
    for (first, last), low, high in spans:
        if first == last:
            known = extent.get(first, (low, high))
            extent[first] = (min(known[0], low), max(known[1], high))
    ordered = [extent[i] for i in sorted(extent)]
    return [(min(a[1], b[0]) - SLACK, max(a[1], b[0]) + SLACK) for a, b in pairwise(ordered)]


def _covered(
    lines: Sequence[tuple[float, float, float]], gap: tuple[float, float], low: float, high: float
) -> bool:
    """Whether the lines inside the gap cover enough of the way from `low` to `high`."""
    inside = sorted((a, b) for a, b, at in lines if gap[0] <= at <= gap[1])
    covered, reach = 0.0, low
    for start, end in inside:
        added = min(end, high) - max(start, reach)
        if added > 0:
            covered += added
            reach = min(end, high)
    return covered >= COVER * (high - low)


def _share(drawn: Sequence[bool]) -> float:
    return sum(drawn) / len(drawn) if drawn else 1.0
