"""Rows that look like headings and only repeat one: contents, running heads, chapter words. Pure.

They matter where an outline or table of contents has named the true headings.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from services.parser.contents import without_page
from services.parser.formats.numbering import heading_number
from services.parser.furniture import Edge
from services.parser.lines import Decision, Line
from services.parser.outline import forms

Demotion = Literal["toc", "page_header", "page_footer"]

CONTENTS_LINES = 3
"""Rows on a page that repeat titles, or are contents already, from which it lists contents."""
CHAPTER_WORDS = 2


def echoes(
    lines: Sequence[Line], decided: Mapping[int, Decision], side_of: Callable[[Line], Edge | None]
) -> dict[int, Demotion]:
    """Undecided headings with the words of a decided one, or a page number at their end: lines
    of contents on a page that has several. On the edge of any other page a repeated title is
    page furniture; elsewhere it may be a heading of its own, such as `Examples`."""
    titles: set[str] = set()
    for line in lines:
        if line.index in decided:
            titles |= forms(decided[line.index].text or line.text)
    free = [x for x in lines if x.kind == "heading" and x.index not in decided]
    paged = {x.index: without_page(x.text) for x in free}
    repeats = {x.index for x in free if forms(paged[x.index] or x.text) & titles}
    listed = Counter(x.page for x in lines if x.kind == "toc" or x.index in repeats)
    found: dict[int, Demotion] = {}
    for line in free:
        contents_page = listed[line.page] >= CONTENTS_LINES
        if contents_page and (line.index in repeats or paged[line.index]):
            found[line.index] = "toc"
        elif line.index in repeats and (side := side_of(line)) is not None:
            found[line.index] = side
    return found


def chapter_words(
    lines: Sequence[Line], decided: Mapping[int, Decision]
) -> tuple[dict[int, Demotion], dict[int, str]]:
    """Undecided headings just before a decided one that only say `CHAPTER` `ONE`.

    They are furniture, and the decided heading's marker.
    """
    found: dict[int, Demotion] = {}
    markers: dict[int, str] = {}
    for at, line in enumerate(lines):
        if line.index not in decided:
            continue
        for count in range(CHAPTER_WORDS, 0, -1):
            before = lines[max(0, at - count) : at]
            words = " ".join(x.text for x in before)
            number = heading_number(words)
            lone = len(before) == count and all(
                x.kind == "heading" and x.page == line.page and x.index not in decided
                for x in before
            )
            near = lone and before[0].index == line.index - count
            if near and number is not None and number.strong and not number.title.strip():
                found |= {x.index: "page_header" for x in before}
                markers[line.index] = number.marker
                break
    return found, markers
