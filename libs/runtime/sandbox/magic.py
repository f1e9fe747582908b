"""Whether bytes are a PDF: readers allow junk before it, and texts speak of PDFs."""

import re

START = 1024
"""Bytes within which a PDF must begin, as readers have it (ISO 32000-1, annex H.3.4.1)."""
_MAGIC = b"%PDF-"
_OBJECT = re.compile(rb"\b\d+\s+\d+\s+obj\b")
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x80-\xff]")


def is_pdf(head: bytes, suffix: str) -> bool:
    """Whether a file that begins with `head`, some ten kilobytes, and is named `.suffix` is one.

    A magic at the very start decides. One behind other bytes must have an object after it; and
    unless the name says `pdf`, it must begin a line or follow bytes that are no text, and
    `head` must not read as plain text.
    """
    at = head.find(_MAGIC, 0, START + len(_MAGIC))
    if at < 0:
        return False
    before = head[:at].removeprefix(b"\xef\xbb\xbf")
    if not before.strip():
        return True
    if not _OBJECT.search(head, at):
        return False
    if suffix == "pdf":
        return True
    begins = before[-1:] in b"\r\n" or _BINARY.search(before) is not None
    return begins and _BINARY.search(head) is not None
