"""SmartArt of a PPT file: PowerPoint 2007 keeps its data as OOXML inside the shape's properties
(`metroBlob`, [MS-ODRAW] 2.3.7.13), which LibreOffice does not read."""

import re
import zlib
from collections.abc import Iterator
from pathlib import Path

from services.parser.formats.office_pptx import diagram_texts
from services.parser.formats.sheets_biff_text import ole_stream

MAX_PART = 16 << 20
MAX_DIAGRAMS = 500
_DATA = re.compile(rb"PK\x03\x04.{4}(?P<method>[\x00\x08]\x00).{16}.{2}(?P<extra>.{2})"
                   rb"(?:drs/)?(?:ppt/)?diagrams/data[0-9]{1,4}\.xml", re.DOTALL)  # fmt: skip


def ppt_diagrams(path: Path) -> list[str]:
    """The paragraphs of the presentation's SmartArt; empty for none and for damaged ones."""
    stream = ole_stream(path, "PowerPoint Document")
    return [text for part in _parts(stream) for text in diagram_texts(part)]


def _parts(stream: bytes) -> Iterator[bytes]:
    """The data parts of the packages inside the stream, each after the local header of its entry
    (APPNOTE 4.3.7)."""
    for count, found in enumerate(_DATA.finditer(stream)):
        if count >= MAX_DIAGRAMS:
            return
        start = found.end() + int.from_bytes(found["extra"], "little")
        if found["method"] != b"\x08\0":
            continue
        inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            part = inflate.decompress(stream[start : start + MAX_PART], MAX_PART)
        except zlib.error:
            continue
        if inflate.eof:
            yield part
