"""What is drawn on a sheet of Excel's packages: pictures, charts, diagrams, texts, comments.

Parts are found by the relations of the sheet's own part, which XLSX and XLSB share.
"""

import posixpath
import re
import zipfile
from typing import Any

from libs.contracts.faults import Code, DocumentFault
from services.parser.formats.base import ParseInput
from services.parser.formats.rows import clean
from services.parser.formats.sheets_charts import chart_of
from services.parser.formats.sheets_tables import Sheet

MAX_PART = 32 << 20
"""Bytes of a part that is read."""
_RELATIONS = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_TEXT = "{http://schemas.openxmlformats.org/drawingml/2006/main}t"
_PARAGRAPH = "{http://schemas.openxmlformats.org/drawingml/2006/main}p"
_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing}"
_ANCHORS = (f"{_DRAWING}oneCellAnchor", f"{_DRAWING}twoCellAnchor")
_EMBEDDED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}embed"
_PLACE = re.compile(r"\s*[0-9]{1,7}\s*")
_BLIP = "{http://schemas.openxmlformats.org/drawingml/2006/main}blip"
_NOTE = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}comment"
_NOTE_TEXT = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}t"


def add_drawn(given: ParseInput, sheet: Sheet, part: str) -> None:
    """Pictures, charts, diagrams, text boxes and comments of a sheet's part."""
    with zipfile.ZipFile(given.path) as archive:
        for kind, target, _ in relations(archive, part):
            if kind == "comments" and target.endswith(".xml"):
                for note in tree(archive, target).iter(_NOTE):
                    text = clean("".join(t.text or "" for t in note.iter(_NOTE_TEXT)))
                    sheet.notes += [f"{note.get('ref', '')}: {text}"] if text else []
            elif kind == "drawing":
                _add_drawing(archive, sheet, target)


def _add_drawing(archive: zipfile.ZipFile, sheet: Sheet, part: str) -> None:
    drawing = tree(archive, part)
    sheet.texts += _paragraphs(drawing)
    images: dict[str, bytes] = {}
    for kind, target, identity in relations(archive, part):
        if kind == "image" and archive.getinfo(target).file_size <= MAX_PART:
            sheet.images.append(archive.read(target))
            images[identity] = sheet.images[-1]
        elif kind == "chart" and (chart := chart_of(tree(archive, target))):
            sheet.charts.append(chart)
        elif kind == "diagramData":
            sheet.texts += _paragraphs(tree(archive, target))
    sheet.pictures |= _anchored(drawing, images)


def _paragraphs(root: Any) -> list[str]:
    texts = (clean("".join(t.text or "" for t in p.iter(_TEXT))) for p in root.iter(_PARAGRAPH))
    return [text for text in texts if text]


def _anchored(drawing: Any, images: dict[str, bytes]) -> dict[int, bytes]:
    """The leftmost image of a drawing by the row, from 0, in which its upper left corner lies."""
    found: dict[int, tuple[int, bytes]] = {}
    for anchor in (one for one in drawing.iter() if one.tag in _ANCHORS):
        corner = [anchor.findtext(f"{_DRAWING}from/{_DRAWING}{at}", "") for at in ("row", "col")]
        shown = (images.get(blip.get(_EMBEDDED, "")) for blip in anchor.iter(_BLIP))
        data = next((one for one in shown if one is not None), None)
        if data is None or not all(_PLACE.fullmatch(at) for at in corner):
            continue
        row, column = (int(at) for at in corner)
        if row not in found or column < found[row][0]:
            found[row] = (column, data)
    return {row: data for row, (_, data) in found.items()}


def relations(archive: zipfile.ZipFile, part: str) -> list[tuple[str, str, str]]:
    """The parts that `part` points to inside the container, as (kind, name, identity)."""
    folder, _, name = part.lstrip("/").rpartition("/")
    listed = f"{folder}/_rels/{name}.rels"
    if listed not in archive.namelist():
        return []
    found = []
    for relation in tree(archive, listed).iter(_RELATIONS):
        if relation.get("TargetMode") == "External":
            continue
        target = relation.get("Target", "")
        joined = target.lstrip("/") if target.startswith("/") else posixpath.join(folder, target)
        inside = posixpath.normpath(joined)
        if inside in archive.namelist():
            kind = relation.get("Type", "").rpartition("/")[2]
            found.append((kind, inside, relation.get("Id", "")))
    return found


def tree(archive: zipfile.ZipFile, part: str) -> Any:
    """The root of an XML part; `DocumentFault(TOO_LARGE)` past `MAX_PART` bytes."""
    from defusedxml.ElementTree import fromstring

    if archive.getinfo(part).file_size > MAX_PART:
        raise DocumentFault(Code.TOO_LARGE, "a drawing or note of the workbook is far too large")
    return fromstring(archive.read(part))
