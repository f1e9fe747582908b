"""From laid-out blocks to rows: headings, lists, captions, footnotes, contents, furniture."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from libs.contracts.artefacts.rows import Box
from services.parser.formats.numbering import (
    NumberLevels,
    heading_number,
    is_bullet,
    is_caption,
    list_marker,
    reads_like_heading,
)
from services.parser.formats.pdf_blocks import Block, to_blocks, to_lines
from services.parser.formats.pdf_contents import Contents
from services.parser.formats.pdf_page import Area, Page, Picture, Segment, Table
from services.parser.formats.rows import Rows

HEADING_SIZE = 1.15
"""Text this many times the body's size may be a heading by its size alone."""
MAX_HEADING = 200
MAX_FONT_LEVELS = 6
_FOOTNOTE = re.compile(r"(?:\[?[0-9]{1,3}[\])]?|[*†‡§¶]{1,3}|주\s?[0-9]{0,2}\)?)\s*\S")
_LETTERS = re.compile(r"[\W\d_]*(?:[^\W\d_](?:[\W\d_]+|$))*")
"""No letters, or single ones alone, as they stand over the parts of an index."""
_NOT_TITLE = re.compile(r"[.,;。]$|.{70,}:$|^[^\w\s(<\[「『《【“\"]+$")


@dataclass
class Typography:
    """The shard's fonts: the body's size, whether the body is bold, and the heading sizes."""

    body: float = 10.0
    bold_body: bool = False
    sizes: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, pages: Sequence[Page]) -> "Typography":
        """Counted over the characters of `pages`."""
        sizes: Counter[float] = Counter()
        bold: Counter[float] = Counter()
        for page in pages:
            for segment in page.segments:
                size = round(segment.em * 2) / 2
                sizes[size] += len(segment.text)
                bold[size] += len(segment.text) if segment.bold else 0
        if not sizes:
            return cls()
        body = max(sizes, key=lambda s: (sizes[s], -s))
        larger = sorted((s for s in sizes if s >= HEADING_SIZE * body), reverse=True)
        merged: list[float] = []
        for size in larger:
            if not merged or size < 0.93 * merged[-1]:
                merged.append(size)
        return cls(body, 2 * bold[body] > sizes[body], merged[: MAX_FONT_LEVELS - 1])

    def level(self, size: float) -> int:
        """A first guess of a heading's level from its size: the larger, the higher."""
        for i, known in enumerate(self.sizes):
            if size >= 0.95 * known:
                return i + 1
        return min(len(self.sizes) + 1, MAX_FONT_LEVELS)


@dataclass
class PageWriter:
    """Writes the rows of one page after the other."""

    rows: Rows
    typography: Typography
    levels: NumberLevels = field(default_factory=NumberLevels)

    def write(self, page: Page, groups: Sequence[Sequence[Area]]) -> None:
        """Rows of the groups in order."""
        for group in groups:
            run: list[Segment] = []
            for item in sorted(group, key=lambda i: (i.y0, i.x0)):
                if isinstance(item, Segment):
                    run.append(item)
                    continue
                self._text(page, run)
                run = []
                if isinstance(item, Table):
                    self.table(page, item)
                elif isinstance(item, Picture):
                    self.picture(page, item)
                elif isinstance(item, Contents):
                    self.contents(page, item)
            self._text(page, run)

    def picture(self, page: Page, picture: Picture) -> None:
        """An image row, once the picture is kept."""
        if picture.asset is not None:
            self.rows.add(
                "image",
                asset=picture.asset,
                media_type=picture.media_type,
                page=page.number,
                boxes=[box(page, picture)],
            )

    def table(self, page: Page, table: Table) -> None:
        """A table row."""
        self.rows.table(
            table.cells, page=page.number, boxes=[box(page, table)], caption=table.caption
        )

    def contents(self, page: Page, contents: Contents) -> None:
        """A row for each entry of a table of contents, its page number at the end."""
        for entry in contents.entries:
            line = entry.line
            text = f"{entry.title} {entry.page}" if entry.page else entry.title
            self.rows.add(
                "toc",
                text,
                page=page.number,
                boxes=[box(page, line)],
                font_size=round(line.em, 2),
                bold=line.bold,
            )

    def _text(self, page: Page, segments: list[Segment]) -> None:
        if segments:
            for block in to_blocks(to_lines(segments, run_ins=True)):
                self.block(page, block)

    def block(self, page: Page, block: Block) -> None:
        """One block as the row that its words and looks make it."""
        looks = {
            "page": page.number,
            "boxes": [box(page, block)],
            "font_size": round(block.em, 2),
            "bold": block.bold,
        }
        item = list_marker(block.text)
        if len(block.lines) == 1 and block.lines[0].leads:
            self.rows.add("toc", block.text, **looks)
        elif is_caption(block.text) and not self._stands_out(block):
            self.rows.add("caption", block.text, **looks)
        elif self._is_heading(block):
            number = heading_number(block.text)
            if number is not None and reads_like_heading(number):
                level = self.levels.level(number)
                marker = number.marker
                self.rows.heading(block.text, level, evidence="numbering", marker=marker, **looks)
            else:
                level = self.typography.level(block.em)
                self.rows.heading(block.text, level, evidence="font", **looks)
        elif self._is_footnote(page, block):
            self.rows.add("footnote", block.text, **looks)
        elif item is not None:
            self.rows.add("list_item", item[1], marker=item[0], level=1, **looks)
        else:
            self.rows.add("paragraph", block.text, **looks)

    def _stands_out(self, block: Block) -> bool:
        return block.em >= HEADING_SIZE * self.typography.body

    def _is_heading(self, block: Block) -> bool:
        text = block.text
        if block.runs_in:
            return False
        if len(text) > MAX_HEADING or len(block.lines) > 3 or _LETTERS.fullmatch(text):
            return False
        item = list_marker(text)
        if item is not None and is_bullet(item[0]):
            return False
        large = self._stands_out(block)
        bold = (
            block.bold and not self.typography.bold_body and block.em >= 0.93 * self.typography.body
        )
        number = heading_number(text)
        if number is not None and reads_like_heading(number):
            deep = number.depth >= 2 and len(block.lines) == 1 and len(text) < 80
            return large or bold or number.strong or (deep and self._as_large_as_body(block))
        if _NOT_TITLE.search(text):
            return large and bold and len(block.lines) == 1 and text.endswith(".")
        return large or bold

    def _as_large_as_body(self, block: Block) -> bool:
        return block.em >= 0.97 * self.typography.body

    def _is_footnote(self, page: Page, block: Block) -> bool:
        small = block.em <= 0.92 * self.typography.body
        low = block.y0 > 0.55 * page.height
        return small and low and _FOOTNOTE.match(block.text) is not None


def box(page: Page, area: Area) -> Box:
    """The area as a box of the contract."""
    return Box(page=page.number, bbox=page.shown(area))
