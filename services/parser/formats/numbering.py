"""Numbers of headings and markers of lists, in Korean and English documents.

A heading's number names its scheme (`제1장` chapter, `1.2` decimal, `가.` hangul); which level
a scheme has in one document follows from the order in which the document nests them.
"""

import re
from dataclasses import dataclass, field

# Schemes with a fixed order: an outer one can never stand below an inner one.
RANKS = {"part": 10, "chapter": 20, "section": 30, "subsection": 40, "article": 50}

_KOREAN_UNITS = {"편": "part", "부": "part", "장": "chapter", "절": "section", "관": "subsection",
                 "조": "article"}  # fmt: skip
_ENGLISH_UNITS = {
    "part": "part",
    "book": "part",
    "volume": "part",
    "chapter": "chapter",
    "appendix": "chapter",
    "annex": "chapter",
    "schedule": "chapter",
    "section": "section",
    "article": "article",
}
_NUMBER_WORDS = (
    "(?:(?:twenty|thirty|forty|fifty)[- ]?)?(?:one|two|three|four|five|six|seven|eight|nine)|"
    "ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|"
    "twenty|thirty|forty|fifty"
)
_KOREAN = re.compile(
    r"(?P<marker>제\s{0,2}[0-9]{1,4}\s?(?P<unit>편|부|장|절|관|조)(?:의\s?[0-9]{1,3})?)"
    r"(?=$|[\s.:(（【\[])\.?\s*(?P<title>.*)$",
    re.DOTALL,
)
_ENGLISH = re.compile(
    r"(?P<marker>(?P<unit>part|book|volume|chapter|appendix|annex|schedule|section|article)"
    rf"\s+(?:[0-9]{{1,4}}(?:\.[0-9]{{1,3}}){{0,4}}|[ivxlc]{{1,8}}|[a-z]|{_NUMBER_WORDS}))"
    r"(?=$|[\s.:)\-–—(])[.:]?\s*(?:[-–—]\s*)?(?P<title>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_SUPPLEMENT = re.compile(
    r"(?P<marker>부\s{0,9}칙|\[?별\s?[표지](?:\s?제?\s?[0-9]{1,3}(?:호?의?\s?[0-9]{0,3})?호?(?:\s?서식)?)?\]?|"
    r"[\[【<〈(](?:붙임|별첨|첨부|참고)\s?[0-9]{0,2}[\]】>〉)]|(?:붙임|별첨|참고)\s?[0-9]{1,2}(?!\s?[.)])|"
    r"부\s?록(?:\s?[0-9A-Z]{1,3})?)(?=$|[\s.:<(（\[])\s*(?P<title>.*)$",
    re.DOTALL,
)
_DECIMAL = re.compile(
    r"(?P<marker>(?:[0-9]{1,3}|[A-Z](?=\.[0-9]))(?:\.[0-9]{1,3}){0,5})"
    r"(?P<end>\.?)[ \t\u3000]+(?P<title>\S.*)$",
    re.DOTALL,
)
_TIGHT_DECIMAL = re.compile(
    r"(?P<marker>[0-9]{1,2}(?:\.[0-9]{1,2}){0,4})\.(?P<title>[^\W\d].*)$", re.DOTALL
)
_LETTERS = "가나다라마바사아자차카타파하"
_SIMPLE = tuple(
    (scheme, re.compile(rf"(?P<marker>{marker}){gap}(?P<title>\S.*)$", re.DOTALL))
    for scheme, marker, gap in (
        ("roman", r"[Ⅰ-Ⅻⅰ-ⅻ]{1,3}\.?|[IVX]{1,5}\.", r"\s+"),
        ("hangul", rf"[{_LETTERS}]\.", r"\s*"),
        ("number-paren", r"[0-9]{1,3}\)", r"\s*"),
        ("hangul-paren", rf"[{_LETTERS}]\)", r"\s*"),
        ("paren-number", r"\([0-9]{1,3}\)", r"\s*"),
        ("paren-hangul", rf"\([{_LETTERS}]\)", r"\s*"),
        ("circled", r"[①-⑳]", r"\s*"),
        ("letter", r"\(?[A-Za-z][.)]", r"\s+"),
    )
)
BULLETS = "•◦▪▫‣⁃∙·○●◯■□◆◇▶►▸➢➔✓✔❍❖※☞☐☑ㆍ󰊱–—*+-"
_BULLET = re.compile(
    rf"(?P<marker>[{re.escape(BULLETS)}\uf000-\uf0ff]|o(?=\s))\s+(?P<title>\S.*)$", re.DOTALL
)
_TIGHT_BULLET = re.compile(
    r"(?P<marker>[•◦▪▫‣○●■□◆◇▶►➢❍❖※☞☐☑ㆍ\uf000-\uf0ff])(?!(?P=marker))(?P<title>\S.*)$", re.DOTALL
)
_ORDERED = re.compile(
    r"(?P<marker>[0-9]{1,3}[.)]|\([0-9]{1,3}\)|\(?[a-zA-Z][.)]|\(?[ivxIVX]{1,5}[.)]|[①-⑳㉮-㉻]|"
    r"\(?[가나다라마바사아자차카타파하][.)])\s+(?P<title>\S.*)$",
    re.DOTALL,
)
_NUMBERED = re.compile(
    rf"[0-9(Ⅰ-Ⅻⅰ-ⅻ①-⑳제\[【<〈붙별첨참]|부\s{{0,9}}[칙록]|{'|'.join(_ENGLISH_UNITS)}|[a-z][.)]|[{_LETTERS}][.)]"
    r"|[IVX]{1,5}\.|[A-Z]\.[0-9]",
    re.IGNORECASE,
)
"""How every text begins that has a heading's number; some others do as well."""
_MARKED = re.compile(
    rf"[0-9(①-⑳㉮-㉻{re.escape(BULLETS)}\uf000-\uf0ff]|o\s|[a-zA-Z{_LETTERS}][.)]|[ivxIVX]{{1,5}}[.)]"
)
"""How every text begins that has a list marker; some others do as well."""
_TELEPHONE = re.compile(r"\(?[0-9]{2,4}\)?[ .-][0-9]{3,4}[ .-][0-9]{4}\b")
_CAPTION = re.compile(
    r"[<\[(〈《【]?\s*(?P<kind>figure|fig\.?|table|chart|exhibit|plate|diagram|listing|scheme|"
    r"그림|표|도표|사진|도|図|表|图)\s*\.?\s*(?:[A-Z][.\-–]?)?[0-9]{1,3}(?:[.\-–][0-9]{1,3}){0,3}"
    r"(?=$|[\s.:)\]>〉》】|,–—-])",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?;,。…]$|(?:다|요|함|음)\.$")
_KOREAN_RUNNING = re.compile(r"(?:및|또는|부터|까지|내지|제\s?[0-9]+|에서|의\s)")


@dataclass(frozen=True)
class Number:
    """A heading's number. `depth` counts the parts of a decimal number, else 1.

    `strong` says that the marker names a heading by its own words (`Chapter 4`, `제1장`).
    """

    marker: str
    scheme: str
    title: str
    depth: int = 1
    strong: bool = False

    @property
    def is_korean(self) -> bool:
        """Whether the marker is one of Korean laws: `제1장`, `부칙`, `[별표 1]`."""
        return self.marker[0] in "제부별붙첨참[【<〈("


def heading_number(text: str) -> Number | None:
    """The number that `text` begins with, or None. Whether it is a heading is not decided here."""
    if _NUMBERED.match(text) is None:
        return None
    head = text[:400]
    if (found := _KOREAN.match(head)) and not _KOREAN_RUNNING.match(found["title"]):
        return Number(found["marker"], _KOREAN_UNITS[found["unit"]], found["title"], strong=True)
    if found := _SUPPLEMENT.match(head):
        return Number(found["marker"], "chapter", found["title"], strong=True)
    if found := _ENGLISH.match(head):
        scheme = _ENGLISH_UNITS[found["unit"].lower()]
        return Number(found["marker"], scheme, found["title"], strong=True)
    if found := _DECIMAL.match(head) or _TIGHT_DECIMAL.match(head):
        depth = found["marker"].count(".") + 1
        return Number(found["marker"], f"decimal-{depth}", found["title"], depth)
    for scheme, pattern in _SIMPLE:
        if found := pattern.match(head):
            return Number(found["marker"], scheme, found["title"])
    return None


def list_marker(text: str) -> tuple[str, str] | None:
    """The list marker that `text` begins with and what follows it, or None."""
    if _MARKED.match(text) is None:
        return None
    found = _BULLET.match(text) or _TIGHT_BULLET.match(text) or _ORDERED.match(text)
    if found is None or _TELEPHONE.match(text):
        return None
    return found["marker"], found["title"]


def is_bullet(marker: str) -> bool:
    """Whether a list marker is a sign rather than a number or letter."""
    return len(marker) == 1 and not marker.isalnum() and not "①" <= marker <= "⑳"


def is_caption(text: str) -> bool:
    """Whether `text` begins like the caption of a figure or table: `Figure 3`, `<표 1-2>`."""
    return len(text) < 600 and _CAPTION.match(text) is not None


def reads_like_heading(number: Number, *, limit: int = 120) -> bool:
    """Whether a numbered line, standing alone, is a heading by its words.

    A title is short, starts with a capital, a digit or a letter without case, and does not
    end like a sentence; a strong marker may stand without a title.
    """
    title = number.title.strip()
    if not title:
        return number.strong
    if len(title) > limit or "\n" in title or _SENTENCE_END.search(title):
        return False
    first = title.lstrip("(（\"'“‘<[【「")[:1]
    if not first or first.islower():
        return False
    if number.strong:
        return True
    return any(c.isalpha() for c in title) and number.scheme in {
        "roman", "hangul", "decimal-1", "decimal-2", "decimal-3", "decimal-4", "decimal-5",
        "decimal-6",
    }  # fmt: skip


@dataclass
class NumberLevels:
    """Levels of numbered headings from the order in which a document nests their schemes.

    A scheme that is open closes what lies below it; a new one opens below, except that a part
    lies above a chapter, a chapter above a section, and `1.2` above `1.2.3`.
    """

    _open: list[str] = field(default_factory=list)

    def level(self, number: Number) -> int:
        """The level of the next heading, 1 the highest."""
        scheme = number.scheme
        if scheme in self._open:
            del self._open[self._open.index(scheme) + 1 :]
            return len(self._open)
        while self._open and not _above(self._open[-1], scheme):
            self._open.pop()
        self._open.append(scheme)
        return len(self._open)


def _above(outer: str, inner: str) -> bool:
    if outer.startswith("decimal-") and inner.startswith("decimal-"):
        return int(outer[8:]) < int(inner[8:])
    if outer in RANKS and inner in RANKS:
        return RANKS[outer] < RANKS[inner]
    return inner not in RANKS or inner == "article"
