"""What an attached file is, by its content first and by its name where it is plain text."""

import io
import zipfile
from pathlib import Path

from libs.contracts.artefacts.profile import Format
from libs.runtime.sandbox.magic import is_pdf

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
MAX_PART = 1 << 20
HEAD = 64 << 10
_OOXML: tuple[tuple[str, Format], ...] = (
    ("wordprocessingml", "docx"), ("presentationml", "pptx"), ("spreadsheetml", "xlsx"),
)  # fmt: skip
_MAIN_PARTS = {"word/": "wordprocessingml", "ppt/": "presentationml", "xl/": "spreadsheetml"}
_MIME_TYPES: dict[str, Format] = {
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
    "application/vnd.oasis.opendocument.presentation": "odp",
    "application/hwp+zip": "hwpx",
    "application/epub+zip": "epub",
}
_STREAMS: tuple[tuple[str, Format], ...] = (
    ("WordDocument", "doc"), ("Workbook", "xls"), ("Book", "xls"),
    ("PowerPoint Document", "ppt"), ("FileHeader", "hwp"), ("__properties_version1.0", "msg"),
)  # fmt: skip
_SUFFIXES: dict[str, Format] = {
    "txt": "txt", "text": "txt", "log": "txt", "md": "md", "markdown": "md", "csv": "csv",
    "tsv": "csv", "html": "html", "htm": "html", "xhtml": "html", "eml": "eml", "jsonl": "jsonl",
    "xml": "xml", "json": "json", "ipynb": "ipynb", "vtt": "vtt", "srt": "vtt", "rst": "rst",
    "adoc": "adoc", "org": "org", "tex": "tex", "mbox": "mbox",
}  # fmt: skip
_ENCODINGS = ("utf-8-sig", "cp949")


def attached_format(name: str, data: bytes) -> Format | None:
    """The format of an attached file, None where nobody here reads it."""
    suffix = name.lower().rpartition(".")[2]
    if is_pdf(data[:HEAD], suffix):
        return "pdf"
    if data.startswith(b"PK"):
        return _zip_format(data)
    if data.startswith(_OLE):
        return _ole_format(data)
    if data.lstrip()[:5] == b"{\\rtf":
        return "rtf"
    if encoding_of(data) is None:
        return None
    if data[:1024].lstrip().lower().startswith((b"<!doctype html", b"<html")):
        return "html"
    return _SUFFIXES.get(suffix)


def encoding_of(data: bytes) -> str | None:
    """The encoding of a text; None for bytes that are no text."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if b"\0" in data:
        return None
    for encoding in _ENCODINGS:
        try:
            data.decode(encoding)
        except UnicodeDecodeError:
            continue
        return encoding
    return "cp1252"


def page_count(path: Path) -> int:
    """The pages of a PDF, at least 1; 1 as well where it cannot be opened."""
    import pypdfium2

    try:
        with pypdfium2.PdfDocument(path) as document:  # type: ignore[no-untyped-call]
            return max(1, len(document))
    except pypdfium2.PdfiumError:
        return 1


def _zip_format(data: bytes) -> Format | None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            if "mimetype" in names:
                with archive.open("mimetype") as part:
                    return _MIME_TYPES.get(part.read(MAX_PART).decode("latin-1").strip())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError):
        return None
    if "[Content_Types].xml" not in names:
        return None
    kinds = {
        kind for folder, kind in _MAIN_PARTS.items() if any(n.startswith(folder) for n in names)
    }
    return next((found for kind, found in _OOXML if kind in kinds), None)


def _ole_format(data: bytes) -> Format | None:
    import olefile  # type: ignore[import-untyped]

    try:
        with olefile.OleFileIO(io.BytesIO(data)) as ole:
            return next((found for stream, found in _STREAMS if ole.exists(stream)), None)
    except (OSError, ValueError, IndexError, TypeError, AttributeError):
        return None
