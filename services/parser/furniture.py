"""Running heads, feet and logos: what stands in the same place on most pages. Pure."""

import re
import statistics
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Literal

from services.parser.lines import SHORT, Line

Edge = Literal["page_header", "page_footer"]

EDGE_ROWS = 2
MIN_PAGES = 3
SAME_PLACE = 12.0
"""Points that a running head may move from page to page."""

_NUMBER = re.compile(r"\d+|^\W*[ivxlc]+\W*$", re.IGNORECASE)


@dataclass
class Edges:
    """The outermost rows of every page, and on which pages each image stands."""

    _tops: dict[int, list[Line]] = field(default_factory=lambda: defaultdict(list))
    _bottoms: dict[int, list[Line]] = field(default_factory=lambda: defaultdict(list))
    _images: dict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))

    def see(self, line: Line, asset: str | None) -> None:
        """Take note of the next row."""
        if line.page is None:
            return
        if asset is not None:
            self._images[asset][line.page] = line.index
            return
        if line.top is None or line.bottom is None:
            return
        tops, bottoms = self._tops[line.page], self._bottoms[line.page]
        if len(tops) < EDGE_ROWS or line.top < (tops[-1].top or 0.0):
            tops.append(line)
            tops.sort(key=lambda x: x.top or 0.0)
            del tops[EDGE_ROWS:]
        if len(bottoms) < EDGE_ROWS or line.bottom > (bottoms[-1].bottom or 0.0):
            bottoms.append(line)
            bottoms.sort(key=lambda x: -(x.bottom or 0.0))
            del bottoms[EDGE_ROWS:]

    def side_of(self, line: Line) -> Edge | None:
        """On which edge of its page a row stands, if on one."""
        if line.page is None:
            return None
        if any(x.index == line.index for x in self._tops[line.page]):
            return "page_header"
        if any(x.index == line.index for x in self._bottoms[line.page]):
            return "page_footer"
        return None

    def furniture(self) -> dict[int, Edge]:
        """Rows that repeat on more than half of the pages, or of the odd or the even ones.

        Numbers count as equal, but for captions and numbered headings; the second row of an
        edge counts only behind the first. An image that repeats so is a page header too.
        """
        pages = _Pages(set(self._tops) | {p for seen in self._images.values() for p in seen})
        found: dict[int, Edge] = {}
        edges: list[tuple[Edge, dict[int, list[Line]]]] = [
            ("page_header", self._tops),
            ("page_footer", self._bottoms),
        ]
        for edge, by_page in edges:
            repeated = _repeated(by_page, pages)
            for lines in by_page.values():
                for line in lines:
                    if line.index not in repeated:
                        break
                    found.setdefault(line.index, edge)
        for seen in self._images.values():
            if pages.mostly(set(seen)):
                found.update({index: "page_header" for index in seen.values()})  # noqa: C420
        return found


class _Pages:
    """The pages of a document that hold anything, counted once."""

    def __init__(self, numbers: set[int]) -> None:
        odd = sum(p % 2 for p in numbers)
        self._counts = {None: len(numbers), 0: len(numbers) - odd, 1: odd}

    def mostly(self, on: set[int]) -> bool:
        """Whether `on` are more than half of all pages, or of the odd or the even ones."""
        odd = sum(p % 2 for p in on)
        hits = {None: len(on), 0: len(on) - odd, 1: odd}
        return any(
            hits[parity] >= MIN_PAGES and hits[parity] * 2 > count
            for parity, count in self._counts.items()
        )


def _repeated(by_page: dict[int, list[Line]], pages: _Pages) -> set[int]:
    """The rows at one edge whose words stand in the same place of enough pages."""
    found: set[int] = set()
    for lines in _by_text(by_page).values():
        place = statistics.median(line.top or 0.0 for line in lines)
        same = [x for x in lines if abs((x.top or 0.0) - place) <= SAME_PLACE]
        if pages.mostly({x.page for x in same if x.page is not None}):
            found |= {x.index for x in same}
    return found


def _by_text(by_page: dict[int, list[Line]]) -> dict[str, list[Line]]:
    groups: dict[str, list[Line]] = defaultdict(list)
    for lines in by_page.values():
        for line in lines:
            own = line.kind in ("table", "caption") or line.evidence == "numbering"
            if not own and len(line.text) <= SHORT:
                groups[_NUMBER.sub("#", " ".join(line.text.split()))].append(line)
    return groups
