"""The flow of a section: text units in reading order, and the assets that stand among them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from libs.contracts.artefacts.chunk import canonical_text, chunk_id
from libs.contracts.artefacts.rows import Row
from services.chunker.cut import Unit, units_of
from services.chunker.tables import TableText, read_table
from services.chunker.text import clean, one_line, shorten
from services.chunker.tree import Section

NEIGHBOUR_CHARACTERS = 200
IMAGE_CHARACTERS = 600
"""Longer text of an image (OCR of a whole page) joins the flow; the image keeps its head."""
_TABLE_CAPTION = re.compile(r"[<\[(〈《【\s]*(?:table|tab\.|표|表)", re.IGNORECASE)
_IMAGE_CAPTION = re.compile(
    r"[<\[(〈《【\s]*(?:fig|figure|image|photo|chart|그림|사진|도표|図|图)", re.IGNORECASE
)


@dataclass(eq=False)
class Asset:
    """An image or table that stands in the flow after `after` units of text. A table's
    content and ids follow when it is cut."""

    row: Row
    after: int
    table: TableText | None = None
    content: str = ""
    base_id: str = ""
    tokens: int = 0


@dataclass(eq=False)
class Flow:
    """A section with what is to be cut: its text and its assets."""

    section: Section
    units: list[Unit] = field(default_factory=list)
    assets: list[Asset] = field(default_factory=list)


def read_section(section: Section, asset_hashes: Mapping[str, str]) -> Flow:
    """The flow of a section. A heading with nothing below it is a text of its own, so that
    it is found; an image is known by the sha256 of its bytes where `asset_hashes` has it."""
    flow = Flow(section)
    captions, skipped = _captions(section.rows)
    before: Row | None = None
    for i, row in enumerate(section.rows):
        if i in skipped:
            continue
        if row.kind in ("table", "image"):
            asset = _asset(row, captions.get(i, row.caption or ""), len(flow.units), asset_hashes)
            if asset is not None:
                flow.assets.append(asset)
        if not _flows(row):
            continue
        if units := units_of(row, before):
            flow.units += units
            before = row
    if section.heading and not (flow.units or flow.assets or section.children):
        flow.units = units_of(section.heading, None)
    for asset in flow.assets:
        if asset.table is None and not asset.content:
            asset.content = _neighbour(flow, asset)
    return flow


def _flows(row: Row) -> bool:
    """Whether the row's text is part of the running text."""
    return row.kind != "table" and (row.kind != "image" or len(row.text) > IMAGE_CHARACTERS)


def _asset(row: Row, caption: str, after: int, hashes: Mapping[str, str]) -> Asset | None:
    if row.kind == "table":
        table = read_table(row, caption)
        return Asset(row, after, table) if table else None
    lines = dict.fromkeys(one_line(clean(t)) for t in (caption, row.text))
    content = "\n".join(shorten(line, IMAGE_CHARACTERS) for line in lines if line)
    stored = hashes.get(row.asset) if row.asset else None
    if stored is None and not (row.asset or content):
        return None
    base = f"i{stored}" if stored else chunk_id("image", canonical_text(row.asset or content))
    return Asset(row, after, None, content, base)


def _captions(rows: Sequence[Row]) -> tuple[dict[int, str], set[int]]:
    """Captions by the index of their asset, and the caption rows that they are taken from.

    A caption row belongs to the asset beside it that its words name, else to the one before
    it; it stays a text of its own when that asset has another caption already.
    """
    captions: dict[int, str] = {}
    taken: set[int] = set()
    for i, row in enumerate(rows):
        text = one_line(clean(row.text)) if row.kind == "caption" else ""
        beside = [j for j in (i - 1, i + 1) if 0 <= j < len(rows)]
        assets = [j for j in beside if rows[j].kind in ("table", "image")]
        if not text or not assets:
            continue
        named = [j for j in assets if _names(text, rows[j].kind)]
        j = (named or assets)[0]
        known = captions.get(j) or one_line(clean(rows[j].caption or ""))
        if known in ("", text):
            captions[j] = text
            taken.add(i)
    return captions, taken


def _names(caption: str, kind: str) -> bool:
    pattern = _TABLE_CAPTION if kind == "table" else _IMAGE_CAPTION
    return pattern.match(caption) is not None


def _neighbour(flow: Flow, asset: Asset) -> str:
    """The text line beside an image without words of its own, else its section's title."""
    i = asset.after
    beside = flow.units[i - 1 : i] or flow.units[i : i + 1]
    text = beside[0].text if beside else flow.section.title
    return shorten(one_line(text), NEIGHBOUR_CHARACTERS)
