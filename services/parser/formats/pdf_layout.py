"""Reading order on a page: a recursive cut along white space, gutters before line gaps.

A gutter is a vertical strip that no segment crosses, with lines on both sides. Segments that
do cross it (titles, wide tables) part the region into bands, and within a band the left side
is read before the right. After Nagy and Seth's XY-cut, with strips that share a gutter merged
so that a paragraph gap in one column does not cut the other.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from services.parser.formats.pdf_page import Area, Segment

MIN_GUTTER = 0.5
"""Least width of a gutter, in ems of the region's median text."""
MIN_SHARED = 2.2
"""Least height, in ems, over which two columns stand beside each other."""
MAX_DEPTH = 12
MAX_CROSSED = 1_500
ROW_SHARE = 0.8
"""Share of lines that must stand side by side for a region to be read row by row."""


def reading_order(items: Sequence[Area]) -> list[list[Area]]:
    """The items in reading order, as groups that belong to one column each."""
    if not items:
        return []
    em = _median([i.em for i in items if isinstance(i, Segment)] or [10.0])
    return _order(sorted(items, key=lambda i: (i.y0, i.x0)), em, 0)


@dataclass(slots=True)
class _Strip:
    """Items between two white gaps that run through the whole region, and their bounds."""

    items: list[Area]
    gaps: list[tuple[float, float]]
    x0: float
    y0: float
    x1: float
    y1: float


def _order(items: list[Area], em: float, depth: int) -> list[list[Area]]:
    if len(items) < 2 or depth > MAX_DEPTH:
        return [items] if items else []
    strips = _strips(items, em)
    groups: list[list[Area]] = []
    index = 0
    while index < len(strips):
        band, gutter, index = _band(strips, index, em)
        if gutter is None and (crossed := _crossed_gutter(band, em)) is not None:
            groups += _around(band, crossed, em, depth + 1)
            groups.append([])
            continue
        if gutter is None:
            if groups and groups[-1]:
                groups[-1].extend(band)
            else:
                groups.append(band)
            continue
        middle = (gutter[0] + gutter[1]) / 2
        left = [i for i in band if (i.x0 + i.x1) / 2 < middle]
        right = [i for i in band if (i.x0 + i.x1) / 2 >= middle]
        groups += _order(left, em, depth + 1)
        groups += _order(right, em, depth + 1)
        groups.append([])
    return [g for g in groups if g]


def _crossed_gutter(items: Sequence[Area], em: float) -> float | None:
    """The middle of a gutter that only a few wide items cross, or None.

    Crossing items may be a seventh of the shorter side; both sides need three lines. Of
    several the least crossed is taken, then the widest.
    """
    if not 6 <= len(items) <= MAX_CROSSED:
        return None
    found: list[tuple[int, float, float]] = []
    for start, end in pairwise(sorted({i.x1 for i in items} | {i.x0 for i in items})):
        if end - start < MIN_GUTTER * em:
            continue
        left = [i for i in items if i.x1 <= start]
        right = [i for i in items if i.x0 >= end]
        across = len(items) - len(left) - len(right)
        if across > min(len(left), len(right)) / 7 or min(_lines(left), _lines(right)) < 3:
            continue
        if not _row_wise(left, right):
            found.append((across, start - end, (start + end) / 2))
    return min(found)[2] if found else None


def _around(items: Sequence[Area], middle: float, em: float, depth: int) -> list[list[Area]]:
    """The columns beside `middle`, parted where an item crosses it."""
    groups: list[list[Area]] = []
    left: list[Area] = []
    right: list[Area] = []
    for item in sorted(items, key=lambda i: (i.y0, i.x0)):
        if item.x1 <= middle:
            left.append(item)
        elif item.x0 >= middle:
            right.append(item)
        else:
            groups += [*_order(left, em, depth), *_order(right, em, depth), [item]]
            left, right = [], []
    return [*groups, *_order(left, em, depth), *_order(right, em, depth)]


def _strips(items: list[Area], em: float) -> list[_Strip]:
    """The items parted at every white gap across the region, each with its own gaps in x."""
    left, right = min(i.x0 for i in items), max(i.x1 for i in items)
    strips: list[_Strip] = []
    current: list[Area] = []
    bottom = float("-inf")
    for item in items:
        if current and item.y0 > bottom - 0.1 * em:
            strips.append(_strip(current, bottom, left, right, MIN_GUTTER * em))
            current = []
        current.append(item)
        if item.y1 > bottom:
            bottom = item.y1
    strips.append(_strip(current, bottom, left, right, MIN_GUTTER * em))
    return strips


def _strip(items: list[Area], bottom: float, left: float, right: float, least: float) -> _Strip:
    """The strip, its items from the top down, with the intervals of x inside the region, as wide
    as `least`, that none of them covers."""
    gaps: list[tuple[float, float]] = []
    spans = sorted([(i.x0, i.x1) for i in items])
    reach = left
    for x0, x1 in spans:
        if x0 - reach >= least:
            gaps.append((reach, x0))
        if x1 > reach:
            reach = x1
    if right - reach >= least:
        gaps.append((reach, right))
    return _Strip(items, gaps, spans[0][0], items[0].y0, reach, bottom)


def _band(
    strips: list[_Strip], start: int, em: float
) -> tuple[list[Area], tuple[float, float] | None, int]:
    """The longest run of strips from `start` that shares a gutter, or one strip without."""
    first = strips[start]
    best: tuple[list[Area], tuple[float, float] | None, int] = (first.items, None, start + 1)
    for gap in first.gaps:
        gutter = gap
        end = start + 1
        while end < len(strips):
            common = _common(gutter, strips[end].gaps, em)
            if common is None:
                break
            gutter = common
            end += 1
        shared = strips[start:end]
        if not _beside(shared, gutter, em):
            continue
        band = [item for strip in shared for item in strip.items]
        if _two_columns(band, gutter, em) and len(band) > len(best[0] if best[1] else ()):
            best = (band, gutter, end)
    return best


def _beside(strips: Sequence[_Strip], gutter: tuple[float, float], em: float) -> bool:
    """Whether what stands left and right of the gutter may be columns, by its strips alone."""
    low, high = gutter
    left = [s for s in strips if s.x0 <= low]
    right = [s for s in strips if s.x1 >= high]
    if not left or not right:
        return False
    top, bottom = max(left[0].y0, right[0].y0), min(left[-1].y1, right[-1].y1)
    return bottom - top >= MIN_SHARED * em


def _common(
    gutter: tuple[float, float], gaps: list[tuple[float, float]], em: float
) -> tuple[float, float] | None:
    left, right = gutter
    least = MIN_GUTTER * em
    for start, end in gaps:
        low, high = left if left > start else start, right if right < end else end
        if high - low >= least:
            return (low, high)
    return None


def _two_columns(band: Sequence[Area], gutter: tuple[float, float], em: float) -> bool:
    """Lines on both sides, standing beside each other, and not a list of label and value."""
    middle = (gutter[0] + gutter[1]) / 2
    left: list[Area] = []
    right: list[Area] = []
    for item in band:
        (left if (item.x0 + item.x1) / 2 < middle else right).append(item)
    texts = all(isinstance(i, Segment) for i in band)
    if min(len(left), len(right)) < (2 if texts else 1):
        return False
    top = max(min(i.y0 for i in left), min(i.y0 for i in right))
    bottom = min(max(i.y1 for i in left), max(i.y1 for i in right))
    if bottom - top < MIN_SHARED * em:
        return False
    if texts and min(_lines(left), _lines(right)) < 2:
        return False
    return not _row_wise(left, right)


def _lines(items: Sequence[Area]) -> int:
    count = 0
    bottom = float("-inf")
    for item in sorted(items, key=lambda i: i.y0):
        if item.y0 >= bottom - 0.3 * (item.y1 - item.y0):
            count += 1
            bottom = item.y1
    return count


def _row_wise(left: Sequence[Area], right: Sequence[Area]) -> bool:
    """Short labels, each with a value beside it: read along the rows.

    Values are figures, which labels are less often, or clearly longer than their labels.
    """
    labels = [i for i in left if isinstance(i, Segment)]
    values = [i for i in right if isinstance(i, Segment)]
    if not labels or len(labels) < len(left) or len(values) < len(right):
        return False
    if sum(len(i.text.split()) for i in labels) / len(labels) > 4:
        return False
    tops = sorted(i.y1 for i in right)
    matched = sum(1 for i in labels if _near(tops, i.y1, 0.35 * i.em))
    if matched < ROW_SHARE * len(labels):
        return False
    figures = _figures(values) if 2 * _figures(labels) < len(labels) else 0
    marked = sum(1 for i in labels if i.text.endswith((":", "：")))
    longer = _mean_width(labels) < 0.6 * _mean_width(values)
    return longer or 2 * figures > len(values) or 2 * marked > len(labels)


def _figures(items: Sequence[Segment]) -> int:
    return sum(1 for i in items if any(c.isdecimal() for c in i.text))


def _mean_width(items: Sequence[Area]) -> float:
    return sum(i.x1 - i.x0 for i in items) / len(items)


def _near(values: list[float], value: float, margin: float) -> bool:
    at = bisect_left(values, value - margin)
    return at < len(values) and values[at] <= value + margin


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    return ordered[len(ordered) // 2]
