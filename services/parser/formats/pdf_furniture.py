"""Running heads, feet and page numbers: what repeats in the same band of many pages."""

import re
from collections import Counter
from collections.abc import Sequence

from services.parser.formats.pdf_page import Page, Segment

BAND = 0.09
"""Share of the page height, at the top and at the bottom, where furniture stands."""
MIN_REPEATS = 3
_PAGE_NUMBER = re.compile(
    r"(?:page\s*)?[-–—|(\[ ]*(?:[0-9]{1,4}|[ivxlc]{1,7})(?:\s*(?:/|of)\s*[0-9]{1,4})?[-–—|)\] ]*"
    r"|[0-9]{1,4}\s*(?:쪽|페이지|頁|页)",
    re.IGNORECASE,
)
_WITH_NUMBER = re.compile(
    r"(?!(?:19|20)\d\d\b)[0-9]{1,3}\s+[|•·–-]?\s*\D.*|\D.*(?:\s|[|•·])(?!(?:19|20)\d\d)[0-9]{1,4}"
)
_OWN = re.compile(r"(?:figure|fig\.?|table|chapter|part|section|appendix|표|그림|제)\s*[0-9]", re.I)
_BARRED = re.compile(r"(?:[|•]|\bpage\s+[0-9]{1,4}\s+of)\s*[0-9]{1,4}$", re.IGNORECASE)
"""A page number behind a bar, or with the number of pages, as only heads and feet have it."""
GAP = 0.8
"""White space below (above) a running head (foot), in ems of it."""
FAR = 2.5
"""White space, in ems, that sets a page number apart from the title on its line."""
PARTED = 10.0
"""White space, in ems, between the two sides of a head."""
GUTTER = 0.7
"""White space, in ems, that parts the text below into columns."""
LISTED = 5
"""Numbers that end at one right edge from which they are a column."""
RUN = 2
"""Pages from one running head to the next of its chapter."""
_FIGURES = re.compile(r"[0-9]+|\b[ivxlc]+\b")


def split_furniture(
    pages: Sequence[Page],
) -> tuple[dict[int, list[Segment]], dict[int, list[Segment]]]:
    """Heads and feet of each page, taken out of its segments.

    A text in a band counts when its wording without figures repeats on several pages at the
    same height, when it is a page number alone at the edge, or when it is the outermost line,
    set apart from the text, and begins or ends with what can be a page number or comes again
    on the next pages.
    """
    repeats: Counter[tuple[str, int, bool]] = Counter()
    for page in pages:
        repeats.update({_key(page, s, top) for s, top in _banded(page)})
    single = {p.number: _numbered_lines(p) | _parted_line(p) for p in pages}
    runs = _runs(pages)
    needed = max(MIN_REPEATS, min(len(pages) // 8, 12))
    heads: dict[int, list[Segment]] = {}
    feet: dict[int, list[Segment]] = {}
    for page in pages:
        taken: set[int] = set()
        for segment, top in _banded(page):
            wording, height, _ = _key(page, segment, top)
            near = sum(repeats[(wording, height + d, top)] for d in (-1, 0, 1))
            alone = _is_number(segment) and not _is_listed(page, segment)
            if (
                id(segment) in single[page.number]
                or id(segment) in runs
                or near >= needed
                or (alone and _outermost(page, segment, top))
            ):
                taken.add(id(segment))
                (heads if top else feet).setdefault(page.number, []).append(segment)
        if taken:
            page.segments = [s for s in page.segments if id(s) not in taken]
    return heads, feet


def sides(segments: Sequence[Segment]) -> list[list[Segment]]:
    """A head of several lines whose two sides are far from each other, as both; else it whole."""
    em = max((s.em for s in segments), default=0.0)
    left, right = _widest_gap(segments)
    parts = [[s for s in segments if s.x1 <= left], [s for s in segments if s.x0 >= right]]
    lines = [len({round(s.y1 / em) for s in part}) for part in parts] if em else [0]
    if right - left < PARTED * em or max(lines) < 2:
        return [list(segments)]
    return parts


def _banded(page: Page) -> list[tuple[Segment, bool]]:
    top, bottom = BAND * page.height, (1 - BAND) * page.height
    return [
        (s, s.y1 <= top)
        for s in page.segments
        if (s.y1 <= top or s.y0 >= bottom) and len(s.text) < 160
    ]


def _numbered_lines(page: Page) -> set[int]:
    """Segments of an outermost line that holds a title and a page number at one of its ends."""
    found: set[int] = set()
    for top in (True, False):
        banded = [s for s, at_top in _banded(page) if at_top == top]
        if not banded:
            continue
        edge = min(banded, key=lambda s: s.y0) if top else max(banded, key=lambda s: s.y1)
        line = [s for s in page.segments if abs((s.y0 + s.y1) - (edge.y0 + edge.y1)) < edge.em]
        line.sort(key=lambda s: s.x0)
        text = " ".join(s.text for s in line)
        own = _OWN.match(text) is not None and not _BARRED.search(text)
        if own or not _set_apart(page, line, top) or len(text) >= 120:
            continue
        if _is_listed(page, line[-1]) or (top and _heads_columns(page, line)):
            continue
        if _WITH_NUMBER.fullmatch(text) or _ends_in_page(line):
            found |= {id(s) for s in line}
    return found


def _is_listed(page: Page, number: Segment) -> bool:
    """Whether a number behind a title is one of several below each other, as in contents."""
    beside = any(abs(s.y1 - number.y1) < number.em / 2 for s in page.segments if s is not number)
    return (
        beside
        and len(
            [s for s in page.segments if abs(s.x1 - number.x1) < number.em / 2 and _is_number(s)]
        )
        >= LISTED
    )


def _is_number(segment: Segment) -> bool:
    return _PAGE_NUMBER.fullmatch(segment.text) is not None


def _parted_line(page: Page) -> set[int]:
    """Segments at the top of the page that stand at both of its sides, set apart from the text:
    a letterhead, two logos, the name of a series and of a chapter.

    Where the text below is parted at the same place, they head its columns.
    """
    banded = [s for s, top in _banded(page) if top]
    if not banded:
        return set()
    left, right = _widest_gap(banded)
    em = max(s.em for s in banded)
    if right - left < PARTED * em:
        return set()
    bottom = max(s.y1 for s in banded)
    below = [s for s in _others(page, banded) if s.y0 > bottom - em / 2]
    first = min((s.y0 for s in below), default=bottom)
    if first - bottom < GAP * em or any(top < bottom for top, _, _ in page.vertical):
        return set()
    return set() if _heads_columns(page, banded) else {id(s) for s in banded}


def _heads_columns(page: Page, line: Sequence[Segment]) -> bool:
    """Whether the text below `line` is parted where the line is, and begins below its parts."""
    _, right = _widest_gap(line)
    em = max(s.em for s in line)
    bottom = max(s.y1 for s in line)
    below = [s for s in _others(page, line) if s.y0 > bottom - em / 2]
    first = min((s.y0 for s in below), default=bottom)
    inner, outer = _widest_gap([s for s in below if s.y0 < first + em / 2])
    return outer - inner >= GUTTER * em and abs(outer - right) <= em


def _widest_gap(segments: Sequence[Segment]) -> tuple[float, float]:
    """The widest interval of x between segments that none of them covers; empty for none."""
    ordered = sorted(segments, key=lambda s: s.x0)
    reach, widest = ordered[0].x1 if ordered else 0.0, (0.0, 0.0)
    for segment in ordered:
        if segment.x0 - reach > widest[1] - widest[0]:
            widest = (reach, segment.x0)
        reach = max(reach, segment.x1)
    return widest


def _ends_in_page(line: Sequence[Segment]) -> bool:
    """Whether a number stands far from the rest at one end of the line."""
    return any(
        _is_number(number) and space > FAR * number.em
        for number, space in (
            (line[0], line[1].x0 - line[0].x1 if len(line) > 1 else 0),
            (line[-1], line[-1].x0 - line[-2].x1 if len(line) > 1 else 0),
        )
    )


def _set_apart(page: Page, line: Sequence[Segment], top: bool) -> bool:
    """Whether white space lies between the line and the text below (above) it."""
    edge = line[0]
    space = (s.y0 - edge.y1 if top else edge.y0 - s.y1 for s in _others(page, line))
    return min(space, default=edge.em) >= GAP * edge.em


def _others(page: Page, line: Sequence[Segment]) -> list[Segment]:
    """The page's segments that are none of the line's."""
    own = {id(s) for s in line}
    return [s for s in page.segments if id(s) not in own]


def _runs(pages: Sequence[Page]) -> set[int]:
    """Segments of outermost lines, set apart, whose very words stand at the same height of the
    next page or the one after it: the running heads of a chapter."""
    found: set[int] = set()
    for top in (True, False):
        last: dict[tuple[str, int], tuple[int, Segment]] = {}
        for page in pages:
            banded = [s for s, at_top in _banded(page) if at_top == top]
            if not banded:
                continue
            edge = min(banded, key=lambda s: s.y0) if top else max(banded, key=lambda s: s.y1)
            line = [s for s in banded if abs((s.y0 + s.y1) - (edge.y0 + edge.y1)) < edge.em]
            if not _set_apart(page, line, top):
                continue
            for segment in line:
                key = (segment.text, round(segment.y0 / 4))
                number, before = last.get(key, (-RUN, segment))
                if page.number - number <= RUN:
                    found |= {id(segment), id(before)}
                last[key] = (page.number, segment)
    return found


def _key(page: Page, segment: Segment, top: bool) -> tuple[str, int, bool]:
    wording = _FIGURES.sub("#", segment.text.casefold())
    return (wording, round(segment.y0 / 4), top)


def _outermost(page: Page, segment: Segment, top: bool) -> bool:
    """Whether nothing but other furniture-like text stands beyond the segment."""
    if top:
        return all(s.y0 >= segment.y0 - 2 for s in page.segments)
    return all(s.y1 <= segment.y1 + 2 for s in page.segments)
