"""Office documents in one XML text, put back into the package that their readers take.

Flat OpenDocument (OASIS, "Open Document Format 1.2, Part 1", 2011, 3.1.2) and the flat packages
that Word, PowerPoint and Excel save as XML (`pkg:package` of Open XML SDK's "Flat OPC").
"""

import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from services.parser.formats.base import ParseInput
from services.parser.formats.base64_text import from_base64
from services.parser.formats.xml_tree import xml_root

_OFFICE = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
_PKG = "{http://schemas.microsoft.com/office/2006/xmlPackage}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_MIME = {
    "odt": "application/vnd.oasis.opendocument.text",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "odp": "application/vnd.oasis.opendocument.presentation",
}
_PARTS = {
    "content": ("scripts", "font-face-decls", "automatic-styles", "body"),
    "styles": ("font-face-decls", "styles", "automatic-styles", "master-styles"),
    "meta": ("meta",),
}
"""The parts of a package by the elements of a flat document that they hold."""


def packaged(given: ParseInput) -> ParseInput:
    """The input as a package; as it is where it is one already.

    Raises as `xml_root`.
    """
    if given.profile.encoding is None or not is_xml(given.path):
        return given
    root = xml_root(given)
    package = given.scratch / "package"
    with zipfile.ZipFile(package, "w", zipfile.ZIP_STORED) as archive:
        if root.tag == f"{_PKG}package":
            _write_opc(archive, root)
        else:
            _write_odf(archive, root, _MIME.get(given.profile.format, ""))
    return replace(given, path=package)


def is_xml(path: Path) -> bool:
    """Whether the file is a text and no container: zips and compound files begin otherwise."""
    with path.open("rb") as file:
        return file.read(2) not in (b"PK", b"\xd0\xcf")


def _write_odf(archive: zipfile.ZipFile, root: Any, media_type: str) -> None:
    from xml.etree.ElementTree import Element, tostring

    archive.writestr("mimetype", media_type)
    listed = [f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{media_type}"/>']
    for count, image in enumerate(root.iter()):
        data = from_base64(image.findtext(f"{{{_OFFICE}}}binary-data") or "")
        if data and image.tag.endswith("}image"):
            name = f"Pictures/{count}.png"
            archive.writestr(name, data)
            image.set(_HREF, name)
            listed.append(
                f'<manifest:file-entry manifest:full-path="{name}" manifest:media-type=""/>'
            )
    for part, names in _PARTS.items():
        made = Element(f"{{{_OFFICE}}}document-{part}", root.attrib)
        made.extend(e for name in names for e in root.findall(f"{{{_OFFICE}}}{name}"))
        archive.writestr(f"{part}.xml", tostring(made, "utf-8", xml_declaration=True))
        listed.append(
            f'<manifest:file-entry manifest:full-path="{part}.xml" manifest:media-type="text/xml"/>'
        )
    archive.writestr(
        "META-INF/manifest.xml",
        '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        + "".join(listed) + "</manifest:manifest>",
    )  # fmt: skip


def _write_opc(archive: zipfile.ZipFile, root: Any) -> None:
    from xml.etree.ElementTree import tostring

    kinds = []
    for part in root.findall(f"{_PKG}part"):
        name = part.get(f"{_PKG}name", "")
        kind = part.get(f"{_PKG}contentType", "")
        data = from_base64(part.findtext(f"{_PKG}binaryData") or "")
        if not data:
            inner = next(iter(part.find(f"{_PKG}xmlData") or ()), None)
            data = b"" if inner is None else tostring(inner, "utf-8", xml_declaration=True)
        if not name.startswith("/") or not data:
            continue
        archive.writestr(name[1:], data)
        kinds.append(f"<Override PartName={_quoted(name)} ContentType={_quoted(kind)}/>")
    archive.writestr(
        "[Content_Types].xml",
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType='
        '"application/vnd.openxmlformats-package.relationships+xml"/>' + "".join(kinds)
        + "</Types>",
    )  # fmt: skip


def _quoted(text: str) -> str:
    from xml.sax.saxutils import quoteattr

    return quoteattr(text)
