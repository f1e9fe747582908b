"""Files inside a PDF: those of the document (portfolios too), and those pinned to its pages."""

import ctypes
from collections.abc import Iterable, Iterator
from typing import Any

from services.parser.formats.attached import MAX_BYTES, MAX_FILES, Attachment

MAX_NOTES = 10_000
"""Annotations of a page that are looked at."""


def pdf_attachments(document: Any, pages: Iterable[int]) -> Iterator[Attachment]:
    """Files pinned to these pages (from 1), then those of the whole document.

    A file of no bytes, or of more than `MAX_BYTES`, comes without its bytes. What PDFium cannot
    open, None, has no files.
    """
    if document is None:
        return
    import pypdfium2

    raw: Any = pypdfium2.raw
    for page in pages:
        yield from _pinned(raw, document, page - 1)
    # one past the limit, so that the caller sees that some are left out
    for index in range(min(document.count_attachments(), MAX_FILES + 1)):
        handle = raw.FPDFDoc_GetAttachment(document, index)
        if handle:
            yield _attachment(raw, handle)


def _pinned(raw: Any, document: Any, index: int) -> Iterator[Attachment]:
    page = raw.FPDF_LoadPage(document, index)
    if not page:
        return
    try:
        for number in range(min(raw.FPDFPage_GetAnnotCount(page), MAX_NOTES)):
            note = raw.FPDFPage_GetAnnot(page, number)
            if not note:
                continue
            try:
                if raw.FPDFAnnot_GetSubtype(note) == raw.FPDF_ANNOT_FILEATTACHMENT:
                    handle = raw.FPDFAnnot_GetFileAttachment(note)
                    if handle:
                        yield _attachment(raw, handle)
            finally:
                raw.FPDFPage_CloseAnnot(note)
    finally:
        raw.FPDF_ClosePage(page)


def _attachment(raw: Any, handle: Any) -> Attachment:
    return Attachment(_name(raw, handle), _content(raw, handle))


def _name(raw: Any, handle: Any) -> str:
    size = raw.FPDFAttachment_GetName(handle, None, 0)
    units = (raw.FPDF_WCHAR * (size // 2))()
    raw.FPDFAttachment_GetName(handle, units, size)
    return bytes(units).decode("utf-16-le", "replace").rstrip("\0")


def _content(raw: Any, handle: Any) -> bytes:
    size = ctypes.c_ulong()
    if not raw.FPDFAttachment_GetFile(handle, None, 0, size) or not 0 < size.value <= MAX_BYTES:
        return b""
    buffer = (ctypes.c_char * size.value)()
    written = ctypes.c_ulong()
    if not raw.FPDFAttachment_GetFile(handle, buffer, size.value, written):
        return b""
    return buffer.raw[: written.value]
