"""Tables as HTML, as grids of cells, and TEDS between two of them."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from eval.parsing.nid import collapse
from eval.parsing.trees import Node, edit_distance
from libs.contracts.artefacts.rows import TableCell

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_MAX_SPAN = 1000


def teds(truth: str, found: str) -> float:
    """Tree edit distance similarity of two HTML tables.

    `1 - D / max(|truth|, |found|)`, where a table is a tree of rows and cells, cells carry
    their spans as label and their characters as text, and D is the tree edit distance
    (Zhong, ShafieiBavani and Jimeno Yepes, "Image-based table recognition: data, model, and
    evaluation", ECCV 2020, arXiv:1911.10683). As in their implementation the table node
    itself is not counted. Header cells count as cells, row groups are left out and white
    space is collapsed, so that only grid, spans and text are compared.
    """
    expected, tree = _tree(truth), _tree(found)
    if expected is None or tree is None:
        return 0.0
    size = max(expected.size(), tree.size()) - 1
    if not size:
        return 1.0
    return max(0.0, 1 - edit_distance(expected, tree) / size)


def html_tables(text: str) -> list[str]:
    """The outermost HTML tables of a text, in order."""
    if "<table" not in text.lower():
        return []
    from selectolax.lexbor import LexborHTMLParser

    found = LexborHTMLParser(text).css("table")
    return [table.html or "" for table in found if not _inside_table(table)]


def html_cells(table: str) -> tuple[TableCell, ...]:
    """The cells of an HTML table at the places that the HTML table model gives them."""
    node = _table(table)
    if node is None:
        return ()
    cells: list[TableCell] = []
    taken: set[tuple[int, int]] = set()
    for r, row in enumerate(_rows(node)):
        column = 0
        for cell in _children(row, "td", "th"):
            while (r, column) in taken:
                column += 1
            down, across = _span(cell, "rowspan"), _span(cell, "colspan")
            taken |= {(r + i, column + j) for i in range(down) for j in range(across)}
            text = collapse(cell.text(separator=" "))
            cells.append(
                TableCell(row=r, column=column, row_span=down, column_span=across, text=text)
            )
            column += across
    return tuple(cells)


def cells_html(cells: Sequence[TableCell]) -> str:
    """Compact HTML of the cells, row by row."""
    rows: dict[int, list[TableCell]] = {}
    for cell in sorted(cells, key=lambda c: (c.row, c.column)):
        rows.setdefault(cell.row, []).append(cell)
    lines = (
        "<tr>" + "".join(_cell_html(c) for c in rows.get(r, ())) + "</tr>"
        for r in range(max(rows, default=-1) + 1)
    )
    return f"<table>{''.join(lines)}</table>"


def grid_cells(rows: Sequence[Sequence[str | None]]) -> tuple[TableCell, ...]:
    """Cells of a grid without spans; None is an empty cell."""
    return tuple(
        TableCell(row=r, column=c, text=collapse(text or ""))
        for r, row in enumerate(rows)
        for c, text in enumerate(row)
    )


def _cell_html(cell: TableCell) -> str:
    down = f' rowspan="{cell.row_span}"' if cell.row_span > 1 else ""
    across = f' colspan="{cell.column_span}"' if cell.column_span > 1 else ""
    return f"<td{down}{across}>{escape(cell.text, quote=False)}</td>"


def _tree(html: str) -> Node | None:
    table = _table(html)
    if table is None:
        return None
    root = Node("table")
    for row in _rows(table):
        cells = [
            Node(("td", _span(c, "rowspan"), _span(c, "colspan")), collapse(c.text(separator=" ")))
            for c in _children(row, "td", "th")
        ]
        root.children.append(Node("tr", children=cells))
    return root


def _table(html: str) -> "LexborNode | None":
    from selectolax.lexbor import LexborHTMLParser

    return LexborHTMLParser(html).css_first("table")


def _rows(table: "LexborNode") -> Iterator["LexborNode"]:
    for child in _children(table, "tr", "thead", "tbody", "tfoot"):
        if child.tag == "tr":
            yield child
        else:
            yield from _children(child, "tr")


def _children(node: "LexborNode", *tags: str) -> Iterator["LexborNode"]:
    child = node.child
    while child is not None:
        if child.tag in tags:
            yield child
        child = child.next


def _span(cell: "LexborNode", name: str) -> int:
    value = (cell.attributes.get(name) or "1").strip()
    return min(max(int(value), 1), _MAX_SPAN) if value.isdecimal() else 1


def _inside_table(table: "LexborNode") -> bool:
    node = table.parent
    while node is not None:
        if node.tag == "table":
            return True
        node = node.parent
    return False
