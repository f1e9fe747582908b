"""Where a chunk stands on its pages: the boxes of its rows, merged."""

from collections.abc import Iterable

from libs.contracts.artefacts.rows import Box, Row

MAX_GAP = 24.0
"""Points between two boxes of one column that still merge: about two lines."""


def merged(rows: Iterable[Row]) -> tuple[list[int], list[Box]]:
    """Page numbers, ascending, and boxes in reading order; neighbours in a column become one."""
    pages: set[int] = set()
    boxes: list[Box] = []
    for row in rows:
        if row.page is not None:
            pages.add(row.page)
        for box in row.boxes:
            pages.add(box.page)
            if boxes and _adjoin(boxes[-1], box):
                boxes[-1] = _union(boxes[-1], box)
            else:
                boxes.append(box)
    return sorted(pages), boxes


def _adjoin(a: Box, b: Box) -> bool:
    if a.page != b.page:
        return False
    ax0, ay0, ax1, ay1 = a.bbox
    bx0, by0, bx1, by1 = b.bbox
    shared = min(ax1, bx1) - max(ax0, bx0)
    gap = max(ay0, by0) - min(ay1, by1)
    return shared >= 0.5 * min(ax1 - ax0, bx1 - bx0) and gap <= MAX_GAP


def _union(a: Box, b: Box) -> Box:
    ax0, ay0, ax1, ay1 = a.bbox
    bx0, by0, bx1, by1 = b.bbox
    bbox = (min(ax0, bx0), min(ay0, by0), max(ax1, bx1), max(ay1, by1))
    return Box(page=a.page, bbox=bbox)
