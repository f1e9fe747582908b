"""HWP and HWPX (Hangul word processor): read by unhwp, its JSON walked into rows."""

from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import orjson

from libs.contracts.artefacts.rows import RowKind, TableCell
from libs.contracts.faults import Code, DocumentFault
from services.parser.formats.archives import opened
from services.parser.formats.base import AssetSink, ParseInput, ShardResult
from services.parser.formats.captions import attach_captions
from services.parser.formats.flat_office import is_xml
from services.parser.formats.hwp_distribution import readable
from services.parser.formats.hwp_inline import deep_text, outline_level, text_and_style
from services.parser.formats.hwpml import read_hwpml
from services.parser.formats.images import add_image
from services.parser.formats.korean import ItemDepths, article, boxed_title
from services.parser.formats.numbering import (
    Number,
    NumberLevels,
    heading_number,
    is_caption,
    list_marker,
    reads_like_heading,
)
from services.parser.formats.rows import Rows, clean
from services.parser.formats.tables import Span, place

MAX_HEADING = 80
LARGE = 1.15
"""A line this many times the usual size, and short, is a heading by its size."""
MAX_NESTED = 4
"""How deep tables are followed into tables; deeper ones stay text of their cells."""
MAX_DEPTH = 40


def parse(given: ParseInput) -> ShardResult:
    """Rows of an HWP or HWPX document, in source order."""
    document, images = _read(given)
    rows = Rows()
    walker = _Walker(rows, given.assets, images, _usual_size(document))
    walker.outlined = _has_outline(document)
    for section in document.get("sections", ()):
        walker.edge("page_header", section.get("header"))
        for block in section.get("content", ()):
            walker.block(block)
        walker.edge("page_footer", section.get("footer"))
        given.progress(0)
    if document.get("skipped_sections"):
        rows.note("sections_left_out", "damaged sections were left out", severity="warning")
    attach_captions(rows.rows)
    return rows.result("unhwp", {"unhwp": version("unhwp")})


def _read(given: ParseInput) -> tuple[dict[str, Any], dict[str, bytes]]:
    import unhwp

    if given.profile.encoding is not None and is_xml(given.path):
        return read_hwpml(given)
    with given.path.open("rb") as file:
        zipped = file.read(2) == b"PK"
    if zipped:
        given = opened(given)
    try:
        with unhwp.parse_bytes(readable(given.path.read_bytes())) as result:
            document: dict[str, Any] = orjson.loads(result.json)
            return document, {str(image.name): bytes(image.data) for image in result.images}
    except unhwp.UnhwpError as problem:
        kind = getattr(problem, "kind", None)
        if kind in {unhwp.ErrorKind.ENCRYPTED, unhwp.ErrorKind.DISTRIBUTION_RESTRICTED}:
            raise DocumentFault(
                Code.ENCRYPTED, "the document is protected; upload it without protection"
            ) from problem
        raise DocumentFault(
            Code.UNREADABLE, "the HWP document is damaged; open and save it again"
        ) from problem


def _usual_size(document: dict[str, Any]) -> float:
    """The font size of most characters, in points; 10 where none is said."""
    sizes: dict[float, int] = {}
    for section in document.get("sections", ()):
        for block in section.get("content", ()):
            for inline in block.get("Paragraph", {}).get("content", ()):
                text, style = text_and_style(inline)
                size = style.get("font_size")
                if isinstance(size, int | float) and size > 0:
                    sizes[float(size)] = sizes.get(float(size), 0) + len(text)
    return max(sizes, key=lambda s: (sizes[s], -s)) if sizes else 10.0


def _has_outline(document: dict[str, Any]) -> bool:
    """Whether outline paragraphs are the document's headings: where most of its text is set in
    them, they are its body."""
    sizes = [0, 0]
    for section in document.get("sections", ()):
        for block in section.get("content", ()):
            paragraph = block.get("Paragraph") or {}
            letters = sum(len(text_and_style(i)[0]) for i in paragraph.get("content", ()))
            sizes[outline_level(paragraph.get("style") or {}) > 0] += letters
    return 0 < sizes[1] < sizes[0]


class _Walker:
    """Blocks to rows; `usual` is the body's font size."""

    def __init__(
        self, rows: Rows, assets: AssetSink, images: dict[str, bytes], usual: float
    ) -> None:
        self.rows = rows
        self.assets = assets
        self.images = images
        self.usual = usual
        self.levels = NumberLevels()
        self.items = ItemDepths()
        self.outlined = False

    def edge(self, kind: RowKind, blocks: Any) -> None:
        """A running head or foot."""
        for paragraph in blocks if isinstance(blocks, list) else ():
            self.rows.add(kind, self._plain(paragraph.get("Paragraph", paragraph)))

    def block(self, block: dict[str, Any]) -> None:
        """A paragraph or a table; a table of one cell is a frame around its paragraphs."""
        if "Paragraph" in block:
            self._paragraph(block["Paragraph"])
        elif "Table" in block:
            self._table(block["Table"], 0)

    def _table(self, table: dict[str, Any], depth: int, *, told: bool = False) -> None:
        """A table, then what its cells hold beside text, tables too.

        The words of a frame inside a cell are `told` in that cell already.
        """
        cells = [cell for row in table.get("rows", ()) for cell in row.get("cells", ())]
        frame = len(cells) == 1
        if frame and not told:
            for paragraph in cells[0].get("content", ()):
                self.block(paragraph if "Table" in paragraph else {"Paragraph": paragraph})
        else:
            if not frame:
                self._filled(self._cells(table, depth))
            for cell in cells:
                for paragraph in cell.get("content", ()):
                    self._assets_of(paragraph)
        for cell in cells if depth < MAX_NESTED else ():
            for inner in _inner_tables(cell, framed=frame and not told):
                self._table(inner, depth + 1, told=not frame or told)

    def _filled(self, cells: list[TableCell]) -> None:
        """A table, or the heading that a row of boxes is drawn around."""
        title = boxed_title([c.text for c in cells]) if all(c.row == 0 for c in cells) else None
        if title is None:
            self.rows.table(cells)
        elif (number := heading_number(title.replace(" ", ". ", 1))) is not None:
            self._numbered(number, title)
        else:
            self.items.close()
            self.rows.heading(title, 1, evidence="numbering")

    def _cells(self, table: dict[str, Any], depth: int = 0) -> list[TableCell]:
        rows = table.get("rows", ())
        return place(
            [
                Span(
                    clean("\n".join(self._cell_lines(cell, depth))),
                    int(cell.get("rowspan") or 1),
                    int(cell.get("colspan") or 1),
                    header=bool(
                        row.get("is_header")
                        or (table.get("has_header") and at == 0 and len(rows) > 1)
                    ),
                )
                for cell in row.get("cells", ())
            ]
            for at, row in enumerate(rows)
        )

    def _cell_lines(self, cell: dict[str, Any], depth: int) -> Iterator[str]:
        """The text of a cell; a table in it a line a row."""
        for item in cell.get("content", ()):
            if "Table" not in item:
                yield self._plain(item.get("Paragraph", item))
        for table in _inner_tables(cell) if depth < MAX_DEPTH else ():
            lines: dict[int, list[str]] = {}
            for inner in self._cells(table, depth + 1):
                lines.setdefault(inner.row, []).append(inner.text)
            yield from (" | ".join(filter(None, line)) for line in lines.values())

    def _plain(self, paragraph: dict[str, Any]) -> str:
        return "".join(text_and_style(i)[0] for i in paragraph.get("content", ()))

    def _paragraph(self, paragraph: dict[str, Any]) -> None:
        pieces = [text_and_style(i) for i in paragraph.get("content", ())]
        text = clean("".join(piece for piece, _ in pieces))
        letters = max(1, sum(len(p) for p, _ in pieces))
        bold = 2 * sum(len(p) for p, s in pieces if s.get("bold")) > letters
        longest = max(pieces, key=lambda p: len(p[0]), default=("", {}))[1]
        size = float(longest.get("font_size") or self.usual)
        style = paragraph.get("style") or {}
        level = int(style.get("heading_level") or 0)
        if outline := outline_level(style):
            # unhwp counts these levels from 0, and so leaves out the highest
            level = outline if self.outlined else 0
        if text:
            self._text(text, level, size, bold)
        self._assets_of(paragraph)

    def _text(self, text: str, level: int, size: float, bold: bool) -> None:
        parted = article(text)
        if parted is not None and parted[1]:
            self._text(parted[0], level, size, bold)
            self._text(parted[1], 0, size, bold=False)
            return
        looks = {"font_size": size, "bold": bold}
        number = heading_number(text)
        titled = number is not None and reads_like_heading(number, limit=MAX_HEADING)
        short = len(text) <= MAX_HEADING and "\n" not in text
        item = list_marker(text)
        if level and short:
            marker = number.marker if number else None
            self.rows.heading(text, level, evidence="style", marker=marker, **looks)
        elif is_caption(text):
            self.rows.add("caption", text, **looks)
        elif number is not None and titled and (number.strong or bold or number.scheme == "roman"):
            self._numbered(number, text, **looks)
        elif item is not None:
            depth = self.items.of(item[0])
            self.rows.add("list_item", item[1], marker=item[0], level=depth, **looks)
        elif short and size >= LARGE * self.usual and text[-1] not in ".,;:":
            self.rows.heading(text, 1, evidence="font", **looks)
        else:
            self.rows.add("paragraph", text, **looks)

    def _numbered(self, number: Number, text: str, **looks: Any) -> None:
        self.items.close()
        level = self.levels.level(number)
        self.rows.heading(text, level, evidence="numbering", marker=number.marker, **looks)

    def _assets_of(self, paragraph: dict[str, Any]) -> None:
        """Images and notes that stand in a paragraph, behind its text."""
        for inline in paragraph.get("content", ()):
            if not isinstance(inline, dict):
                continue
            if "Image" in inline:
                about = inline["Image"]
                wanted = str(about.get("id") or "")
                data = next(
                    (
                        d
                        for name, d in self.images.items()
                        if (wanted and name.rpartition(".")[0] == wanted) or name == wanted
                    ),
                    None,
                )
                if data is None:
                    self.rows.note("image_unreadable", "pictures without data were left out")
                else:
                    add_image(self.rows, self.assets, data, str(about.get("alt_text") or ""))
            for kind in ("Footnote", "Endnote"):
                if kind in inline:
                    self.rows.add("footnote", deep_text(inline[kind]))


def _inner_tables(cell: dict[str, Any], *, framed: bool = False) -> list[dict[str, Any]]:
    """The tables inside a cell; where it is `framed`, those between its paragraphs stand there."""
    between = [i["Table"] for i in cell.get("content", ()) if "Table" in i and not framed]
    return between + list(cell.get("nested_tables") or ())
