"""The text of HTML elements as a reader sees it."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from services.parser.formats.html_tables import hidden_by_attributes
from services.parser.formats.rows import clean

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MAX_DEPTH = 150
SKIPPED = frozenset(
    {"script", "style", "template", "noscript", "svg", "iframe", "object", "embed", "canvas"}
    | {"video", "audio", "map", "head", "button", "select", "datalist", "nav", "dialog"}
    | {"-comment", "-doctype"}
)
BLOCKS = frozenset(
    {"address", "article", "aside", "blockquote", "body", "center", "dd", "details", "div", "dl"}
    | {"dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5"}
    | {"h6", "header", "hgroup", "hr", "html", "legend", "li", "main", "ol", "p", "pre", "search"}
    | {"section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul"}
)
SPACE = re.compile(r"[ \t\n\r\f]+")
_AROUND_BREAK = re.compile(r" *\n *")


def children(node: "LexborNode") -> Iterator["LexborNode"]:
    """The child nodes, text included, in order."""
    child = node.child
    while child is not None:
        yield child
        child = child.next


def inline_text(node: "LexborNode") -> str:
    """The text below `node` as a reader sees it; `<br>` and block borders are line breaks."""
    pieces: list[str] = []
    _collect(node, pieces, 0)
    return tidy("".join(pieces))


def tidy(text: str) -> str:
    """White space around line breaks and doubled spaces taken out."""
    return clean(_AROUND_BREAK.sub("\n", re.sub(r" {2,}", " ", text))).strip()


def _collect(node: "LexborNode", pieces: list[str], depth: int) -> None:
    for child in children(node):
        tag = child.tag
        if tag == "-text":
            text = SPACE.sub(" ", child.text_content or "")
            if text != " " or not (pieces and pieces[-1].endswith("\n")):
                pieces.append(text)
        elif tag == "br":
            pieces.append("\n")
        elif tag in SKIPPED or hidden_by_attributes(child.attributes) or is_knob(child):
            continue
        elif depth > MAX_DEPTH:
            pieces.append(SPACE.sub(" ", child.text(deep=True)))
        elif tag in {"td", "th"}:
            if _follows_cell(child):
                pieces.append(" | ")
            _collect(child, pieces, depth + 1)
        else:
            border = "\n" if tag in BLOCKS else ""
            if border and pieces and not pieces[-1].endswith("\n"):
                pieces.append(border)
            _collect(child, pieces, depth + 1)
            if border and pieces and not pieces[-1].endswith("\n"):
                pieces.append(border)


def _follows_cell(cell: "LexborNode") -> bool:
    before = cell.prev
    while before is not None and before.tag not in {"td", "th"}:
        before = before.prev
    return before is not None


def is_knob(node: "LexborNode") -> bool:
    """Whether an element is a control of the page: a button, or the label that stands for one."""
    attributes = node.attributes
    if (attributes.get("role") or "") == "button":
        return True
    return node.tag == "label" and (attributes.get("aria-hidden") or "") == "true"
