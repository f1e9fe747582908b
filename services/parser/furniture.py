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
        tops.append(line)
        bottoms.append(line)
        tops.sort(key=lambda x: x.top or 0.0)
        bottoms.sort(key=lambda x: -(x.bottom or 0.0))
        del tops[EDGE_ROWS:], bottoms[EDGE_ROWS:]

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
        pages = set(self._tops) | {p for seen in self._images.values() for p in seen}
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
            if _repeats(set(seen), pages):
                found.update({index: "page_header" for index in seen.values()})  # noqa: C420
        return found


def _repeated(by_page: dict[int, list[Line]], pages: set[int]) -> set[int]:
    """The rows at one edge whose words stand in the same place of enough pages."""
    found: set[int] = set()
    for lines in _by_text(by_page).values():
        place = statistics.median(line.top or 0.0 for line in lines)
        same = [x for x in lines if abs((x.top or 0.0) - place) <= SAME_PLACE]
        if _repeats({x.page for x in same if x.page is not None}, pages):
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


def _repeats(on: set[int], pages: set[int]) -> bool:
    for parity in (None, 0, 1):
        counted = {p for p in pages if parity is None or p % 2 == parity}
        hits = on & counted
        if len(hits) >= MIN_PAGES and len(hits) * 2 > len(counted):
            return True
    return False
