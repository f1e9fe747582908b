"""Dashes of a PDF as they are printed: liteparse gives every dash as a hyphen.

PDFium's own text of the page says which words have a dash. A word is put right only where
all its twins on the page are spelt alike, so a wrong dash is never made up.
"""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from liteparse.types import ParsedPage

_HYPHENS = str.maketrans("–—―‒−‐", "------")
_DASH = re.compile("[–—―‒−‐]")


def restore_dashes(document: Any, pages: Iterable["ParsedPage"]) -> None:
    """Put the dashes of the pages' words right in place; those of a file that PDFium refuses,
    None, stay as they are."""
    if document is None:
        return
    import pypdfium2

    for page in pages:
        if any("-" in item.text for item in page.text_items):
            try:
                text = document[page.page_num - 1].get_textpage().get_text_range()
            except (pypdfium2.PdfiumError, IndexError):
                continue
            _restore(page, spellings(text))


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


def _restore(page: "ParsedPage", known: dict[str, str]) -> None:
    if not known:
        return
    for item in page.text_items:
        if "-" in item.text:
            item.text = respell(item.text, known)
            for word in item.words:
                word.text = respell(word.text, known)
