"""Where an Office file keeps the files inside it: packages, and objects wrapped as OLE."""

import io
import posixpath
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from services.parser.formats.attached import Attachment
from services.parser.formats.attached_odf import MANIFEST, odf_objects

MAX_PART = 64 << 20
MAX_RELATIONS = 8 << 20
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HOLDERS = re.compile(r"(?:word|ppt/slides|xl/worksheets)/_rels/[\w-]+\.xml\.rels")
_KINDS = ("/package", "/oleObject")
_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_WHOLE = ("CONTENTS", "Package", "EmbeddedOdf", "Contents")
"""Streams that hold the file itself: of Acrobat, of Office, of OpenOffice."""


def office_attachments(path: Path) -> Iterator[Attachment]:
    """The files embedded in a DOCX, PPTX or XLSX, in the order of its parts, or in an ODF file.

    The workbooks behind charts are no attachments: their charts show them.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            if MANIFEST in names:
                yield from odf_objects(archive)
                return
            seen: set[str] = set()
            for holder in sorted(filter(_HOLDERS.fullmatch, names), key=_natural):
                for target in sorted(_targets(archive, holder), key=_natural):
                    if target in names and target not in seen:
                        seen.add(target)
                        if archive.getinfo(target).file_size <= MAX_PART:
                            yield unwrapped(posixpath.basename(target), archive.read(target))
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError):
        return


def _natural(name: str) -> tuple[int, str]:
    """Parts in the order of their numbers: `slide2` before `slide10`."""
    digits = re.sub(r"\D", "", posixpath.basename(name))
    return (int(digits[:9] or 0), name)


def unwrapped(name: str, data: bytes) -> Attachment:
    """The file that an OLE object holds; the object itself where it is the file."""
    import olefile  # type: ignore[import-untyped]

    if not data.startswith(_OLE):
        return Attachment(name, data)
    try:
        with olefile.OleFileIO(io.BytesIO(data)) as ole:
            if ole.exists("\x01Ole10Native"):
                return _native(name, ole.openstream("\x01Ole10Native").read())
            for stream in _WHOLE:
                if ole.exists(stream):
                    return Attachment(name, ole.openstream(stream).read())
    except (OSError, ValueError, IndexError, TypeError, AttributeError, struct.error):
        pass
    return Attachment(name, data)


def _native(name: str, stream: bytes) -> Attachment:
    """A packaged file: label, path, a second path, then the bytes ([MS-OLEDS] 2.3.6)."""
    label, at = _string(stream, 6)
    _, at = _string(stream, at)
    size = int.from_bytes(stream[at + 4 : at + 8], "little")
    at += 8 + size
    length = int.from_bytes(stream[at : at + 4], "little")
    data = stream[at + 4 : at + 4 + length]
    if not data:
        raise ValueError("the object holds no file")
    return Attachment(label or name, data)


def _string(stream: bytes, at: int) -> tuple[str, int]:
    end = stream.index(b"\0", at)
    raw = stream[at:end]
    try:
        return raw.decode("utf-8"), end + 1
    except UnicodeDecodeError:
        return raw.decode("cp949", "replace"), end + 1


def _targets(archive: zipfile.ZipFile, holder: str) -> Iterator[str]:
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import ParseError, fromstring

    if archive.getinfo(holder).file_size > MAX_RELATIONS:
        return
    try:
        root = fromstring(archive.read(holder))
    except (ParseError, DefusedXmlException, ValueError):
        return
    folder = posixpath.dirname(posixpath.dirname(holder))
    for relation in root.iter(_RELATION):
        kind, target = relation.get("Type", ""), relation.get("Target", "")
        if relation.get("TargetMode") == "External" or not kind.endswith(_KINDS):
            continue
        inside = target.lstrip("/") if target.startswith("/") else posixpath.join(folder, target)
        yield posixpath.normpath(inside)
