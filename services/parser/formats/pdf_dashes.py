"""Dashes of a PDF as they are printed: liteparse gives every dash as a hyphen.

PDFium's own text of the page says which words have a dash. A word is put right only where
all its twins on the page are spelt alike, so a wrong dash is never made up.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from liteparse.types import ParsedPage

_HYPHENS = str.maketrans("–—―‒−‐", "------")


def restore_dashes(path: Path, pages: Iterable["ParsedPage"]) -> None:
    """Put the dashes of the pages' words right in place; a file PDFium refuses stays as it is."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(path)  # type: ignore[no-untyped-call]
    except pypdfium2.PdfiumError:
        return
    try:
        for page in pages:
            if any("-" in item.text for item in page.text_items):
                try:
                    text = document[page.page_num - 1].get_textpage().get_text_range()
                except (pypdfium2.PdfiumError, IndexError):
                    continue
                _restore(page, spellings(text))
    finally:
        document.close()  # type: ignore[no-untyped-call]


def spellings(text: str) -> dict[str, str]:
    """Words with a dash by the same word with hyphens, where the text spells it in one way."""
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
