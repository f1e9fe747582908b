"""Figures of a page, by their outlines: placed pictures, and frames with no text inside."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.parser.formats.pdf_page import Area, Page

MIN_WIDTH, MIN_HEIGHT = 60.0, 30.0
"""Points under which a frame is a box to tick or a rule, no figure."""
MEETS = 2.0
"""Points by which the corner of a frame may be open."""
MAX_RULINGS = 200
"""Rulings of a page above which it holds drawings or tables, whose lines frame nothing."""


@dataclass(frozen=True)
class Figures:
    """Where the figures of a page lie."""

    areas: Sequence[Area]

    @classmethod
    def of(cls, page: Page) -> "Figures":
        """Of a page from whose segments the tables are taken out."""
        return cls([*page.pictures, *_empty_frames(page)])

    def begin_below(self, area: Area, reach: float) -> bool:
        """Whether one begins at most `reach` points below `area`, and no farther to its side."""
        return any(
            -MEETS <= f.y0 - area.y1 <= reach and max(f.x0, area.x0) - min(f.x1, area.x1) <= reach
            for f in self.areas
        )


def _empty_frames(page: Page) -> list[Area]:
    if len(page.horizontal) + len(page.vertical) > MAX_RULINGS:
        return []
    frames: list[Area] = []
    for left, right, top in page.horizontal:
        if right - left < MIN_WIDTH:
            continue
        sides = [
            [end for start, end, x in page.vertical
             if abs(x - corner) <= MEETS and abs(start - top) <= MEETS]
            for corner in (left, right)
        ]  # fmt: skip
        if not all(sides):
            continue
        frame = Area(left, top, right, min(max(ends) for ends in sides))
        if frame.y1 - frame.y0 >= MIN_HEIGHT and not any(
            frame.holds((s.x0 + s.x1) / 2, (s.y0 + s.y1) / 2) for s in page.segments
        ):
            frames.append(frame)
    return frames
