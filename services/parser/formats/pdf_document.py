"""A PDF as PDFium has it, opened once for all that is asked of it beside its text."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


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
