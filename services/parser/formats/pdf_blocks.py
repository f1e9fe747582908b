"""Lines and blocks of text: segments of one column joined into lines, lines into paragraphs."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from services.parser.formats.numbering import heading_number, list_marker
from services.parser.formats.pdf_hyphens import Compounds, join_lines
from services.parser.formats.pdf_page import Area, Segment

_ENDS = frozenset(".!?:;。…")
_CLOSERS = "\"'”’)]"
_LEADERS = ".·…‥"
_LEADER = re.compile(r"(?:[.·…‥]\s?){4,}\s*[\divxlc]{0,5}\s*$", re.IGNORECASE)
_NOTE = re.compile(r"([0-9]{1,3}) ?[^\W\d_]")
BOLD = 0.9
"""Share of a line's words, by length, that are bold in a bold line."""
NARROW = 12.0
"""Width of a column, in ems, under which a full line says nothing about the next."""
RUN_IN = 60
"""Characters of a title that runs in."""
RUN_IN_GAP = (0.7, 3.0)
"""White space, in ems, between such a title and its text; LaTeX sets 1."""


@dataclass(slots=True)
class Line(Area):
    """One line of a column; `em` is the size of most characters, `bold` says nearly all words.

    `runs_in` marks a bold beginning of a line, cut off from the text that goes on beside it.
    """

    text: str = ""
    em: float = 10.0
    bold: bool = False
    runs_in: bool = False

    @property
    def leads(self) -> bool:
        """Whether the line ends like one of a table of contents."""
        text = self.text
        return sum(map(text.count, _LEADERS)) >= 4 and _LEADER.search(text) is not None

    @property
    def ends(self) -> bool:
        """Whether the line ends like a sentence, or a clause before a list."""
        return self.text.rstrip(_CLOSERS)[-1:] in _ENDS


@dataclass(slots=True)
class Block(Area):
    """Lines that belong together; `text` is joined and dehyphenated. `listed` marks what stands
    close to others under numbers that count on."""

    lines: list[Line]
    text: str = ""
    em: float = 10.0
    bold: bool = False
    marker: str | None = None
    listed: bool = False

    @property
    def runs_in(self) -> bool:
        """Whether the block is the title of the paragraph beside it."""
        return self.lines[0].runs_in


def to_lines(segments: Sequence[Segment], *, run_ins: bool = False) -> list[Line]:
    """Segments of one column as lines, top down; what stands on one height is one line.

    With `run_ins`, a bold run set apart from the running text behind it is a line of its own.
    """
    rows: list[_Row] = []
    for segment in sorted(segments, key=lambda s: ((s.y0 + s.y1) / 2, s.x0)):
        for row in rows[:-4:-1]:
            if row.takes(segment):
                row.add(segment)
                break
        else:
            rows.append(_Row(segment))
    lines = [
        part
        for row in rows
        for part in (_run_in(row.segments) if run_ins else [_line(row.segments)])
    ]
    lines.sort(key=lambda line: (line.y0 + line.y1) / 2)
    return lines


class _Row:
    """Segments on one height; the largest of them sets the height and how far it reaches."""

    __slots__ = ("em", "middle", "segments", "tall")

    def __init__(self, first: Segment) -> None:
        self.segments = [first]
        self._follow(first)

    def takes(self, segment: Segment) -> bool:
        """Whether the segment stands on this height, and on none of the row's segments."""
        reach = 0.5 if segment.em < 0.8 * self.em else 0.35
        if abs((segment.y0 + segment.y1) / 2 - self.middle) >= reach * self.tall:
            return False
        x0, x1, most = segment.x0, segment.x1, 0.5 * segment.em
        for other in self.segments:
            left = x0 if x0 > other.x0 else other.x0
            right = x1 if x1 < other.x1 else other.x1
            if right - left > most:
                return False
        return True

    def add(self, segment: Segment) -> None:
        """Take the segment in."""
        self.segments.append(segment)
        if segment.em > self.em:
            self._follow(segment)

    def _follow(self, base: Segment) -> None:
        self.em, self.middle = base.em, (base.y0 + base.y1) / 2
        self.tall = max(base.y1 - base.y0, 1.0)


def _run_in(row: list[Segment]) -> list[Line]:
    """The row as one line, or as the title that runs in at its start and the text after it."""
    whole = _line(row)
    if len(row) == 1:
        return [whole]
    cut = next((i for i, s in enumerate(row) if not s.bold), 0)
    if not cut or any(s.bold for s in row[cut:]):
        return [whole]
    title, rest = _line(row[:cut]), _line(row[cut:])
    near, far = RUN_IN_GAP
    if not near * rest.em <= rest.x0 - title.x1 <= far * rest.em:
        return [whole]
    if len(title.text) > RUN_IN or title.text[:1].islower() or len(rest.text.split()) < 3:
        return [whole]
    for part in (title, rest):
        part.y0, part.y1 = whole.y0, whole.y1
    title.runs_in = True
    return [title, rest]


def _line(row: list[Segment]) -> Line:
    before = row[0]
    if len(row) == 1:
        x0, y0, x1, y1 = before.x0, before.y0, before.x1, before.y1
        return Line(x0, y0, x1, y1, before.text.strip(), before.em, before.bold)
    row.sort(key=lambda s: s.x0)
    before = longest = row[0]
    y0, x1, y1 = before.y0, before.x1, before.y1
    parts = [before.text]
    for segment in row[1:]:
        em = before.em if before.em < segment.em else segment.em
        if segment.x0 - before.x1 > 0.12 * em:
            parts.append(" ")
        parts.append(segment.text)
        if len(segment.text) > len(longest.text):
            longest = segment
        y0 = segment.y0 if segment.y0 < y0 else y0
        x1 = segment.x1 if segment.x1 > x1 else x1
        y1 = segment.y1 if segment.y1 > y1 else y1
        before = segment
    return Line(row[0].x0, y0, x1, y1, "".join(parts).strip(), longest.em, _is_bold(row))


def _is_bold(row: Sequence[Segment]) -> bool:
    """Whether nearly all words of the segments are bold; signs and figures count for nothing."""
    bold = [s for s in row if s.bold]
    if len(bold) in (0, len(row)):
        return bool(bold)
    worded = [s for s in row if any(c.isalpha() for c in s.text)] or row
    total = sum(len(s.text) for s in worded)
    return sum(len(s.text) for s in worded if s.bold) >= BOLD * total


def to_blocks(lines: Sequence[Line], compounds: Compounds | None = None) -> list[Block]:
    """Lines of one column as headings, paragraphs and list items; words joined by hyphens that
    are `compounds` keep them at the end of a line."""
    if not lines:
        return []
    left = min(line.x0 for line in lines)
    right = max(line.x1 for line in lines)
    pitch = _pitch(lines)
    groups: list[list[Line]] = [[lines[0]]]
    for before, line in itertools.pairwise(lines):
        if _starts_block(groups[-1], before, line, left, right, pitch):
            groups.append([line])
        else:
            groups[-1].append(line)
    blocks: list[Block] = []
    for group in groups:
        parts = _numbered(group)
        for part in parts:
            blocks.append(_block(part, compounds))
            blocks[-1].listed = len(parts) > 1
    return blocks


def _numbered(lines: list[Line]) -> list[list[Line]]:
    """The lines parted where numbers at their beginnings count on, as those of footnotes do."""
    parts = [lines[:1]]
    for line in lines[1:]:
        number = _NOTE.match(line.text)
        before = _NOTE.match(parts[-1][0].text) if number else None
        if number and before and int(number[1]) == int(before[1]) + 1:
            parts.append([line])
        else:
            parts[-1].append(line)
    return parts


def _pitch(lines: Sequence[Line]) -> float:
    """The usual distance of lines in ems: the median over neighbours of one size."""
    steps = sorted(
        (b.y1 - a.y1) / b.em
        for a, b in itertools.pairwise(lines)
        if abs(a.em - b.em) < 0.08 * b.em and 0.5 < (b.y1 - a.y1) / b.em < 2.6
    )
    return steps[len(steps) // 3] if steps else 1.25


def _starts_block(
    group: list[Line], before: Line, line: Line, left: float, right: float, pitch: float
) -> bool:
    em = max(before.em, line.em)
    step = line.y1 - before.y1
    if abs(before.em - line.em) > 0.09 * em and not _is_continued_script(before, line):
        return True
    if step > (pitch + 0.35) * em or step < 0:
        return True
    if abs(before.em - line.em) > 0.05 * em and len(group) == 1 and heading_number(before.text):
        return True
    if before.runs_in or line.runs_in:
        return True
    short = before.x1 < right - max(2.5 * em, 0.12 * (right - left))
    narrow = right - left < NARROW * em
    set_apart = short or narrow or step > (pitch + 0.12) * em
    if before.bold != line.bold and set_apart and min(len(before.text), len(line.text)) > 2:
        return True
    if before.leads or line.leads:
        return True
    item = list_marker(line.text)
    if item is not None and _begins_item(group, before, line, item[0], right):
        return True
    number = heading_number(line.text)
    if number is not None and number.strong and (before.ends or (short and number.is_korean)):
        return True
    if number is not None and number.depth > 1 and len(group) == 1:
        above = heading_number(before.text)
        if above is not None and above.depth > 1:
            return True
    ended = before.ends
    if ended and short:
        return line.x0 <= group[0].x0 + 0.5 * em or len(group) == 1
    first = group[0]
    indented = line.x0 > left + 0.8 * em and line.x0 > before.x0 + 0.8 * em
    hanging = list_marker(first.text) is not None
    return indented and ended and not hanging


def _is_continued_script(before: Line, line: Line) -> bool:
    """A line of one or two small signs, such as a footnote mark, is no change of size."""
    script, text = sorted((before, line), key=lambda x: len(x.text))
    return len(script.text) <= 2 and script.em < text.em


def _begins_item(group: list[Line], before: Line, line: Line, marker: str, right: float) -> bool:
    """Whether a marker at a line's start opens an item, and is not a number in running text."""
    if not marker[0].isalnum() and marker not in {"-", "–", "—", "*", "+", "·"}:
        return True
    if list_marker(group[0].text) is not None or before.ends:
        return True
    return before.x1 < right - 4 * line.em or line.x0 > before.x0 + 0.8 * line.em


def _block(lines: list[Line], compounds: Compounds | None = None) -> Block:
    first = longest = lines[0]
    x0, y0, x1, y1 = first.x0, first.y0, first.x1, first.y1
    total = bold = 0
    for line in lines:
        size = len(line.text)
        total += size
        bold += size if line.bold else 0
        longest = line if size > len(longest.text) else longest
        x0 = line.x0 if line.x0 < x0 else x0
        y0 = line.y0 if line.y0 < y0 else y0
        x1 = line.x1 if line.x1 > x1 else x1
        y1 = line.y1 if line.y1 > y1 else y1
    text = join_lines([line.text for line in lines], compounds)
    item = list_marker(text)
    marker = item[0] if item else None
    return Block(x0, y0, x1, y1, lines, text, longest.em, 2 * bold > total, marker)


def merged(block: Block, following: Block) -> Block:
    """Both as one block."""
    return _block([*block.lines, *following.lines])
