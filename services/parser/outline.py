"""An outline or a table of contents is the truth on headings: find its entries in the text.

Pure. An entry matches a row on its page, or one beside it, whose letters and digits are the
same, with or without the number; two rows that follow each other may be one title.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from libs.contracts.artefacts.profile import OutlineEntry
from libs.contracts.artefacts.rows import HeadingEvidence
from services.parser.formats.numbering import heading_number
from services.parser.lines import Decision, Line, folded

_ROMAN = re.compile(r"^[IVXLC]{1,7}\s+")


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
    line = " ".join(title.split())
    number = heading_number(line)
    bare = number.title if number is not None else _ROMAN.sub("", line)
    if len(folded(bare)) > 1:
        found.add(folded(bare))
    return frozenset(f for f in found if f)
