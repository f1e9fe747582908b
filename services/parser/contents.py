"""The entries of a document's own table of contents, as an outline. Pure.

An entry's level follows its number, else the indent and look that it shares with others. The
page that an entry names is the printed one: how far it lies from the file's is learned from
titles that stand on one page only.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from libs.contracts.artefacts.profile import OutlineEntry
from services.parser.formats.numbering import NumberLevels, heading_number
from services.parser.lines import Line, folded

SAME_INDENT = 6.0
"""Points by which entries of one level in a table of contents may differ on the left."""
MIN_CONTENTS = 3
MIN_VOTES = 3
"""Titles that must agree on how far printed page numbers lie from the file's."""

_LEADERS = re.compile(
    r"[\s.·…‥_\-–]{2,}(?P<page>\d{1,5}|[ivxlc]{1,8})\s*$|\s+(?P<last>\d{1,5}|[ivxlc]{1,8})\s*$"
)

Look = tuple[int, float, bool]
"""Indent by its rank, size below others at that indent, not bold: the smaller, the higher."""


@dataclass(frozen=True)
class _Entry:
    title: str
    printed: int | None
    line: Line
    left: float


def contents(lines: Sequence[Line]) -> list[OutlineEntry]:
    """The entries by the document's rows of kind `toc`; none where they are under three.

    Entries name pages of the file only where enough titles agree on the distance.
    """
    entries = list(_entries(lines))
    if len(entries) < MIN_CONTENTS:
        return []
    levels = _levels(entries)
    shift = _shift(entries, lines)
    return [
        OutlineEntry(level=level, title=entry.title, page=_page(entry, shift))
        for entry, level in zip(entries, levels, strict=True)
    ]


def without_page(text: str) -> str | None:
    """The title of a line of contents, which ends in a page number; None for any other."""
    found = _LEADERS.search(text)
    title = text[: found.start()].strip() if found else ""
    return title if folded(title) else None


def _entries(lines: Sequence[Line]) -> Iterable[_Entry]:
    """The lines of contents with a page number; the left counts from the margin of their side."""
    listed = [x for x in lines if x.kind == "toc"]
    margins: dict[int, float] = {}
    for line in listed:
        side = (line.page or 0) % 2
        margins[side] = min(margins.get(side, line.left or 0.0), line.left or 0.0)
    for line in listed:
        for part in line.text.split("\n"):
            title = without_page(part)
            if title is not None:
                label = part[len(title) :].strip(" .·…‥_-–")
                printed = int(label) if label.isdecimal() else None
                left = (line.left or 0.0) - margins[(line.page or 0) % 2]
                yield _Entry(title, printed, line, left)


def _levels(entries: Sequence[_Entry]) -> list[int]:
    """The level of each entry: by its number, else as its look has it."""
    steps = _steps(entry.left for entry in entries)
    looks = [_look(entry, steps) for entry in entries]
    numbers = NumberLevels()
    numbered = [
        numbers.level(number) if (number := heading_number(entry.title)) else None
        for entry in entries
    ]
    counted: dict[Look, Counter[int]] = {look: Counter() for look in sorted(set(looks))}
    for look, level in zip(looks, numbered, strict=True):
        if level is not None:
            counted[look][level] += 1
    by_look: dict[Look, int] = {}
    above = 0
    for look, seen in counted.items():
        by_look[look] = min(seen, key=lambda x: (-seen[x], x)) if seen else above + 1
        above = by_look[look]
    return [level or by_look[look] for look, level in zip(looks, numbered, strict=True)]


def _steps(lefts: Iterable[float]) -> list[float]:
    steps: list[float] = []
    for left in sorted(lefts):
        if not steps or left - steps[-1] > SAME_INDENT:
            steps.append(left)
    return steps


def _look(entry: _Entry, steps: Sequence[float]) -> Look:
    indent = max(i for i, step in enumerate(steps) if i == 0 or entry.left >= step - 0.5)
    return indent, -round(entry.line.size or 0.0), not entry.line.bold


def _page(entry: _Entry, shift: int | None) -> int | None:
    if entry.printed is None or shift is None:
        return None
    return max(1, entry.printed + shift)


def _shift(entries: Sequence[_Entry], lines: Sequence[Line]) -> int | None:
    """The file's page less the printed one, as titles that stand on one page have it."""
    pages: dict[str, set[int]] = defaultdict(set)
    for line in lines:
        if line.kind == "heading" and line.page is not None:
            pages[folded(line.text)].add(line.page)
    votes: Counter[int] = Counter()
    for entry in entries:
        on = pages.get(folded(entry.title), set())
        if entry.printed is not None and len(on) == 1:
            votes[min(on) - entry.printed] += 1
    if not votes:
        return None
    shift, count = min(votes.items(), key=lambda item: (-item[1], abs(item[0])))
    return shift if count >= MIN_VOTES and 2 * count > votes.total() else None
