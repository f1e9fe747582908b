"""What a file is, by its content; its name and declared type only break ties."""

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from libs.contracts.artefacts.profile import Format
from libs.contracts.faults import Code, DocumentFault
from libs.runtime.sandbox.archives import ArchiveLimits
from libs.runtime.sandbox.magic import is_pdf
from services.profiler.ole import OLE_MAGIC, ole_format
from services.profiler.text import text_format
from services.profiler.zips import zip_format

HEAD = 64 << 10

MEDIA_TYPES: dict[Format, str] = {
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "csv": "text/csv",
    "md": "text/markdown",
    "txt": "text/plain",
    "html": "text/html",
    "image": "image/png",
    "jsonl": "application/x-ndjson",
    "fragments": "application/vnd.groundwire.fragments+jsonl",
    "eml": "message/rfc822",
    "odt": "application/vnd.oasis.opendocument.text",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "odp": "application/vnd.oasis.opendocument.presentation",
    "rtf": "application/rtf",
    "doc": "application/msword",
    "ppt": "application/vnd.ms-powerpoint",
    "xls": "application/vnd.ms-excel",
    "hwp": "application/x-hwp",
    "hwpx": "application/hwp+zip",
    "epub": "application/epub+zip",
    "xml": "application/xml",
    "json": "application/json",
    "ipynb": "application/x-ipynb+json",
    "mbox": "application/mbox",
    "msg": "application/vnd.ms-outlook",
    "vtt": "text/vtt",
    "rst": "text/x-rst",
    "adoc": "text/asciidoc",
    "org": "text/org",
    "tex": "text/x-tex",
}
BINARY_SUFFIXES = frozenset(
    {"pdf", "docx", "docm", "pptx", "pptm", "xlsx", "xlsm", "doc", "ppt", "odt", "ods", "odp",
     "hwp", "hwpx", "png", "jpg", "jpeg", "gif", "webp", "bmp", "tif", "tiff", "zip", "epub"}
)  # fmt: skip
_IMAGES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
)
_FOREIGN = (
    (b"\x1f\x8b", "a gzip file"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"ID3", "an audio file"),
    (b"OggS", "an audio file"),
    (b"%!PS", "a PostScript file"),
    (b"HWP Document File V3", "a document of Hangul 97 or older (save it as HWP 5 or HWPX)"),
    (b"SQLite format 3\x00", "a database"),
)
_UNPRINTABLE = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


@dataclass(frozen=True)
class Detected:
    """`members` are the names inside a zip container, `encoding` that of a text."""

    format: Format
    media_type: str
    encoding: str | None = None
    members: tuple[str, ...] = ()


def detect(
    path: Path, file_name: str, declared: str | None = None, limits: ArchiveLimits | None = None
) -> Detected:
    """The format of the file at `path`.

    Raises `DocumentFault`: `EMPTY`, `ENCRYPTED`, `HOSTILE`, `TOO_LARGE`, `UNREADABLE` for what
    is damaged or belies its name, `UNSUPPORTED` for what nobody here reads.
    """
    with path.open("rb") as file:
        head = file.read(HEAD)
    if not head:
        raise DocumentFault(Code.EMPTY, "the file is empty")
    suffix = suffix_of(file_name)
    if is_pdf(head, suffix):
        return Detected("pdf", MEDIA_TYPES["pdf"])
    if (image := _image(head)) is not None:
        return Detected("image", image)
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        found, members = zip_format(path, limits or ArchiveLimits())
        return Detected(found, MEDIA_TYPES[found], members=tuple(members))
    if head.startswith(OLE_MAGIC):
        found = ole_format(path)
        return Detected(found, MEDIA_TYPES[found])
    if head.lstrip()[:5] == b"{\\rtf":
        return Detected("rtf", MEDIA_TYPES["rtf"])
    return _text(path, head, suffix, declared)


def suffix_of(file_name: str) -> str:
    """The name's extension, lower case, without its dot."""
    return PurePosixPath(file_name.lower()).suffix.removeprefix(".")


def _image(head: bytes) -> str | None:
    for magic, media_type in _IMAGES:
        if head.startswith(magic):
            return media_type
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    if head[:2] == b"BM" and head[6:10] == b"\0\0\0\0" and len(head) > 26:
        return "image/bmp"
    return None


def _text(path: Path, head: bytes, suffix: str, declared: str | None) -> Detected:
    for magic, name in _FOREIGN:
        if head.startswith(magic) and (magic != b"MZ" or _UNPRINTABLE.search(head)):
            raise DocumentFault(Code.UNSUPPORTED, f"the file is {name}, which is not read here")
    found = text_format(path, head, suffix, declared)
    if found is None:
        if suffix in BINARY_SUFFIXES:
            raise DocumentFault(
                Code.UNREADABLE, f"the file is named .{suffix} but does not begin like one"
            )
        raise DocumentFault(
            Code.UNSUPPORTED, "the file is neither text nor in a format that is read here"
        )
    name, encoding = found
    if name in ("txt", "md", "jsonl", "csv") and suffix in BINARY_SUFFIXES:
        raise DocumentFault(
            Code.UNREADABLE, f"the file is named .{suffix} but holds only plain text"
        )
    return Detected(name, MEDIA_TYPES[name], encoding=encoding)
