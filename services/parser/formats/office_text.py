"""Text of docling items: pieces joined, headings found where an author used no styles."""

from typing import TYPE_CHECKING, Any

from libs.contracts.artefacts.rows import Row
from services.parser.formats.korean import article
from services.parser.formats.numbering import NumberLevels, heading_number, reads_like_heading
from services.parser.formats.rows import Rows

if TYPE_CHECKING:
    from docling_core.types.doc.document import DoclingDocument

MAX_BOLD_HEADING = 100
_NO_SPACE_BEFORE = ".,;:!?)]}%’”'\""


def joined(document: "DoclingDocument", item: Any, separator: str = " ") -> str:
    """The texts below an item; pieces of one paragraph keep punctuation where it was."""
    text = ""
    for child in item.children:
        node = child.resolve(document)
        kind = type(node).__name__
        if kind == "TableItem":
            rows: dict[int, list[str]] = {}
            for cell in node.data.table_cells:
                reference = getattr(cell, "ref", None)
                own = joined(document, reference.resolve(document)) if reference else cell.text
                rows.setdefault(cell.start_row_offset_idx, []).append(own)
            lines = (" | ".join(filter(None, row)) for row in rows.values())
            piece = separator.join(filter(None, lines))
        else:
            piece = ticked(node, getattr(node, "text", "") or "")
            if kind == "ListItem" and piece:
                piece = f"{node.marker or '•'} {piece}"
            inner = joined(document, node, " " if kind == "InlineGroup" else separator)
            piece = separator.join(p for p in (piece, inner) if p)
        if not piece:
            continue
        tight = separator == " " and (
            piece[0] in _NO_SPACE_BEFORE or not text or text[-1] in "([{ “‘"
        )
        text += piece if tight or not text else separator + piece
    return text


def ticked(item: Any, text: str) -> str:
    """The text behind its box, where it has one to tick."""
    label = getattr(item, "label", "")
    label = str(getattr(label, "value", label))
    if not label.startswith("checkbox"):
        return text
    return f"{'☑' if label == 'checkbox_selected' else '☐'} {text}"


def unstyled_headings(rows: Rows) -> None:
    """Headings by their numbers, else by bold, in a document whose author used no styles."""
    levels = NumberLevels()
    found = False
    _part_articles(rows)
    for i, row in enumerate(rows.rows):
        if row.kind not in {"paragraph", "list_item"} or row.hidden or "\n" in row.text:
            continue
        item = row.kind == "list_item"
        text = f"{row.marker} {row.text}" if item else row.text
        number = heading_number(text)
        if item and not (number is not None and number.strong):
            continue
        if number is not None and reads_like_heading(number) and (number.strong or row.bold):
            update = {
                "kind": "heading",
                "text": text,
                "level": levels.level(number),
                "evidence": "numbering",
                "marker": number.marker,
            }
        elif row.bold and len(row.text) <= MAX_BOLD_HEADING and row.text[-1:] not in ".,;":
            update = {"kind": "heading", "level": 1, "evidence": "font"}
        else:
            continue
        found = True
        rows.rows[i] = row.model_copy(update=update)
    if rows.rows and not found:
        rows.note("flat_structure", "the document marks no headings")


def _part_articles(rows: Rows) -> None:
    """Articles of a law in two rows: the title, and the text that goes on behind it."""
    made: list[Row] = []
    for row in rows.rows:
        parted = article(row.text) if row.kind == "paragraph" and not row.hidden else None
        pieces = parted if parted is not None and parted[1] else (row.text,)
        for text in pieces:
            update = {"order": len(made), "text": text}
            made.append(row if len(pieces) == 1 else row.model_copy(update=update))
    if len(made) > len(rows.rows):
        rows.rows[:] = [row.model_copy(update={"order": i}) for i, row in enumerate(made)]
