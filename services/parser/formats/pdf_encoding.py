"""Is the text of a PDF page what its reader sees? Pure, decided by the characters alone.

A font without a usable map to Unicode gives characters that nobody wrote: private-use code
points, controls, U+FFFD, accented letters in place of Hangul, or shifted letters. Such a page
is read by OCR. Code, formulas, leaders and odd fonts are no evidence of that, and a few stray
marks (bullets and arrows of symbol fonts) on a readable page are none either.
"""

import re
from collections.abc import Iterable
from string import ascii_lowercase, ascii_uppercase

FEWEST = 12
"""Characters below which nothing is decided."""
UNMAPPED_SHARE = 0.3
LATIN_1_SHARE = 0.5
"""Share of accented letters and signs of Latin-1: the written languages stay below a quarter."""
LETTERS = 150
"""Capitals from which their statistics mean something."""
VOWELS_READ, VOWELS_SHIFTED, E_SHIFTED = 0.25, 0.33, 0.07
"""Vowels among letters: at most, as read, and at least, all and e, once shifted back by 29."""

_UNMAPPED = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff"
                       r"\ue000-\uf8ff\U000f0000-\U0010ffff]")  # fmt: skip
_LATIN_1 = re.compile(r"[\xa1-\xff]")
_SHIFTED_VOWELS = "DHLRX\\"


def is_garbled(text: str) -> bool:
    """Whether most readers would find `text`, all that stands on a page, to be noise."""
    if _is_shifted(text):
        return True
    if text.isascii() and text.replace("\n", " ").isprintable():
        return False
    size = len("".join(text.split()))
    signs = set(text)
    return size >= FEWEST and (
        _count(text, filter(_UNMAPPED.match, signs)) >= UNMAPPED_SHARE * size
        or _count(text, filter(_LATIN_1.match, signs)) >= LATIN_1_SHARE * size
    )


def _count(text: str, signs: Iterable[str]) -> int:
    """How often any of the characters stands in the text."""
    return sum(map(text.count, signs))


def _is_shifted(text: str) -> bool:
    """Whether these are glyph numbers of a subset font: small letters 29 codes too low.

    Such text is nearly all capitals, few of them vowels, until it is shifted back: English has
    .19 and then .37. Other texts in capitals, proteins and part numbers too, gain nothing.
    """
    capitals = _count(text, ascii_uppercase)
    return (
        capitals >= LETTERS
        and _count(text, ascii_lowercase) < 0.1 * capitals
        and _count(text, "AEIOUY") < VOWELS_READ * capitals
        and _count(text, _SHIFTED_VOWELS) > VOWELS_SHIFTED * capitals
        and text.count("H") > E_SHIFTED * capitals
    )
