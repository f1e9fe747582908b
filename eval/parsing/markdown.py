"""Rows as Markdown for scoring: headings, lists, tables as compact HTML, furniture kept."""

from collections.abc import Sequence

from eval.parsing.nid import collapse
from eval.parsing.tables import cells_html
from libs.contracts.artefacts.rows import Row

_BULLETS = frozenset("-*+•◦▪·●○■□‣⁃–—∙")


def markdown(rows: Sequence[Row]) -> str:
    """The visible rows in reading order, one block each, with an empty line between blocks.

    Page headers and footers are kept, as the annotated truths keep them. A heading stands on
    one line; its level is cut at 6, the deepest that Markdown has.
    """
    return "\n\n".join(block for row in rows if not row.hidden and (block := _block(row))) + "\n"


def _block(row: Row) -> str:
    if row.kind == "heading":
        return f"{'#' * min(row.level or 1, 6)} {collapse(row.text)}" if row.text else ""
    if row.kind == "table":
        return cells_html(row.cells) if row.cells else (row.html or row.text)
    if row.kind == "image":
        return f"![{collapse(row.text)}]({row.asset or ''})" if row.text else ""
    if row.kind == "code":
        return f"```\n{row.text}\n```"
    if row.kind == "list_item":
        indent = "  " * ((row.level or 1) - 1)
        return f"{indent}{_marker(row.marker)} {row.text}"
    return row.text


def _marker(marker: str | None) -> str:
    return "-" if not marker or marker in _BULLETS else marker
