"""Dashes of a PDF as they are printed: liteparse gives every dash as a hyphen.

PDFium's own text of the page says which words have a dash. A word is put right only where
all its twins on the page are spelt alike, so a wrong dash is never made up.
"""

import re

_HYPHENS = str.maketrans("–—―‒−‐", "------")
_DASH = re.compile("[–—―‒−‐]")


def spellings(text: str) -> dict[str, str]:
    """Words with a dash by the same word with hyphens, where the text spells it in one way."""
    if _DASH.search(text) is None:
        return {}
    known: dict[str, str] = {}
    for word in text.split():
        plain = word.translate(_HYPHENS)
        if "-" in plain and known.setdefault(plain, word) != word:
            known[plain] = plain
    return {plain: word for plain, word in known.items() if plain != word}


def respell(text: str, known: dict[str, str]) -> str:
    """The text with its words as `known` spells them."""
    if "-" not in text:
        return text
    return " ".join(known.get(word, word) for word in text.split(" "))
