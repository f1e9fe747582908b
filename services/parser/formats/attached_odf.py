"""Documents that an OpenDocument file holds: folders of its package, each a document by itself.

After OASIS, "Open Document Format for Office Applications 1.2, Part 3: Packages", 2011, 3.9.
"""

import io
import zipfile
from collections.abc import Iterator

from services.parser.formats.attached import Attachment

MAX_MANIFEST = 4 << 20
MAX_OBJECT = 64 << 20
MANIFEST = "META-INF/manifest.xml"
_NAMESPACE = "{urn:oasis:names:tc:opendocument:xmlns:manifest:1.0}"
_KINDS = tuple(
    f"application/vnd.oasis.opendocument.{kind}" for kind in ("text", "spreadsheet", "presentation")
)


def odf_objects(archive: zipfile.ZipFile) -> Iterator[Attachment]:
    """The texts, sheets and slides embedded in a document, each as a package of its own."""
    infos = {info.filename: info for info in archive.infolist()}
    for folder, kind in sorted(_objects(archive)):
        parts = [info for name, info in infos.items() if name.startswith(folder)]
        parts = [info for info in parts if not info.is_dir() and info.file_size]
        if parts and sum(info.file_size for info in parts) <= MAX_OBJECT:
            yield Attachment(folder.rstrip("/"), _package(archive, folder, kind, parts))


def _objects(archive: zipfile.ZipFile) -> Iterator[tuple[str, str]]:
    """Folder and media type of every embedded document, but not of those inside them."""
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import ParseError, fromstring

    if archive.getinfo(MANIFEST).file_size > MAX_MANIFEST:
        return
    try:
        root = fromstring(archive.read(MANIFEST))
    except (ParseError, DefusedXmlException, ValueError):
        return
    for entry in root.iter(f"{_NAMESPACE}file-entry"):
        folder = entry.get(f"{_NAMESPACE}full-path", "").removeprefix("./")
        kind = entry.get(f"{_NAMESPACE}media-type", "")
        if kind in _KINDS and folder.endswith("/") and folder.count("/") == 1 and folder != "/":
            yield folder, kind


def _package(
    archive: zipfile.ZipFile, folder: str, kind: str, parts: list[zipfile.ZipInfo]
) -> bytes:
    names = [info.filename.removeprefix(folder) for info in parts]
    entries = "".join(
        f'<manifest:file-entry manifest:media-type="text/xml" manifest:full-path="{name}"/>'
        for name in names
        if name.endswith(".xml") and not set(name) & set('<>&"')
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as package:
        package.writestr("mimetype", kind)
        package.writestr(
            MANIFEST,
            '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"'
            f' manifest:version="1.2"><manifest:file-entry manifest:media-type="{kind}"'
            f' manifest:full-path="/"/>{entries}</manifest:manifest>',
        )
        for name, info in zip(names, parts, strict=True):
            package.writestr(name, archive.read(info))
    return out.getvalue()
