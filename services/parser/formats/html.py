"""HTML: one walk over lexbor's tree into rows; nothing is fetched and nothing is run.

Main content is kept (`<main>` or the one `<article>` where it holds most of the text),
navigation is left out, running heads and feet are kept apart.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from libs.contracts.artefacts.rows import RowKind
from services.parser.formats.base import AssetSink, ParseInput, ShardResult
from services.parser.formats.captions import attach_captions
from services.parser.formats.html_tables import (
    hidden_by_attributes,
    is_layout,
    is_menu,
    nested_tables,
    table_cells,
)
from services.parser.formats.html_text import (
    BLOCKS,
    MAX_DEPTH,
    SKIPPED,
    SPACE,
    children,
    inline_text,
    is_knob,
    tidy,
)
from services.parser.formats.images import keep_image
from services.parser.formats.rows import Rows, one_line, read_text

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MAIN_SHARE = 0.4
"""The share of the page's text that `<main>` must hold to stand for all of it."""

MENU_ROLES = frozenset({"navigation", "search", "menu", "menubar", "dialog"})
HEADINGS = {f"h{n}": n for n in range(1, 7)}


def parse(given: ParseInput) -> ShardResult:
    """Rows of an HTML page; without any heading its `<title>` becomes one."""
    from selectolax import __version__ as version
    from selectolax.lexbor import LexborHTMLParser

    rows = Rows()
    tree = LexborHTMLParser(read_text(given))
    walker = Walker(rows, given.assets)
    title = tree.css_first("title")
    body = tree.body
    if body is not None:
        main = _main(body)
        first = tree.css_first("h1")
        if main is not body and first is not None and main.css_first("h1") is None:
            rows.heading(inline_text(first), 1, evidence="markup")
        walker.blocks(main)
    if title is not None and not any(r.kind == "heading" for r in rows.rows) and rows.rows:
        heading = Rows()
        heading.heading(title.text(deep=True), 1, evidence="markup")
        rows.rows[:0] = heading.rows
        rows.rows[:] = [r.model_copy(update={"order": i}) for i, r in enumerate(rows.rows)]
    attach_captions(rows.rows)
    return rows.result("selectolax", {"selectolax": version})


def add_fragment(rows: Rows, assets: AssetSink, content: str) -> None:
    """Rows of a piece of HTML inside another format, at the end of `rows`."""
    from selectolax.lexbor import LexborHTMLParser

    body = LexborHTMLParser(content).body
    if body is not None:
        Walker(rows, assets).blocks(body)


def _main(body: "LexborNode") -> "LexborNode":
    whole = len(body.text(deep=True))
    for selector in ("main", "[role=main]", "article"):
        found = body.css(selector)
        if len(found) == 1 and len(found[0].text(deep=True)) >= MAIN_SHARE * whole:
            return found[0]
    return body


@dataclass
class Walker:
    """The walk's state: the text gathered so far, open lists, and where it stands."""

    rows: Rows
    assets: AssetSink
    pieces: list[str] = field(default_factory=list)
    images: list[tuple[str, str]] = field(default_factory=list)
    lists: list[list[int]] = field(default_factory=list)
    marker: str | None = None
    kind: RowKind = "paragraph"
    hidden: bool = False
    depth: int = 0

    def blocks(self, node: "LexborNode") -> None:
        """Rows of everything below `node`."""
        self.depth += 1
        for child in children(node):
            self._node(child)
        self.depth -= 1
        if node.tag in BLOCKS:
            self.flush()

    def flush(self) -> None:
        """The gathered text as a row, then the images that stood in it."""
        text = tidy("".join(self.pieces))
        self.pieces.clear()
        if text:
            if self.lists and self.kind == "paragraph":
                self._list_text(text)
            else:
                self.rows.add(self.kind, text, hidden=self.hidden)
        images, self.images = self.images, []
        for source, alternative in images:
            self.picture(source, alternative)

    def picture(self, source: str, alternative: str) -> None:
        """A row for an image, where its bytes are in the file."""
        keep_image(self.rows, self.assets, source, alternative)

    def _node(self, node: "LexborNode") -> None:
        tag = node.tag or ""
        if tag == "-text":
            self.pieces.append(SPACE.sub(" ", node.text_content or ""))
        elif tag == "br":
            self.pieces.append("\n")
        elif tag == "img":
            source = node.attributes.get("src") or ""
            self.images.append((source, node.attributes.get("alt") or ""))
        elif tag in SKIPPED or (node.attributes.get("role") or "") in MENU_ROLES or is_knob(node):
            if tag not in SKIPPED or tag == "nav":
                self.rows.note("navigation_left_out", "navigation blocks were left out")
        elif self.depth > MAX_DEPTH:
            self.pieces.append(SPACE.sub(" ", node.text(deep=True)))
        elif not self.hidden and hidden_by_attributes(node.attributes):
            self._hidden(node)
        else:
            self._element(node, tag)

    def _hidden(self, node: "LexborNode") -> None:
        self.flush()
        self.hidden = True
        self.rows.note("hidden_text", "text that the page hides is kept out of evidence")
        self._element(node, node.tag or "")
        self.flush()
        self.hidden = False

    def _element(self, node: "LexborNode", tag: str) -> None:
        if tag in HEADINGS:
            self.flush()
            text = inline_text(node)
            if self.kind == "paragraph" and not self.hidden:
                self.rows.heading(text, HEADINGS[tag], evidence="markup")
            else:
                self.rows.add(self.kind, text, hidden=self.hidden)
            self._images_of(node)
        elif tag == "pre":
            self.flush()
            self.rows.add("code", node.text(deep=True).strip("\n"), hidden=self.hidden)
        elif tag == "table":
            self.flush()
            self._table(node)
        elif tag in {"ul", "ol", "menu"} and is_menu(node):
            self.rows.note("navigation_left_out", "navigation blocks were left out")
        elif tag in {"ul", "ol", "menu"}:
            self.flush()
            start = node.attributes.get("start") or "1"
            first = int(start) if start.lstrip("-").isdecimal() and len(start) < 9 else 1
            self.lists.append([first] if tag == "ol" else [])
            self.blocks(node)
            self.flush()
            self.lists.pop()
        elif tag == "li":
            self._item(node)
        elif tag == "figcaption":
            self._as("caption", node)
        elif tag in {"header", "footer"} and node.parent is not None and node.parent.tag == "body":
            self._as("page_header" if tag == "header" else "page_footer", node)
        elif tag == "math":
            self.pieces.append(node.attributes.get("alttext") or SPACE.sub(" ", node.text()))
        else:
            if tag in BLOCKS:
                self.flush()
            self.blocks(node)

    def _as(self, kind: RowKind, node: "LexborNode") -> None:
        self.flush()
        before, self.kind = self.kind, kind
        self.blocks(node)
        self.flush()
        self.kind = before

    def _item(self, node: "LexborNode") -> None:
        self.flush()
        if not self.lists:
            self.lists.append([])
            self._item(node)
            self.lists.pop()
            return
        counter = self.lists[-1]
        self.marker = f"{counter[0]}." if counter else "•"
        if counter:
            counter[0] += 1
        self.blocks(node)
        self.flush()
        self.marker = None

    def _list_text(self, text: str) -> None:
        """The first text of an item opens its row; what follows in the item continues it."""
        rows = self.rows.rows
        if self.marker is not None:
            self.rows.add(
                "list_item", text, marker=self.marker, level=len(self.lists), hidden=self.hidden
            )
            self.marker = None
        elif rows and rows[-1].kind == "list_item" and rows[-1].hidden == self.hidden:
            rows[-1] = rows[-1].model_copy(update={"text": f"{rows[-1].text}\n{text}"})
        else:
            self.rows.add("paragraph", text, hidden=self.hidden)

    def _table(self, node: "LexborNode") -> None:
        if is_layout(node):
            self.blocks(node)
            return
        caption = next((c for c in children(node) if c.tag == "caption"), None)
        text = one_line(inline_text(caption)) if caption is not None else ""
        self.rows.add("caption", text, hidden=self.hidden)
        self.rows.table(table_cells(node), caption=text or None, hidden=self.hidden)
        for inner in nested_tables(node):
            self.rows.table(table_cells(inner), hidden=self.hidden)
        self._images_of(node)

    def _images_of(self, node: "LexborNode") -> None:
        for image in node.css("img"):
            source = image.attributes.get("src") or ""
            self.picture(source, image.attributes.get("alt") or "")
