"""Which blocks of a page are headings, by their words, looks and surroundings.

Strongest first: a chapter's marker, a name that only sections have (`Abstract`, `참고문헌`), a
number with a title behind it, a size or weight that the text around does not have. A line that
only stands apart counts where it is also written like a title and text follows it.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from services.parser.formats.numbering import (
    heading_number,
    is_bullet,
    list_marker,
    reads_like_heading,
)
from services.parser.formats.pdf_blocks import Block, merged
from services.parser.formats.pdf_page import Page

HEADING_SIZE = 1.15
"""Text this many times the body's size may be a heading by its size alone."""
SMALL = 0.7
"""Bold text this many times the body's size may be a title where it stands apart."""
MAX_HEADING = 200
MAX_FONT_LEVELS = 6
BESIDE = 0.33
"""Share of the letters that the text beside tables must have to show how the body is set."""
APART = 0.7
"""White space above a line that stands apart, in ems."""
MAX_BELOW = 3.0
"""White space, in ems, above the text that belongs to a title."""
MAX_WORDS = 14
UNCASED = 30
"""Characters of a numbered title in a script without capitals, such as Hangul."""
PARAGRAPH = 60
"""Characters of what follows a title that stands apart."""
EDGE = 0.08
"""Share of the page height, at its top and bottom, where a line that stands apart says little."""

_LETTERS = re.compile(r"[\W\d_]*(?:[^\W\d_\uac00-\ud7a3\u4e00-\u9fff](?:[\W\d_]+|$))*")
"""No letters, or single ones alone, as they stand over the parts of an index; Hangul and Han
are often spaced out in titles."""
_NUMERAL = re.compile(r"(?:[0-9]{1,2}|[IVX]{1,5}|[A-H])[.:]?")
_NOT_TITLE = re.compile(r"[.,;。]$|.{70,}:$|^[^\w\s(<\[「『《【“\"]+$")
_SMALL = re.compile(r"[^\w(<\[「『《【“\"‘']*[a-z]\S*(?:\s+\S+)?")
"""One or two words, the first in lower case: a logo, a term, a name in a program."""
_ADDRESS = re.compile(
    r"(?:https?://|www\.)\S+|\S+@\S+\.\w+|\S+\.(?:com|org|net|edu|gov|io|int|kr|eu|de|uk)(?:/\S*)?",
    re.IGNORECASE,
)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_DATE = re.compile(
    rf"(?:{_MONTH}\s+)?(?:\d{{1,2}}(?:st|nd|rd|th)?[,.]?\s+)?(?:of\s+)?(?:{_MONTH},?\s+)?(?:19|20)\d\d\.?"
    r"|\(?(?:19|20)\d\d\s*[.\-/년]\s*\d{1,2}\s*[.\-/월]?(?:\s*\d{1,2}\s*[.일]?)?\)?"
    r"|\d{1,2}[./]\d{1,2}[./](?:\d\d){1,2}",
    re.IGNORECASE,
)
_TEX = re.compile(r"\\[a-zA-Z]+\s*[{_^]|\\(?:frac|sum|int|times|left|right|mathrm|text)\b")
_FOOT = re.compile(
    r"[|•]\s*\d{1,4}$|^\d{1,4}\s*[|•]|\bpage\s+\d{1,4}\s+of\s+\d{1,4}$", re.IGNORECASE
)
"""A page number behind or before a bar, or with the number of pages: a running head or foot."""
_MATH = re.compile(r"[=≈≠≤≥∑∫√±×÷∂∇∞∈∀∃→⇒^_\\]")
_WORD = re.compile(r"[^\W\d_]{3,}|[\u1100-\ud7ff\u4e00-\u9fff]{2,}")
_NAMES = re.compile(
    r"(?:table of )?contents|abstract|(?:executive )?summary|introduction|foreword|preface|"
    r"acknowledge?ments?|conclusions?|references|bibliography|glossary|index|"
    r"appendix|appendices|list of (?:figures|tables)|"
    r"목\s*차|차\s*례|머\s*리\s*말|서\s*론|결\s*론|요\s*약|초\s*록|개\s*요|참\s*고\s*문\s*헌|부\s*록|찾아보기",
    re.IGNORECASE,
)


@dataclass
class Typography:
    """The shard's fonts: the body's size, whether the body is bold, and the heading sizes."""

    body: float = 10.0
    bold_body: bool = False
    sizes: list[float] = field(default_factory=list)
    letters: int = 0

    @classmethod
    def of(cls, pages: Sequence[Page]) -> "Typography":
        """Counted over the characters of `pages`."""
        sizes: Counter[float] = Counter()
        bold: Counter[float] = Counter()
        for page in pages:
            for segment in page.segments:
                size = round(segment.em * 2) / 2
                sizes[size] += len(segment.text)
                bold[size] += len(segment.text) if segment.bold else 0
        if not sizes:
            return cls()
        body = max(sizes, key=lambda s: (sizes[s], -s))
        larger = sorted((s for s in sizes if s >= HEADING_SIZE * body), reverse=True)
        merged: list[float] = []
        for size in larger:
            if not merged or size < 0.93 * merged[-1]:
                merged.append(size)
        largest = merged[: MAX_FONT_LEVELS - 1]
        return cls(body, 2 * bold[body] > sizes[body], largest, sizes.total())

    def or_with_tables(self, whole: "Typography") -> "Typography":
        """These fonts, of the text beside the tables, or those of both where tables hold nearly
        all: what is left beside them is titles."""
        return self if self.letters >= BESIDE * whole.letters else whole

    def level(self, size: float) -> int:
        """A first guess of a heading's level from its size: the larger, the higher."""
        for i, known in enumerate(self.sizes):
            if size >= 0.95 * known:
                return i + 1
        return min(len(self.sizes) + 1, MAX_FONT_LEVELS)

    def stands_out(self, block: Block) -> bool:
        """Whether the block is clearly larger than the body."""
        return block.em >= HEADING_SIZE * self.body


@dataclass(frozen=True, slots=True)
class Place:
    """A block with what stands above and below it in its column, on a page of this height.

    `over_figure` says that a picture or an empty frame begins right below the block.
    """

    block: Block
    above: Block | None
    below: Block | None
    height: float
    over_figure: bool = False


def is_heading(place: Place, typography: Typography) -> bool:
    """Whether the block is a heading, as far as its page and the shard's fonts tell."""
    block, text = place.block, place.block.text
    if block.runs_in or len(text) > MAX_HEADING or len(block.lines) > 3:
        return False
    if _LETTERS.fullmatch(text):
        return False
    if _NAMES.fullmatch(text) and len(block.lines) == 1:
        return True
    if _FOOT.search(text):
        return False
    item = list_marker(text)
    if item is not None and is_bullet(item[0]):
        return False
    large = typography.stands_out(block)
    bold = _is_bold_title(place, typography)
    number = heading_number(text)
    if number is not None and reads_like_heading(number):
        deep = number.depth >= 2 and len(block.lines) == 1 and len(text) < 80
        full = block.em >= 0.97 * typography.body
        return large or bold or number.strong or (deep and full) or _titled(place)
    if _NOT_TITLE.search(text):
        return large and bold and len(block.lines) <= 2 and text.endswith(".")
    if _leads_to_title(place, typography):
        return False
    if is_no_title(text) or (_SMALL.fullmatch(text) and not (bold and _stands_apart(place))):
        return False
    return large or bold or _titled(place)


def join_numerals(blocks: Sequence[Block], typography: Typography) -> list[Block]:
    """A number that stands by itself right above its title is one block with it."""
    joined: list[Block] = []
    for block in blocks:
        if joined and _numbers(joined[-1], block, typography):
            joined[-1] = replace(merged(joined[-1], block), em=block.em)
        else:
            joined.append(block)
    return joined


def _numbers(number: Block, title: Block, typography: Typography) -> bool:
    """Whether `number` is no more than a number, and `title` is set as a title below it."""
    if len(number.lines) > 1 or len(title.lines) > 2 or len(title.text) > MAX_HEADING:
        return False
    strong = heading_number(number.text)
    if not _NUMERAL.fullmatch(number.text) and (strong is None or strong.title):
        return False
    if not all(_is_emphatic(b, typography) for b in (number, title)):
        return False
    em = max(number.em, title.em)
    near = title.y0 - number.y1 <= em and min(number.x1, title.x1) > max(number.x0, title.x0)
    first = title.text[:1]
    return near and first.isalpha() and not first.islower() and not _NOT_TITLE.search(title.text)


def _is_emphatic(block: Block, typography: Typography) -> bool:
    return typography.stands_out(block) or (block.bold and not typography.bold_body)


def _is_bold_title(place: Place, typography: Typography) -> bool:
    """Whether the block is bold and the body is not: in the body's size, or in a smaller one
    where it stands apart over what it can be the title of."""
    block, below = place.block, place.below
    if not block.bold or typography.bold_body:
        return False
    if block.em >= 0.93 * typography.body:
        return True
    if block.em < SMALL * typography.body or _at_edge(place) or not _has_white_above(place):
        return False
    if below is not None and below.bold:
        return False
    if place.over_figure or heading_number(block.text) is not None:
        return True
    if below is None or not _is_near(place):
        return False
    return block.em >= 0.95 * below.em and (len(below.lines) > 1 or len(below.text) >= PARAGRAPH)


def _leads_to_title(place: Place, typography: Typography) -> bool:
    """Whether a larger title follows at once: a line above it that has no text of its own."""
    block, below = place.block, place.below
    if below is None or len(below.lines) > 3 or len(below.text) > MAX_HEADING:
        return False
    larger = below.em >= HEADING_SIZE * block.em and typography.stands_out(below)
    return larger and below.y0 - block.y1 <= APART * below.em and below.bold >= block.bold


def is_no_title(text: str) -> bool:
    """Whether a short text is a date, an address or a formula."""
    stripped = text.strip()
    if _DATE.fullmatch(stripped) or _ADDRESS.fullmatch(stripped):
        return True
    if _TEX.search(stripped):
        return True
    if not _MATH.search(stripped):
        return False
    worded = sum(len(word) for word in _WORD.findall(stripped))
    return 2 * worded < len(stripped.replace(" ", ""))


def _titled(place: Place) -> bool:
    """A line that stands apart, is written like a title, and has text below it."""
    block, below = place.block, place.below
    if below is None or len(block.lines) > 1 or len(below.text) < PARAGRAPH:
        return False
    if _at_edge(place):
        return False
    if block.em < 0.95 * below.em or len(block.text.split()) > MAX_WORDS:
        return False
    if not _stands_apart(place):
        return False
    return block.em >= HEADING_SIZE * below.em or _cased_like_a_title(block.text)


def _stands_apart(place: Place) -> bool:
    """Whether there is white space above the block, and text near below it."""
    return _is_near(place) and _has_white_above(place)


def _is_near(place: Place) -> bool:
    """Whether what stands below begins near the block."""
    block, below = place.block, place.below
    return below is not None and below.y0 - block.y1 <= MAX_BELOW * block.em


def _has_white_above(place: Place) -> bool:
    block, above = place.block, place.above
    return above is None or block.y0 - above.y1 >= APART * block.em


def _at_edge(place: Place) -> bool:
    """Whether the block stands where heads and feet do."""
    top, bottom = EDGE * place.height, (1 - EDGE) * place.height
    return place.block.y1 < top or place.block.y0 > bottom


def _cased_like_a_title(text: str) -> bool:
    """Capitals throughout, or at the head of every longer word, of which there are two; in a
    script without them a short title with a number."""
    number = heading_number(text)
    title = number.title if number is not None else text
    if not any(c.isupper() or c.islower() for c in title):
        return number is not None and len(title) <= UNCASED
    words = [w for w in re.findall(r"[^\W\d_][\w'’-]*", title) if len(w) > 3 or w.isupper()]
    if not words:
        return False
    capital = sum(w[0].isupper() for w in words)
    return capital == len(words) and (len(words) > 1 or title.isupper() or number is not None)
