"""Tables of contents on PDF pages: lines that end in page numbers, one below the other.

The reader drops dot leaders, so the evidence is the shape: the numbers end at one right edge,
never fall, and stand apart from titles that hold words. A page counts when most of its lines
are so, or fewer where a word such as `Contents` stands above them or the page before had some.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from services.parser.formats.numbering import heading_number
from services.parser.formats.pdf_blocks import Line, to_lines
from services.parser.formats.pdf_hyphens import join_lines
from services.parser.formats.pdf_page import Area, Page, Segment

SAME_EDGE = 4.0
"""Points by which the right ends of page numbers may differ."""
MIN_TOLD = 3
"""Entries of a page that says it holds contents, or continues them."""
MIN_SHARE = 0.5
"""Share of the lines from the first entry to the last that are entries, on such a page."""
MIN_UNTOLD = 8
UNTOLD_SHARE = 0.75
RISING = 0.85
"""Share of neighbouring page numbers that must not fall."""
WRAPPED = 0.55
"""A line without a number this wide, as a share of the entries, goes on in the next."""

_TOLD = re.compile(
    r"(?:table of )?contents|list of (?:figures|tables)|목\s*차|차\s*례|目\s*[次录錄]",
    re.IGNORECASE,
)
_PAGE = re.compile(r"(?:\d{1,3}[-–])?\d{1,4}|[ivxlc]{1,7}", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]{2}")


@dataclass(slots=True)
class Entry:
    """A line of contents; `page` is as printed, empty for a line without one."""

    line: Line
    title: str
    page: str = ""


@dataclass(slots=True)
class Contents(Area):
    """The contents of one page, as an area to be laid out; entries from the top down."""

    entries: list[Entry] = field(default_factory=list)


def take_contents(pages: Sequence[Page]) -> dict[int, Contents]:
    """The contents of each page that has some, by page number; taken out of its segments.

    `pages` are in order, furniture is gone.
    """
    found: dict[int, Contents] = {}
    for page in pages:
        entries = _entries(page, told=page.number - 1 in found)
        if not entries:
            continue
        lines = [e.line for e in entries]
        left, right = min(x.x0 for x in lines), max(x.x1 for x in lines)
        top, bottom = min(x.y0 for x in lines), max(x.y1 for x in lines)
        area = Contents(left, top, right, bottom, entries=_joined(entries, right - left))
        page.segments = [s for s in page.segments if not area.overlap(s)]
        found[page.number] = area
    return found


def _entries(page: Page, *, told: bool) -> list[Entry]:
    """The lines of contents from the first to the last; none where the page holds no contents."""
    edge = _edge(page)
    if edge is None:
        return []
    read = [_entry(line, edge) for line in to_lines(page.segments)]
    told = told or any(_TOLD.fullmatch(entry.line.text.strip()) for entry in read)
    numbered = [i for i, entry in enumerate(read) if entry.page]
    if len(numbered) < (MIN_TOLD if told else MIN_UNTOLD):
        return []
    entries = read[numbered[0] : numbered[-1] + 1]
    share = len(numbered) / len(entries if told else read)
    if share < (MIN_SHARE if told else UNTOLD_SHARE):
        return []
    return entries if _rising(entries) and _titled(entries) else []


def _edge(page: Page) -> list[Segment] | None:
    """The segments that may be page numbers, all ending at one right edge; None when few do."""
    numbers = [s for s in page.segments if _PAGE.fullmatch(s.text)]
    ends = Counter(round(s.x1 / SAME_EDGE) for s in numbers)
    if not ends:
        return None
    edge = max(ends, key=lambda end: (ends[end] + ends[end + 1], end)) * SAME_EDGE
    same = [s for s in numbers if abs(s.x1 - edge) <= 1.5 * SAME_EDGE]
    return same if len(same) >= MIN_TOLD else None


def _entry(line: Line, edge: Sequence[Segment]) -> Entry:
    for number in edge:
        if number.x1 == line.x1 and line.y0 <= (number.y0 + number.y1) / 2 <= line.y1:
            title = line.text.removesuffix(number.text).rstrip(" .·…‥_")
            return Entry(line, title, number.text) if title else Entry(line, line.text)
    return Entry(line, line.text)


def _rising(entries: Sequence[Entry]) -> bool:
    """Whether the page numbers, but for Roman ones, never fall, save for a few."""
    numbers = [tuple(map(int, re.findall(r"\d+", e.page))) for e in entries if e.page]
    pairs = list(pairwise(n for n in numbers if n))
    kept = sum(a <= b for a, b in pairs)
    return kept >= RISING * len(pairs)


def _titled(entries: Sequence[Entry]) -> bool:
    """Whether nearly all titles hold words, and most do not end in one more figure."""
    titles = [e.title for e in entries if e.page]
    words = sum(_WORD.search(t) is not None for t in titles)
    figures = sum(t[-1].isdecimal() for t in titles)
    return words >= 0.9 * len(titles) and figures <= 0.4 * len(titles)


def _joined(entries: Sequence[Entry], width: float) -> list[Entry]:
    """The entries, a title that goes over two lines made one."""
    joined: list[Entry] = []
    for entry in entries:
        before = joined[-1] if joined else None
        wraps = (
            before is not None
            and not before.page
            and before.line.x1 - before.line.x0 >= WRAPPED * width
            and heading_number(entry.line.text) is None
            and entry.line.x0 >= before.line.x0 - 1
        )
        if before is not None and wraps:
            joined[-1] = Entry(before.line, join_lines([before.title, entry.title]), entry.page)
        else:
            joined.append(entry)
    return joined
