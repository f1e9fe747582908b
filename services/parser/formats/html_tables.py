"""HTML tables: cells with their spans; and which tables and lists only serve the page."""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from libs.contracts.artefacts.rows import TableCell
from services.parser.formats.tables import Span, place

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MAX_SPAN = 65_534
"""The `rowspan` limit of the HTML standard."""

MAX_NESTED = 4
"""How deep tables are followed into tables; deeper ones stay text of their cells."""
MAX_INNER = 500
MENU_LINKS = 20
MENU_LENGTH = 20
MENU_SHARE = 0.9
"""A menu's links are at least this many, at most this long on the mean, and most of its text."""

_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


def hidden_by_attributes(attributes: Mapping[str, str | None]) -> bool:
    """Whether an element's own attributes hide it from a reader."""
    return "hidden" in attributes or bool(_HIDDEN_STYLE.search(attributes.get("style") or ""))


def is_layout(table: "LexborNode") -> bool:
    """Whether a table only places other content.

    By its role, by having one cell, or by one or two rows that hold tables or headings.
    """
    if (table.attributes.get("role") or "").lower() in {"presentation", "none"}:
        return True
    if table.css_first("th") is not None or table.css_first("caption") is not None:
        return False
    rows = list(_rows(table))
    if sum(len(cells) for _, cells in rows) <= 1:
        return True
    return len(rows) <= 2 and table.css_first("h1, h2, h3, h4, table table") is not None


def nested_tables(table: "LexborNode") -> list["LexborNode"]:
    """The tables of data inside the cells of a table, in order, as deep as `MAX_NESTED`."""
    found = []
    for inner in table.css("table"):
        depth, above = 0, inner.parent
        while above is not None and above.mem_id != table.mem_id and depth <= MAX_NESTED:
            depth += above.tag == "table"
            above = above.parent
        if inner.mem_id != table.mem_id and depth < MAX_NESTED and not is_layout(inner):
            found.append(inner)
        if len(found) == MAX_INNER:
            break
    return found


def is_menu(node: "LexborNode") -> bool:
    """Whether a list is a menu: many short links and hardly a word beside them."""
    links = node.css("a")
    if len(links) < MENU_LINKS:
        return False
    linked = sum(len((a.text(deep=True) or "").strip()) for a in links)
    whole = len("".join((node.text(deep=True) or "").split()))
    return linked <= MENU_LENGTH * len(links) and linked >= MENU_SHARE * whole


def table_cells(table: "LexborNode") -> list[TableCell]:
    """The cells of a data table; a span never leaves its row group.

    Header cells are `<th>` and all cells in `<thead>`.
    """
    from services.parser.formats.html_text import inline_text

    rows = [(group, cells) for group, cells in _rows(table)]
    sizes: dict[int, int] = {}
    for group, _ in rows:
        sizes[group] = sizes.get(group, 0) + 1
    seen: dict[int, int] = {}
    spans: list[list[Span]] = []
    for group, cells in rows:
        left = sizes[group] - seen.get(group, 0)
        seen[group] = seen.get(group, 0) + 1
        spans.append(
            [
                Span(
                    inline_text(cell),
                    _span(cell, "rowspan", left),
                    _span(cell, "colspan", MAX_SPAN),
                    header=cell.tag == "th" or _in_head(cell),
                )
                for cell in cells
            ]
        )
    return place(spans)


def _in_head(cell: "LexborNode") -> bool:
    row = cell.parent
    return row is not None and row.parent is not None and row.parent.tag == "thead"


def _span(cell: "LexborNode", name: str, left: int) -> int:
    value = (cell.attributes.get(name) or "1").strip()
    if not value.isdecimal() or len(value) > 6:
        return 1
    number = int(value)
    if number == 0:
        return left if name == "rowspan" else 1
    return min(number, left, MAX_SPAN)


def _rows(table: "LexborNode") -> Iterator[tuple[int, list["LexborNode"]]]:
    """The rows of this table alone, each with its row group, head first and foot last."""
    from services.parser.formats.html_text import children

    groups = [c for c in children(table) if c.tag in {"thead", "tbody", "tfoot", "tr"}]
    order = {"thead": 0, "tbody": 1, "tr": 1, "tfoot": 2}
    for index, group in enumerate(sorted(groups, key=lambda g: order[g.tag or "tr"])):
        rows = [group] if group.tag == "tr" else [r for r in children(group) if r.tag == "tr"]
        for row in rows:
            yield index, [c for c in children(row) if c.tag in {"td", "th"}]
