"""Lines joined into text: hyphens at their ends break words, or belong to them."""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

_LETTER_HYPHEN = re.compile(r"[^\W\d_][-\u2010\u00ad]")
_NO_SPACE = re.compile(r"[\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_BROKEN = re.compile(r"(?<![^\W_])[^\W\d_]+(?:-[^\W\d_]+)*(?=-$)")
LONGEST = 60
"""Characters at the end of a line in which a broken word begins."""


class Compounds:
    """Words that a text spells with hyphens within its lines, and never without them."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = list(texts)

    def hold(self, before: str, after: str) -> bool:
        """Whether the word from the hyphen that ends `before` to `after` is one of them."""
        start = _BROKEN.search(before[-LONGEST:].replace("\u2010", "-"))
        rest = _WORD.match(after)
        if start is None or rest is None:
            return False
        first, second = start[0].casefold(), rest[0].casefold()
        return f"{first}-{second}" in self._hyphened and first + second not in self._all

    @cached_property
    def _hyphened(self) -> frozenset[str]:
        return _words(text for text in self._texts if "-" in text)

    @cached_property
    def _all(self) -> frozenset[str]:
        return _words(self._texts)


def _words(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(word for text in texts for word in _WORD.findall(text.casefold()))


def join_lines(texts: Sequence[str], compounds: Compounds | None = None) -> str:
    """Lines as one text: a word broken by a hyphen is made whole, Han and Kana get no space.

    A hyphen stays where the next line begins with a capital or a digit (`Sino-\\nJapanese`), and
    in `compounds`.
    """
    parts: list[str] = []
    end = ""
    for text in texts:
        if text[:1].islower() and _LETTER_HYPHEN.fullmatch(end):
            if compounds is None or not compounds.hold(parts[-1], text):
                parts[-1], end = parts[-1][:-1], end[:-1]
        elif end and not _joins_without_space(end, text):
            parts.append(" ")
            end += " "
        parts.append(text)
        end = (end + text)[-2:]
    return "".join(parts)


def _joins_without_space(before: str, after: str) -> bool:
    if before[-1] in "-\u2010/":
        return not before.endswith((" -", "--")) and after[:1].isalnum()
    return bool(_NO_SPACE.match(before[-1]) and _NO_SPACE.match(after))
