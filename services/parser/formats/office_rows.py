"""A docling document as rows: its items in order, levels from the items, never from nesting."""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from libs.contracts.artefacts.rows import Box, HeadingEvidence, RowKind
from services.parser.formats.base import AssetSink
from services.parser.formats.captions import attach_captions
from services.parser.formats.images import add_image, image_from_data_uri
from services.parser.formats.numbering import heading_number
from services.parser.formats.office_pptx import SlideExtras
from services.parser.formats.office_tables import cells_of, chart_cells, nested_tables
from services.parser.formats.office_text import joined, ticked, unstyled_headings
from services.parser.formats.rows import Rows, one_line

if TYPE_CHECKING:
    from docling_core.types.doc.document import DoclingDocument

EMU_PER_POINT = 12_700
PROGRESS_ITEMS = 500


@dataclass(frozen=True)
class Marks:
    """References to items that the backend knows more of than the document says."""

    toc: set[str] = field(default_factory=set)
    captions: set[str] = field(default_factory=set)
    vanished: set[str] = field(default_factory=set)
    slides: dict[int, SlideExtras] = field(default_factory=dict)


class OfficeWalker:
    """Walks a docling document once. `slides`: one section a slide, boxes in points."""

    evidence: HeadingEvidence = "style"

    def __init__(
        self,
        rows: Rows,
        assets: AssetSink,
        document: "DoclingDocument",
        *,
        slides: bool,
        marks: Marks,
        progress: Callable[[int], None],
    ) -> None:
        self.rows = rows
        self.assets = assets
        self.document = document
        self.slides = slides
        self.marks = marks
        self.progress = progress
        self.page: int | None = None
        self.slide_open = False
        self.shift = 0

    def walk(self) -> None:
        """Rows of every item, then captions and headings that styles did not mark."""
        layers: Any = import_module("docling_core.types.doc").ContentLayer
        self.shift = self._title_shift()
        skip: set[str] = set()
        for count, (item, _) in enumerate(
            self.document.iterate_items(
                with_groups=True, traverse_pictures=True, included_content_layers=set(layers)
            )
        ):
            if count % PROGRESS_ITEMS == 0:
                self.progress(0)
            parent = item.parent.cref if item.parent is not None else ""
            if parent in skip:
                skip.add(item.self_ref)
                if type(item).__name__ == "PictureItem":
                    self._picture(item)
                continue
            if self._take(item):
                skip.add(item.self_ref)
        self._close_slide()
        if not self.slides and not any(r.kind == "heading" for r in self.rows.rows):
            unstyled_headings(self.rows)
        attach_captions(self.rows.rows)

    def _title_shift(self) -> int:
        """1 where one title stands above all headings, which then lie one level below it."""
        kinds = [type(i).__name__ for i in self.document.texts]
        headings = [k for k in kinds if k in {"TitleItem", "SectionHeaderItem"}]
        return int(not self.slides and headings.count("TitleItem") == 1 and
                   headings[0] == "TitleItem")  # fmt: skip

    def _take(self, item: Any) -> bool:
        """Rows of one item; True when its children are part of it."""
        kind = type(item).__name__
        label = str(getattr(item.label, "value", item.label))
        if kind == "GroupItem" and self.slides and item.name.startswith(("slide-", "page-")):
            self._slide(item)
        elif kind == "InlineGroup":
            self._text("paragraph", item, joined(self.document, item))
            return True
        elif kind == "TableItem":
            self._table(item)
            return True
        elif kind == "PictureItem":
            self._picture(item)
        elif kind == "ListItem":
            return self._list_item(item)
        elif kind in {"TitleItem", "SectionHeaderItem"}:
            self._heading(item, kind)
            return not item.text
        elif kind == "CodeItem":
            self._text("code", item, item.text)
        elif kind == "FormulaItem":
            self._text("formula", item, item.text)
        elif hasattr(item, "text"):
            self._text(self._kind(item, label), item, item.text)
        return False

    def _close_slide(self) -> None:
        """What the backend leaves of a slide: SmartArt, words that stand on its master."""
        extras = self.marks.slides.get(self.page or 0)
        if extras is None:
            return
        if not self.slide_open and (extras.diagrams or extras.masters):
            self.rows.heading(f"Slide {self.page}", 1, evidence="none", page=self.page)
        for text in extras.diagrams:
            self.rows.add("list_item", text, marker="•", level=1, page=self.page)
        for text in extras.masters:
            self.rows.add("page_header", text, page=self.page)

    def _slide(self, item: Any) -> None:
        self._close_slide()
        number = item.name.rpartition("-")[2]
        self.page = int(number) + 1 if number.isdecimal() else (self.page or 0) + 1
        self.slide_open = False

    def _open_slide(self, title: str | None, item: Any) -> None:
        """The heading of a slide: its title, or its number where it has none."""
        self.slide_open = True
        evidence = "markup" if title else "none"
        self.rows.heading(title or f"Slide {self.page}", 1, evidence=evidence, **self._where(item))

    def _heading(self, item: Any, kind: str) -> None:
        text = one_line(item.text or joined(self.document, item))
        if self.slides:
            if not self.slide_open:
                self._open_slide(text, item)
            else:
                self._text("paragraph", item, text)
            return
        level = 1 if kind == "TitleItem" else item.level + self.shift
        number = heading_number(text)
        self.rows.heading(
            text,
            level,
            evidence=self.evidence,
            marker=number.marker if number else None,
            **self._where(item),
        )

    def _kind(self, item: Any, label: str) -> RowKind:
        if item.self_ref in self.marks.toc:
            return "toc"
        if item.self_ref in self.marks.captions or label == "caption":
            return "caption"
        match item.content_layer.value:
            case "furniture":
                if label == "footnote":
                    return "footnote"
                return "page_footer" if self._group_name(item) == "page footer" else "page_header"
            case "notes":
                return "note"
        if label == "footnote":
            return "footnote"
        return "formula" if label == "formula" else "paragraph"

    def _group_name(self, item: Any) -> str:
        while item.parent is not None:
            item = item.parent.resolve(self.document)
            if type(item).__name__ == "GroupItem" and item.name.startswith("page "):
                return str(item.name)
        return ""

    def _text(self, kind: RowKind, item: Any, text: str, **fields: Any) -> None:
        text = ticked(item, text)
        if self.slides and not self.slide_open and text.strip() and kind != "note":
            self._open_slide(None, item)
        formatting = getattr(item, "formatting", None)
        bold = bool(formatting and formatting.bold)
        self.rows.add(kind, text, bold=bold, **self._where(item), **fields)

    def _list_item(self, item: Any) -> bool:
        text = item.text
        inline = not text and any(
            type(c.resolve(self.document)).__name__ == "InlineGroup" for c in item.children
        )
        if inline:
            text = joined(self.document, item)
        depth = 0
        above = item.parent.resolve(self.document) if item.parent is not None else None
        while above is not None and above.parent is not None:
            depth += type(above).__name__ in {"ListGroup", "OrderedList", "UnorderedList"}
            above = above.parent.resolve(self.document)
        marker = item.marker or ("1." if item.enumerated else "•")
        self._text("list_item", item, text, marker=marker, level=max(1, depth))
        return inline

    def _table(self, item: Any) -> None:
        caption = one_line(item.caption_text(self.document))
        if self.slides and not self.slide_open:
            self._open_slide(None, item)
        where = self._where(item)
        self.rows.table(cells_of(self.document, item), caption=caption or None, **where)
        for inner in nested_tables(self.document, item):
            if len(inner.data.table_cells) > 1:
                self.rows.table(cells_of(self.document, inner), **where)

    def _picture(self, item: Any) -> None:
        if self.slides and not self.slide_open:
            self._open_slide(None, item)
        where = self._where(item)
        caption = one_line(item.caption_text(self.document))
        image = image_from_data_uri(str(item.image.uri)) if item.image is not None else None
        if image is not None:
            text = self._alternative(item)
            add_image(self.rows, self.assets, image[0], text, caption=caption or None, **where)
        chart = getattr(item.meta, "tabular_chart", None) if item.meta is not None else None
        if chart is not None and chart.chart_data is not None:
            self.rows.table(chart_cells(chart), caption=caption or None, **where)
        elif image is None:
            self.rows.note("image_unreadable", "drawings that hold no picture were left out")

    def _alternative(self, item: Any) -> str:
        """The alternative text of a slide's picture, found by its corner."""
        extras = self.marks.slides.get(self.page or 0)
        if extras is None or not item.prov:
            return ""
        box = item.prov[0].bbox
        return extras.alternatives.get((round(box.l), round(box.t)), "")

    def _where(self, item: Any) -> dict[str, Any]:
        """Page, box and visibility of an item."""
        hidden = item.content_layer.value == "invisible" or item.self_ref in self.marks.vanished
        where: dict[str, Any] = {"hidden": hidden}
        provenance = item.prov[0] if getattr(item, "prov", None) else None
        if provenance is not None and provenance.page_no:
            self.page = provenance.page_no if self.slides else self.page
            box = provenance.bbox
            corners = [round(v / EMU_PER_POINT, 2) for v in (box.l, box.t, box.r, box.b)]
            x0, x1 = sorted((corners[0], corners[2]))
            y0, y1 = sorted((corners[1], corners[3]))
            if self.slides and x1 > x0 and y1 > y0:
                where["boxes"] = [Box(page=provenance.page_no, bbox=(x0, y0, x1, y1))]
        if self.slides:
            where["page"] = self.page
        if where["hidden"]:
            self.rows.note("hidden_text", "hidden slides or text are kept out of evidence")
        return where
