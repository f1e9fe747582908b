"""Captions given to the image or table that they stand beside."""

import re

from libs.contracts.artefacts.rows import Row

_TABLE = re.compile(r"[<\[(〈《【]?\s*(?:table|표|표\s|表)", re.IGNORECASE)


def attach_captions(rows: list[Row]) -> None:
    """Repeat each caption in the `caption` of the asset next to it, in place.

    A table's caption stands above it as a rule and a figure's below, so a caption looks there
    first. An asset keeps a caption that it already has.
    """
    for i, row in enumerate(rows):
        if row.kind != "caption":
            continue
        table = _TABLE.match(row.text) is not None
        order = (i + 1, i - 1) if table else (i - 1, i + 1)
        wanted = "table" if table else "image"
        near = [j for j in order if 0 <= j < len(rows) and rows[j].kind in {"table", "image"}]
        near = [j for j in near if rows[j].caption is None and rows[j].page == row.page]
        near.sort(key=lambda j: rows[j].kind != wanted)
        if near:
            rows[near[0]] = rows[near[0]].model_copy(update={"caption": row.text})
