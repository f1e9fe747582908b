"""A PDF page as the layout sees it: segments of text, rulings, pictures.

Coordinates are PDF points from the top left of the page as it is shown (crop box, rotation
applied).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from libs.contracts.artefacts.rows import TableCell
from services.parser.formats.pdf_dashes import respell
from services.parser.formats.rows import clean

_LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
)


def plain_text(text: str) -> str:
    """Clean text with ligatures taken apart."""
    return clean(text if text.isascii() else text.translate(_LIGATURES))


@dataclass(slots=True)
class Area:
    """A rectangle on the page; the base of everything that is laid out."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def bbox(self) -> tuple[float, float, float, float]:
        """The corners, rounded to a hundredth of a point."""
        return (round(self.x0, 2), round(self.y0, 2), round(self.x1, 2), round(self.y1, 2))

    def holds(self, x: float, y: float, margin: float = 0.0) -> bool:
        """Whether the point lies inside, or outside by at most `margin`."""
        return (
            self.x0 - margin <= x <= self.x1 + margin and self.y0 - margin <= y <= self.y1 + margin
        )

    def overlap(self, other: "Area") -> float:
        """The common area in square points."""
        width = min(self.x1, other.x1) - max(self.x0, other.x0)
        height = min(self.y1, other.y1) - max(self.y0, other.y0)
        return max(0.0, width) * max(0.0, height)

    @property
    def size(self) -> float:
        """The area in square points."""
        return max(0.0, self.x1 - self.x0) * max(0.0, self.y1 - self.y0)


@dataclass(slots=True)
class Word(Area):
    """A word and its box."""

    text: str = ""


class WordBox(Protocol):
    """A word as liteparse gives it."""

    text: str
    x: float
    y: float
    width: float
    height: float


@dataclass(slots=True)
class Segment(Area):
    """Words that stand side by side in one font; `em` is the font's size in points.

    `word_boxes` stay as they were read: only what lies in tables is ever taken apart, and then
    spelt as `spelling` has it (see `pdf_dashes`).
    """

    text: str = ""
    em: float = 10.0
    bold: bool = False
    word_boxes: Sequence[WordBox] = ()
    spelling: dict[str, str] | None = None

    def words(self) -> list[Word]:
        """The words with their boxes; the whole segment where the reader knows no words."""
        if not self.word_boxes:
            return [Word(self.x0, self.y0, self.x1, self.y1, self.text)]
        known = self.spelling or {}
        return [
            Word(w.x, w.y, w.x + w.width, w.y + w.height, text)
            for w in self.word_boxes
            if (text := plain_text(respell(w.text, known)))
        ]


@dataclass(slots=True)
class Picture(Area):
    """An image placed on the page; `asset` is its name once its bytes are kept."""

    data: bytes = b""
    asset: str | None = None
    media_type: str | None = None
    caption: str | None = None


@dataclass(slots=True)
class Table(Area):
    """A table found on the page, its cells filled."""

    cells: list[TableCell] = field(default_factory=list)
    caption: str | None = None


@dataclass
class Page:
    """One page, read but not laid out yet. `number` counts from 1 in the document.

    A page whose text stands sideways is read turned by `turn` degrees clockwise, so that it
    stands upright here; `shown` gives boxes on the page as it is. `has_files` says that files
    are pinned to the page.
    """

    number: int
    width: float
    height: float
    segments: list[Segment]
    hidden: list[Segment]
    sideways: list[Segment]
    horizontal: list[tuple[float, float, float]]
    vertical: list[tuple[float, float, float]]
    pictures: list[Picture]
    notes: list[str]
    garbled: bool = False
    small_pictures: int = 0
    turn: int = 0
    has_files: bool = False

    @property
    def letters(self) -> int:
        """How many characters of upright, visible text the page has."""
        return sum(len(s.text) for s in self.segments)

    def shown(self, area: Area) -> tuple[float, float, float, float]:
        """The area's box on the page as a reader sees it, in points from the top left."""
        x0, y0, x1, y1 = area.bbox
        match self.turn:
            case 90:
                box = (self.height - y1, x0, self.height - y0, x1)
            case 180:
                box = (self.width - x1, self.height - y1, self.width - x0, self.height - y0)
            case 270:
                box = (y0, self.width - x1, y1, self.width - x0)
            case _:
                return area.bbox
        return (round(box[0], 2), round(box[1], 2), round(box[2], 2), round(box[3], 2))
