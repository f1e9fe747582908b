"""A PDF as PDFium has it, opened once for all that is asked of it beside its text."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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
    import pypdfium2

    try:
        page = document[number - 1].get_textpage()
        text = page.get_text_range()
    except (pypdfium2.PdfiumError, IndexError):
        return {}, []
    known = spellings(text) if any("-" in t for t in texts) else {}
    return known, [words_unseen(page, text, texts)]
