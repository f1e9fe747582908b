"""Outlines of PDFs that run in circles: found here, since liteparse follows them for ever."""

import ctypes
from pathlib import Path
from typing import Any

MOST_ENTRIES = 50_000
"""Entries after which an outline counts as endless; the longest real ones have some thousands."""


def has_sound_outline(document: Any) -> bool:
    """Whether the outline comes to an end: every entry is reached once, and they are not too many.

    A file that PDFium refuses, None, has none; its reader will say why.
    """
    import pypdfium2

    return document is None or _ends(pypdfium2.raw, document)


def _ends(raw: Any, document: Any) -> bool:
    seen: set[int] = set()
    waiting = [raw.FPDFBookmark_GetFirstChild(document, None)]
    while waiting:
        mark = waiting.pop()
        while mark:
            address = ctypes.addressof(mark.contents)
            if address in seen or len(seen) == MOST_ENTRIES:
                return False
            seen.add(address)
            if child := raw.FPDFBookmark_GetFirstChild(document, mark):
                waiting.append(child)
            mark = raw.FPDFBookmark_GetNextSibling(document, mark)
    return True


def copy_pages(path: Path, target: Path) -> None:
    """Write the pages of a PDF, and nothing that lies outside them, to `target`."""
    import pypdfium2

    opening: Any = pypdfium2.PdfDocument
    source = opening(path)
    copy = opening.new()
    try:
        copy.import_pages(source)
        copy.save(target)
    finally:
        copy.close()
        source.close()
