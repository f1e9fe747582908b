"""An outline or a table of contents is the truth on headings: find its entries in the text.

Pure. An entry matches a row on its page, or one beside it, whose letters and digits are the
same, with or without the number; two rows that follow each other may be one title.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from libs.contracts.artefacts.profile import OutlineEntry
from libs.contracts.artefacts.rows import HeadingEvidence
from services.parser.formats.numbering import NumberLevels, heading_number
from services.parser.lines import Decision, Line, folded

SAME_INDENT = 6.0
"""Points by which entries of one level in a table of contents may differ on the left."""
MIN_CONTENTS = 3

_LEADERS = re.compile(
    r"[\s.·…‥_\-–]{2,}(?P<page>\d{1,5}|[ivxlc]{1,8})\s*$|\s+(?P<last>\d{1,5})\s*$"
)


@dataclass
class Matches:
    """Decisions by row, rows that were joined to the one before, and entries not found."""

    decisions: dict[int, Decision] = field(default_factory=dict)
    joined: set[int] = field(default_factory=set)
    missing: list[OutlineEntry] = field(default_factory=list)


def match(
    entries: Sequence[OutlineEntry], lines: Sequence[Line], evidence: HeadingEvidence
) -> Matches:
    """Find every entry among `lines`, which stand in reading order."""
    found = Matches()
    text = _Text(lines)
    after = -1
    for entry in entries:
        hit = text.find(entry, found, after)
        if hit is None:
            found.missing.append(entry)
            continue
        first, second = hit
        joined = None
        if second is not None:
            joined = f"{first.text} {second.text}"
            found.joined.add(second.index)
        found.decisions[first.index] = Decision(entry.level, evidence, joined)
        after = first.index
    return found


class _Text:
    """The rows by page, and their folded forms."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = [x for x in lines if x.kind in ("heading", "paragraph", "list_item")]
        self._next = dict(zip((x.index for x in self._lines), self._lines[1:], strict=False))
        self._by_page: dict[int | None, list[Line]] = defaultdict(list)
        for line in self._lines:
            self._by_page[line.page].append(line)

    def find(
        self, entry: OutlineEntry, taken: Matches, after: int
    ) -> tuple[Line, Line | None] | None:
        """The row, or two, that hold the title: on its page first, later rows first."""
        titles = forms(entry.title)
        pages = [None] if entry.page is None else [entry.page, entry.page + 1, entry.page - 1]
        for page in pages:
            lines = self._lines if page is None else self._by_page.get(page, [])
            free = [
                x for x in lines if x.index not in taken.decisions and x.index not in taken.joined
            ]
            free.sort(key=lambda x: (x.index < after, x.kind != "heading", x.index))
            for line in free:
                if (hit := self._fits(line, titles)) is not None:
                    return hit
        return None

    def _fits(self, line: Line, titles: frozenset[str]) -> tuple[Line, Line | None] | None:
        if forms(line.text) & titles:
            return line, None
        own = folded(line.text)
        if not own or not any(t.startswith(own) for t in titles):
            return None
        following = self._next.get(line.index)
        if following is not None and following.page == line.page:
            whole = own + folded(following.text)
            if whole in titles:
                return line, following
        return None


def forms(title: str) -> frozenset[str]:
    """The title folded, with its number and without."""
    found = {folded(title)}
    number = heading_number(" ".join(title.split()))
    if number is not None and len(folded(number.title)) > 1:
        found.add(folded(number.title))
    return frozenset(f for f in found if f)


def contents(lines: Iterable[Line]) -> list[OutlineEntry]:
    """The entries of the document's own table of contents, by its rows of kind `toc`.

    The level of a numbered entry follows its number, else its indent. Printed page numbers
    are not the file's, so the entries name no page. Under three entries there is none.
    """
    entries: list[tuple[str, float]] = []
    for line in lines:
        for part in line.text.split("\n") if line.kind == "toc" else ():
            title = without_page(part)
            if title is not None:
                entries.append((title, line.left or 0.0))
    if len(entries) < MIN_CONTENTS:
        return []
    indents = _indents(left for _, left in entries)
    numbers = NumberLevels()
    made = []
    for title, left in entries:
        number = heading_number(title)
        level = numbers.level(number) if number else _indent_level(indents, left)
        made.append(OutlineEntry(level=level, title=title))
    return made


def without_page(text: str) -> str | None:
    """The title of a line of contents, which ends in a page number; None for any other."""
    found = _LEADERS.search(text)
    title = text[: found.start()].strip() if found else ""
    return title if folded(title) else None


def _indents(lefts: Iterable[float]) -> list[float]:
    steps: list[float] = []
    for left in sorted(lefts):
        if not steps or left - steps[-1] > SAME_INDENT:
            steps.append(left)
    return steps


def _indent_level(steps: Sequence[float], left: float) -> int:
    return 1 + max(i for i, step in enumerate(steps) if i == 0 or left >= step - 0.5)
