"""Which XML, JSON or light markup a text is: by its root or its first lines, then by its name."""

import json
import re

from libs.contracts.artefacts.profile import Format

XML_SUFFIXES = frozenset(
    {"xml", "fb2", "svg", "rss", "atom", "opml", "xliff", "xlf", "dita", "ditamap", "docbook",
     "dbk", "tei", "nxml", "kml", "gpx", "xsd", "xsl", "xslt", "wsdl", "plist", "resx"}
)  # fmt: skip
JSON_SUFFIXES = frozenset({"json", "geojson", "json5", "jsonld"})
LIGHT: dict[str, Format] = {
    "rst": "rst", "rest": "rst", "adoc": "adoc", "asciidoc": "adoc", "org": "org", "tex": "tex",
    "latex": "tex", "ltx": "tex", "vtt": "vtt", "srt": "vtt", "mbox": "mbox", "mbx": "mbox",
    "ipynb": "ipynb",
}  # fmt: skip
"""Formats that a name alone says, where the content is text and no more."""
NESTED = 10_000
"""Brackets of a JSON text up to which it is taken apart to be told."""
_ROOT = re.compile(
    r"\s*+(?:(?:<\?[^>]*+>|<!--(?:[^-]|-(?!->))*+-->|<!DOCTYPE[^\[>]*+(?:\[[^\]]*+\]\s*+)?>)\s*+)*+"
    r"<([A-Za-z_][\w.:-]*+)([^>]*+)",
    re.IGNORECASE,
)
_FLAT = {"text": "odt", "spreadsheet": "ods", "presentation": "odp"}
_FLAT_TYPE = re.compile(r"office:mimetype=[\"']application/vnd\.oasis\.opendocument\.(\w+)")
_FLAT_PACKAGE = re.compile(
    r"pkg:contentType=[\"'][^\"']*(wordprocessingml|presentationml|spreadsheetml)[^\"']*\.main\+xml"
)
_PACKAGES = {"wordprocessingml": "docx", "presentationml": "pptx", "spreadsheetml": "xlsx"}
_EXCEL = "urn:schemas-microsoft-com:office:spreadsheet"
_TEX = re.compile(r"^\s*\\(?:documentclass\b|documentstyle\b|begin\{document\})", re.MULTILINE)
_SUBTITLES = re.compile(
    r"\s*(?:WEBVTT\b|[0-9]{1,6}[ \t]*\n[0-9]{1,2}:[0-9]{2}:[0-9]{2},[0-9]{1,3} --> )"
)
_MAILBOX = re.compile(r"From \S+[^\n]*\b[0-9]{4}\b[^\n]*\n>?[\w-]+:")


def xml_format(sample: str, suffix: str) -> Format | None:
    """The format of an XML text by its root element; None for a text that is no XML."""
    root = _ROOT.match(sample)
    if root is None:
        return None
    name, attributes = root[1].rpartition(":")[2], root[2]
    if name == "document" and (kind := _FLAT_TYPE.search(attributes)) and kind[1] in _FLAT:
        return _FLAT[kind[1]]  # type: ignore[return-value]
    if name == "package" and (part := _FLAT_PACKAGE.search(sample)):
        return _PACKAGES[part[1]]  # type: ignore[return-value]
    if name == "Workbook" and _EXCEL in attributes:
        return "xls"
    if name == "wordDocument":
        return "doc"
    if name == "HWPML":
        return "hwp"
    declared = sample.lstrip().startswith("<?xml") or "xmlns" in attributes
    return "xml" if declared or suffix in XML_SUFFIXES else None


def marked_format(sample: str, suffix: str, *, cut: bool) -> Format | None:
    """The format of a text in JSON or a light markup; None for any other text.

    `cut` says that more follows the sample.
    """
    text = sample.replace("\r\n", "\n")
    if _MAILBOX.match(text):
        return "mbox"
    if _SUBTITLES.match(text):
        return "vtt"
    if suffix in JSON_SUFFIXES or suffix == "ipynb" or text.lstrip()[:1] in ("{", "["):
        if suffix == "ipynb" or (text.lstrip()[:1] == "{" and '"nbformat"' in text):
            return "ipynb"
        if suffix in JSON_SUFFIXES or (not cut and _is_json(text)):
            return "json"
    if _TEX.search(text):
        return "tex"
    return LIGHT.get(suffix)


def _is_json(text: str) -> bool:
    if text.count("[") + text.count("{") > NESTED:
        return False
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False
