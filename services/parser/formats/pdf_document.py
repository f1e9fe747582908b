"""A PDF as PDFium has it, opened once for all that is asked of it beside its text."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ctypes import c_ushort
from pathlib import Path
from typing import Any

from services.parser.formats.pdf_dashes import spellings
from services.parser.formats.pdf_unseen import words_unseen


@contextmanager
def opened_pdf(path: Path) -> Iterator[Any]:
    """The document (`pypdfium2.PdfDocument`), or None where PDFium refuses the file."""
    import pypdfium2

    opening: Any = pypdfium2.PdfDocument
    try:
        document = opening(path)
    except pypdfium2.PdfiumError:
        document = None
    try:
        yield document
    finally:
        if document is not None:
            document.close()


def in_pdfium(document: Any, number: int, texts: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """What PDFium's text of the page tells beyond liteparse's `texts`: how words with a dash
    are spelt, and words that nobody sees. Nothing for a file or a page that it refuses."""
    if document is None:
        return {}, []
    import pypdfium2.raw

    # without pypdfium2's objects around the handles, which cost as much as what they hold
    pdfium: Any = pypdfium2.raw
    page = pdfium.FPDF_LoadPage(document, number - 1)
    textpage = pdfium.FPDFText_LoadPage(page) if page else None
    try:
        if not textpage:
            return {}, []
        text = _text(pdfium, textpage)
        known = spellings(text) if any("-" in t for t in texts) else {}
        return known, [words_unseen(textpage, text, texts)]
    finally:
        if textpage:
            pdfium.FPDFText_ClosePage(textpage)
        if page:
            pdfium.FPDF_ClosePage(page)


def _text(pdfium: Any, textpage: Any) -> str:
    """The text of a page. Signs at its ends that have no place in it are counted, not given."""
    first, last = 0, pdfium.FPDFText_CountChars(textpage) - 1
    while first <= last and pdfium.FPDFText_GetTextIndexFromCharIndex(textpage, first) < 0:
        first += 1
    while first <= last and pdfium.FPDFText_GetTextIndexFromCharIndex(textpage, last) < 0:
        last -= 1
    if first > last:
        return ""
    buffer = (c_ushort * (last - first + 2))()
    count = pdfium.FPDFText_GetText(textpage, first, last - first + 1, buffer)
    return bytes(memoryview(buffer)[: count - 1]).decode("utf-16-le", "ignore")
