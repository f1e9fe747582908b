"""HWPML, the XML of Hangul documents (`.hml`), in the shape that `hwp` walks.

After Hancom, "한글문서파일형식 3.0 / HWPML", revision 1.2, 2011.
"""

from typing import Any

from services.parser.formats.base import ParseInput
from services.parser.formats.base64_text import from_base64
from services.parser.formats.xml_tree import xml_root

HEADINGS = "개요"
"""The beginning of the names of styles for the outline."""
_SKIPPED = frozenset({"TABLE", "FOOTNOTE", "ENDNOTE", "HEADER", "FOOTER", "HIDDENCOMMENT",
                      "PICTURE", "SECDEF", "COLDEF", "SHAPEOBJECT"})  # fmt: skip
_BREAKS = {"LINEBREAK": "\n", "TAB": "\t", "NBSPACE": " ", "FWSPACE": " ", "HYPHEN": "-"}
MAX_DEPTH = 60


def read_hwpml(given: ParseInput) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The document, and its pictures by name. Raises as `xml_root`."""
    root = xml_root(given)
    reader = _Reader(root)
    sections = [reader.section(section) for section in root.iter("SECTION")]
    return {"sections": sections}, _pictures(root)


def _pictures(root: Any) -> dict[str, bytes]:
    """The embedded pictures by the number under which they are referred to."""
    found: dict[str, bytes] = {}
    packed = {data.get("Id", ""): data for data in root.iter("BINDATA")}
    for item in root.iter("BINITEM"):
        name = item.get("BinData", "")
        if (data := packed.get(name)) is None:
            continue
        content = from_base64(data.text or "")
        if content and data.get("Compress") == "true":
            content = _inflated(content)
        if content:
            found[name] = content
    return found


def _inflated(data: bytes) -> bytes:
    import zlib

    try:
        return zlib.decompressobj(-15).decompress(data, 64 << 20)
    except zlib.error:
        return b""


class _Reader:
    """Paragraphs and tables as unhwp gives them; sizes and weights by the shapes of the head."""

    def __init__(self, root: Any) -> None:
        self._shapes = {
            shape.get("Id", ""): {
                "font_size": _number(shape.get("Height", ""), 1000) / 100,
                "bold": shape.find("BOLD") is not None,
            }
            for shape in root.iter("CHARSHAPE")
        }
        self._styles = {s.get("Id", ""): s.get("Name", "") for s in root.iter("STYLE")}

    def section(self, section: Any) -> dict[str, Any]:
        content = [b for p in section.findall("P") for b in self._blocks(p, 0)]
        return {
            "content": content,
            "header": self._edge(section, "HEADER"),
            "footer": self._edge(section, "FOOTER"),
        }

    def _edge(self, section: Any, name: str) -> list[dict[str, Any]]:
        return [
            {"Paragraph": self._paragraph(p, 0)} for edge in section.iter(name)
            for p in edge.iter("P")
        ]  # fmt: skip

    def _blocks(self, paragraph: Any, depth: int) -> list[dict[str, Any]]:
        """The paragraph, then the tables that stand in it."""
        made = self._paragraph(paragraph, depth)
        blocks: list[dict[str, Any]] = [{"Paragraph": made}] if made["content"] else []
        for run in paragraph.findall("TEXT"):
            for table in run.findall("TABLE") if depth < MAX_DEPTH else ():
                blocks.append({"Table": self._table(table, depth + 1)})
        return blocks

    def _table(self, table: Any, depth: int) -> dict[str, Any]:
        return {
            "has_header": table.get("RepeatHeader") == "true",
            "rows": [
                {"cells": [self._cell(c, depth) for c in row.findall("CELL")]}
                for row in table.findall("ROW")
            ],
        }

    def _cell(self, cell: Any, depth: int) -> dict[str, Any]:
        content = []
        for paragraph in cell.findall("PARALIST/P"):
            for block in self._blocks(paragraph, depth):
                content.append(block if "Table" in block else block["Paragraph"])
        return {
            "content": content,
            "rowspan": _number(cell.get("RowSpan", ""), 1),
            "colspan": _number(cell.get("ColSpan", ""), 1),
        }

    def _paragraph(self, paragraph: Any, depth: int) -> dict[str, Any]:
        pieces: list[Any] = []
        for run in paragraph.findall("TEXT"):
            shape = self._shapes.get(run.get("CharShape", ""), {})
            self._inline(run, shape, pieces, depth)
        name = self._styles.get(paragraph.get("Style", ""), "")
        level = name.removeprefix(HEADINGS).strip()
        outline: dict[str, Any] = (
            {"head": {"kind": "Outline", "level": int(level) - 1}}
            if name.startswith(HEADINGS) and level in {*"123456789"}
            else {}
        )
        return {"content": pieces, "style": outline}

    def _inline(self, run: Any, style: dict[str, Any], pieces: list[Any], depth: int) -> None:
        for element in run:
            if element.tag == "CHAR":
                text = (element.text or "") + "".join(
                    _BREAKS.get(child.tag, "") + (child.tail or "") for child in element
                )
                if text:
                    pieces.append({"Text": {"text": text, "style": style}})
            elif element.tag in ("FOOTNOTE", "ENDNOTE") and depth < MAX_DEPTH:
                notes = [self._paragraph(p, depth + 1) for p in element.findall("PARALIST/P")]
                pieces.append({"Footnote": {"content": notes}})
            elif element.tag == "EQUATION":
                script = "".join(s.text or "" for s in element.iter("SCRIPT"))
                pieces.append({"Equation": {"script": script}})
            elif element.tag == "PICTURE":
                for image in element.iter("IMAGE"):
                    pieces.append({"Image": {"id": image.get("BinItem", "")}})
            elif element.tag not in _SKIPPED and depth < MAX_DEPTH:
                for inner in element.iter("P"):
                    pieces += ["LineBreak"] if pieces else []
                    pieces += self._paragraph(inner, depth + 1)["content"]


def _number(text: str, default: int) -> int:
    return int(text) if text.isdecimal() and len(text) < 7 and int(text) > 0 else default
