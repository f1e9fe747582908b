"""The parser's one typed table: a row is one element of a document, in reading order."""

from typing import Literal

from pydantic import Field

from libs.contracts.base import Contract
from libs.contracts.entries import Entry

RowKind = Literal[
    "heading",
    "paragraph",
    "list_item",
    "table",
    "image",
    "code",
    "formula",
    "caption",
    "footnote",
    "toc",
    "page_header",
    "page_footer",
    "note",
]

HeadingEvidence = Literal["outline", "toc", "style", "markup", "numbering", "model", "font", "none"]


class Box(Contract):
    """A rectangle on a page: PDF points from the top left, (x0, y0, x1, y1), x0 ≤ x1, y0 ≤ y1."""

    page: int
    bbox: tuple[float, float, float, float]


class TableCell(Contract):
    """One cell of a table's grid, counted from 0, with exact spans."""

    row: int
    column: int
    row_span: int = 1
    column_span: int = 1
    text: str = ""
    header: bool = False


class Row(Contract):
    """One element. `order` counts from 0 over the document, in reading order.

    `level` is a heading's level, 1 the highest, or a list item's depth, 1 the outermost.
    `evidence` says what decided a heading's level. `html` and `cells` belong to tables;
    `asset` names an image inside the revision, such as `assets/images/<hash>.png`.
    `hidden` marks content that a reader of the original does not see: it is kept out of
    evidence. `font_size` is in points, `bold` the majority of characters; both serve the
    levelling of headings over the whole document. `entry` is the record that the row stands for.
    `breaks` are of a table that goes on over page borders: the grid row with which each of its
    boxes after the first begins.
    """

    order: int
    kind: RowKind
    text: str = ""
    level: int | None = None
    evidence: HeadingEvidence | None = None
    page: int | None = None
    boxes: list[Box] = Field(default_factory=list)
    html: str | None = None
    cells: list[TableCell] = Field(default_factory=list)
    breaks: list[int] = Field(default_factory=list)
    asset: str | None = None
    media_type: str | None = None
    marker: str | None = None
    language: str | None = None
    caption: str | None = None
    hidden: bool = False
    font_size: float | None = None
    bold: bool = False
    entry: Entry | None = None
