"""One look at a document in a container: its own metadata, a sample of its text, its slides."""

import re
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from libs.contracts.artefacts.profile import Format

MAX_PART = 1 << 20
SAMPLE_PARTS = 12

_METADATA_PARTS = ("docProps/core.xml", "meta.xml", "Contents/content.hpf")
_TEXT_PARTS: dict[Format, re.Pattern[str]] = {
    "docx": re.compile(r"word/document\d*\.xml"),
    "pptx": re.compile(r"ppt/slides/slide\d+\.xml"),
    "xlsx": re.compile(r"xl/sharedStrings\.xml"),
    "hwpx": re.compile(r"Contents/section\d+\.xml"),
    "odt": re.compile(r"content\.xml"),
    "ods": re.compile(r"content\.xml"),
    "odp": re.compile(r"content\.xml"),
    "epub": re.compile(r"(?!.*(?:toc|nav|cover)).*\.x?html?"),
}
_FIELDS = {
    "title": "title",
    "creator": "author",
    "initial-creator": "author",
    "subject": "subject",
    "keywords": "keywords",
    "created": "created",
    "creation-date": "created",
    "language": "language",
}
TEMPLATE_DATES = frozenset(
    {
        "2013-12-23T23:15:00Z",  # python-docx
        "2013-01-27T09:14:16Z",  # python-pptx
        "2006-09-16T00:00:00Z",  # Excel 2007 to 2013, and libraries that copied it
        "2015-06-05T18:17:20Z",  # Excel 2016 and later
        "2015-06-05T18:19:34Z",
        "2006-08-16T00:00:00Z",  # PowerPoint 2007 and later
        "1980-01-01T00:00:00Z",  # the first moment that a ZIP archive can hold
        "1970-01-01T00:00:00Z",
    }
)
"""When the blank files that generators start from were made: it says nothing of a document."""

_TAGS = re.compile(r"<[^<>]*>")
_SLIDE = re.compile(r"<draw:page[\s>]")


@dataclass
class OfficeLook:
    """What the profile takes from a container; `page_count` counts slides, else 0."""

    metadata: dict[str, str] = field(default_factory=dict)
    sample: str = ""
    page_count: int = 0


def look_at_zip(path: Path, found: Format, members: tuple[str, ...]) -> OfficeLook:
    """Look into a container that was inspected before."""
    look = OfficeLook()
    with zipfile.ZipFile(path) as archive:
        for name in members:
            if name in _METADATA_PARTS or (found == "epub" and name.endswith(".opf")):
                look.metadata |= _metadata(_read(archive, name))
        wanted = _TEXT_PARTS[found]
        parts = sorted((n for n in members if wanted.fullmatch(n)), key=_by_number)
        texts = [_read(archive, name).decode("utf-8", "replace") for name in parts[:SAMPLE_PARTS]]
    look.sample = "\n".join(" ".join(_TAGS.sub(" ", text).split()) for text in texts)
    if found == "pptx":
        look.page_count = len(parts)
    elif found == "odp":
        look.page_count = sum(len(_SLIDE.findall(text)) for text in texts)
    return look


def look_at_ole(path: Path, found: Format) -> OfficeLook:
    """Look into a compound file that was recognised before."""
    import olefile  # type: ignore[import-untyped]

    look = OfficeLook()
    with olefile.OleFileIO(str(path)) as ole:
        if found == "hwp" and ole.exists("PrvText"):
            with ole.openstream("PrvText") as stream:
                look.sample = stream.read(MAX_PART).decode("utf-16-le", "replace")
        if ole.exists("\x05SummaryInformation"):
            properties = ole.get_metadata()
            codec = f"cp{properties.codepage}" if (properties.codepage or 0) > 0 else "cp1252"
            for name in ("title", "author", "subject", "keywords"):
                value = getattr(properties, name)
                if isinstance(value, bytes):
                    value = _decoded(value, codec)
                if value:
                    look.metadata[name] = str(value)
            if properties.create_time is not None:
                look.metadata["created"] = str(properties.create_time)
    return look


def _decoded(value: bytes, codec: str) -> str:
    try:
        return value.decode("utf-8" if codec == "cp65001" else codec, "replace").strip("\x00 ")
    except LookupError:
        return value.decode("cp1252", "replace").strip("\x00 ")


def _read(archive: zipfile.ZipFile, name: str) -> bytes:
    with archive.open(name) as part:
        return part.read(MAX_PART)


def _by_number(name: str) -> tuple[int, str]:
    digits = re.sub(r"\D", "", name.rpartition("/")[2])
    return (int(digits) if digits else 0, name)


def _metadata(xml: bytes) -> dict[str, str]:
    """The fields that are known, by their local names; none from XML that is malformed."""
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import ParseError, fromstring

    try:
        root = fromstring(xml)
    except (ParseError, DefusedXmlException, ValueError):
        return {}
    found: dict[str, str] = {}
    for element in root.iter():
        name = _FIELDS.get(str(element.tag).rpartition("}")[2])
        text = " ".join((element.text or "").split())
        if name and text:
            found.setdefault(name, text)
    if found.get("created") in TEMPLATE_DATES:
        del found["created"]
    return found
