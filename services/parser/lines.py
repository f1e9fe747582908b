"""What the join remembers of a row while it looks at the whole document: a light record."""

import re
import unicodedata
from dataclasses import dataclass

from libs.contracts.artefacts.rows import HeadingEvidence, Row, RowKind

SHORT = 240
"""Characters up to which a row may be a heading or page furniture."""

_FOLDED = re.compile(r"[\W_]+")


@dataclass(slots=True, frozen=True)
class Line:
    """A short row: where it stands (`index` over the whole document) and how it looks.

    `top`, `bottom` and `left` are in points on its page, None where it has no box.
    """

    index: int
    kind: RowKind
    text: str
    page: int | None
    level: int | None
    evidence: HeadingEvidence | None
    size: float | None
    bold: bool
    top: float | None = None
    bottom: float | None = None
    left: float | None = None


@dataclass(slots=True, frozen=True)
class Decision:
    """What the join makes of one row: a heading of this level, for this reason.

    `text` replaces the row's where two rows are one title.
    """

    level: int
    evidence: HeadingEvidence
    text: str | None = None


def line_of(row: Row, index: int) -> Line:
    """The record of a row."""
    box = row.boxes[0].bbox if row.boxes else None
    return Line(
        index, row.kind, row.text, row.page, row.level, row.evidence, row.font_size, row.bold,
        box[1] if box else None, box[3] if box else None, box[0] if box else None,
    )  # fmt: skip


def folded(text: str) -> str:
    """Letters and digits alone, NFKC, case folded: what two renderings of a title share."""
    return _FOLDED.sub("", unicodedata.normalize("NFKC", text)).casefold()
