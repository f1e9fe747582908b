"""From laid-out blocks to rows: headings, lists, captions, footnotes, contents, furniture."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from libs.contracts.artefacts.rows import Box, RowKind
from services.parser.formats.korean import article, boxed_title
from services.parser.formats.numbering import (
    NumberLevels,
    heading_number,
    is_caption,
    list_marker,
    reads_like_heading,
)
from services.parser.formats.pdf_blocks import Block, to_blocks, to_lines
from services.parser.formats.pdf_contents import Contents
from services.parser.formats.pdf_figures import Figures
from services.parser.formats.pdf_hyphens import Compounds
from services.parser.formats.pdf_lists import Indents
from services.parser.formats.pdf_page import Area, Page, Picture, Segment, Table
from services.parser.formats.pdf_titles import (
    MAX_BELOW,
    Place,
    Typography,
    is_heading,
    join_numerals,
)
from services.parser.formats.rows import Rows

_FOOTNOTE = re.compile(r"(?:\[?[0-9]{1,3}[\])]?|[*†‡§¶]{1,3}|주\s?[0-9]{0,2}\)?)\s*\S")
SMALL_TEXT = 0.92
"""Size of notes below the text, at most, of the body's."""


@dataclass
class PageWriter:
    """Writes the rows of one page after the other."""

    rows: Rows
    typography: Typography
    levels: NumberLevels = field(default_factory=NumberLevels)
    compounds: Compounds | None = None

    def write(self, page: Page, groups: Sequence[Sequence[Area]]) -> None:
        """Rows of the groups in order."""
        figures = Figures.of(page)
        runs = [run for run in self._runs(groups) if run]
        for run, following in zip(runs, [*runs[1:], None], strict=False):
            if isinstance(run, list):
                self._text(page, run, following, figures)
            elif isinstance(run, Table):
                self.table(page, run)
            elif isinstance(run, Picture):
                self.picture(page, run)
            elif isinstance(run, Contents):
                self.contents(page, run)

    def _runs(self, groups: Sequence[Sequence[Area]]) -> Iterator[list[Block] | Area]:
        """The blocks of text that follow each other in a group, and what stands between."""
        for group in groups:
            run: list[Segment] = []
            for item in sorted(group, key=lambda i: (i.y0, i.x0)):
                if isinstance(item, Segment):
                    run.append(item)
                    continue
                yield self._blocks(run)
                run = []
                yield item
            yield self._blocks(run)

    def _blocks(self, segments: list[Segment]) -> list[Block]:
        blocks = to_blocks(to_lines(segments, run_ins=True), self.compounds)
        return join_numerals(blocks, self.typography)

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
        """A table row, or the heading that a row of boxes is drawn around (`Ⅱ │ 추진 계획`)."""
        title = None
        if all(cell.row == 0 for cell in table.cells):
            title = boxed_title([cell.text for cell in table.cells])
        number = heading_number(title.replace(" ", ". ", 1)) if title is not None else None
        if title is not None and number is not None and number.scheme == "roman":
            self.rows.heading(
                title, self.levels.level(number), evidence="numbering", marker=number.marker,
                page=page.number, boxes=[box(page, table)],
            )  # fmt: skip
            return
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

    def _text(
        self,
        page: Page,
        blocks: list[Block],
        following: list[Block] | Area | None,
        figures: Figures,
    ) -> None:
        after = following[0] if isinstance(following, list) else None
        if after is not None and not self._continues(blocks[-1], after):
            after = None
        lists = Indents()
        for above, block, below in zip([None, *blocks], blocks, [*blocks[1:], after], strict=False):
            over = figures.begin_below(block, MAX_BELOW * block.em)
            self._block(page, Place(block, above, below, page.height, over), lists)

    def _continues(self, block: Block, following: Block) -> bool:
        """Whether text of a column of its own stands under `block`, and is no note below it."""
        beside = min(block.x1, following.x1) > max(block.x0, following.x0)
        under = following.y0 >= block.y1 - 0.2 * block.em
        return beside and under and following.em >= SMALL_TEXT * self.typography.body

    def _block(self, page: Page, place: Place, lists: Indents) -> None:
        """One block as the row that its words and looks make it."""
        block = place.block
        kind = self._kind(page, place)
        if kind != "list_item":
            lists.pass_by(block)
        looks: dict[str, Any] = {
            "page": page.number,
            "boxes": [box(page, block)],
            "font_size": round(block.em, 2),
            "bold": block.bold,
        }
        if kind == "heading":
            number = heading_number(block.text)
            if number is not None and reads_like_heading(number):
                level = self.levels.level(number)
                marker = number.marker
                self.rows.heading(block.text, level, evidence="numbering", marker=marker, **looks)
            else:
                level = self.typography.level(block.em)
                self.rows.heading(block.text, level, evidence="font", **looks)
        elif kind == "list_item" and (item := list_marker(block.text)) is not None:
            level = lists.level(block)
            self.rows.add("list_item", item[1], marker=item[0], level=level, **looks)
        elif kind == "paragraph" and (parted := article(block.text)) is not None:
            self._article(page, block, parted, looks)
        else:
            self.rows.add(kind, block.text, **looks)

    def _article(
        self, page: Page, block: Block, parted: tuple[str, str], looks: dict[str, Any]
    ) -> None:
        """An article of a law: its title, and the text that goes on beside it."""
        title, text = parted
        if (number := heading_number(title)) is None:
            self.rows.add("paragraph", block.text, **looks)
            return
        self.rows.heading(
            title, self.levels.level(number), evidence="numbering", marker=number.marker,
            **{**looks, "boxes": [box(page, block.lines[0])]},
        )  # fmt: skip
        item = list_marker(text)
        if item is not None:
            self.rows.add("list_item", item[1], marker=item[0], level=1, **looks)
        else:
            self.rows.add("paragraph", text, **looks)

    def _kind(self, page: Page, place: Place) -> RowKind:
        block = place.block
        if len(block.lines) == 1 and block.lines[0].leads:
            return "toc"
        if is_caption(block.text):
            return "caption"
        if not block.listed and is_heading(place, self.typography):
            return "heading"
        if self._is_footnote(page, block):
            return "footnote"
        return "paragraph" if list_marker(block.text) is None else "list_item"

    def _is_footnote(self, page: Page, block: Block) -> bool:
        small = block.em <= SMALL_TEXT * self.typography.body
        low = block.y0 > 0.55 * page.height
        marked = _FOOTNOTE.match(block.text) is not None
        return small and low and marked and any(c.isalpha() for c in block.text)


def box(page: Page, area: Area) -> Box:
    """The area as a box of the contract."""
    return Box(page=page.number, bbox=page.shown(area))
