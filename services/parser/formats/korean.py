"""How Korean laws, letters and reports are set out: articles, boxes around titles, nested items."""

import re
from collections.abc import Sequence

MAX_TITLE = 60
_ARTICLE = re.compile(
    r"(제\s?[0-9]{1,4}\s?조(?:의\s?[0-9]{1,3})?\s?[(（][^()（）\n]{1,80}[)）])(?=[\s①-⑳]|$)\s*(\S.*)?$",
    re.DOTALL,
)
_BOXED = re.compile(
    r"(?:[Ⅰ-Ⅻ]{1,3}|[IVX]{1,4}|[0-9]{1,2}|[가-하]|제\s?[0-9]{1,2}\s?[장절]|"
    r"(?:붙임|별첨|첨부|참고|부록)\s?[0-9]{0,2})\.?"
)
_LETTERS = "가나다라마바사아자차카타파하"
_RANKS = tuple(
    re.compile(pattern)
    for pattern in (
        "[□■◇◆]", "[○●◦ㅇ]", "[-–]", "[·ㆍ]",
        r"[Ⅰ-Ⅻ]{1,3}\.?", r"[0-9]{1,3}\.", rf"[{_LETTERS}]\.", r"[0-9]{1,3}\)", rf"[{_LETTERS}]\)",
        r"\([0-9]{1,3}\)", rf"\([{_LETTERS}]\)", "[①-⑳]", "[㉮-㉻]",
    )
)  # fmt: skip
"""Signs, then numbers, each in the order in which official documents nest them (행정업무의 운영 및
혁신에 관한 규정 시행규칙, 제2조)."""
_SIGNS = 4
_NOTES = "※*†☞"


def article(text: str) -> tuple[str, str] | None:
    """The number and title of an article and the text that goes on behind them, or None."""
    found = _ARTICLE.match(text)
    return (found[1], found[2] or "") if found else None


def boxed_title(texts: Sequence[str]) -> str | None:
    """The title that a table of one row is drawn around: a number in a box and words beside it."""
    told = [" ".join(text.split()) for text in texts if text.strip()]
    if len(told) != 2 or not _BOXED.fullmatch(told[0]) or len(told[1]) > MAX_TITLE:
        return None
    if not any(c.isalpha() for c in told[1]) or told[1].endswith((".", ",")):
        return None
    return f"{told[0]} {told[1]}"


class ItemDepths:
    """Depths of list items by their markers alone: one that is open closes those below it."""

    def __init__(self) -> None:
        self._open: list[int] = []

    def of(self, marker: str) -> int:
        """The depth of the next item, 1 the outermost; a note lies below the item before it."""
        if marker in _NOTES:
            return len(self._open) + 1
        rank = next((r for r, p in enumerate(_RANKS) if p.fullmatch(marker)), len(_RANKS))
        if rank in self._open:
            del self._open[self._open.index(rank) :]
        while self._open and _is_above(rank, self._open[-1]):
            self._open.pop()
        self._open.append(rank)
        return min(len(self._open), 8)

    def close(self) -> None:
        """A heading ends all lists."""
        self._open.clear()


def _is_above(rank: int, other: int) -> bool:
    """Whether a marker always stands above another of its family."""
    return rank < other and (rank < _SIGNS) == (other < _SIGNS)
