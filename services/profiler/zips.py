"""Which document a zip container is: its main part decides, not its folder names."""

import re
import zipfile
from pathlib import Path

from libs.contracts.artefacts.profile import Format
from libs.contracts.faults import Code, DocumentFault
from libs.runtime.sandbox.archives import ArchiveLimits, inspect

MAX_PART = 4 << 20

_MAIN_PARTS: tuple[tuple[re.Pattern[str], Format], ...] = (
    (re.compile(r"word[\w.]*(?:document|template)[\w.]*\.main\+xml|ms-word\.(?:document|template)"),
     "docx"),
    (re.compile(r"presentationml\.(?:presentation|slideshow|template)\.main\+xml|"
                r"ms-powerpoint\.(?:presentation|slideshow|template)"), "pptx"),
    (re.compile(r"spreadsheetml\.(?:sheet|template)\.main\+xml|"
                r"ms-excel\.(?:sheet|template)\.(?:macroEnabled|binary)"), "xlsx"),
)  # fmt: skip
_MIME_TYPES: dict[str, Format] = {
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.oasis.opendocument.text-template": "odt",
    "application/vnd.oasis.opendocument.text-master": "odt",
    "application/vnd.oasis.opendocument.text-web": "odt",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
    "application/vnd.oasis.opendocument.spreadsheet-template": "ods",
    "application/vnd.oasis.opendocument.presentation": "odp",
    "application/vnd.oasis.opendocument.presentation-template": "odp",
    "application/hwp+zip": "hwpx",
    "application/haansoftxlsx": "xlsx",
    "application/epub+zip": "epub",
}
_REFUSED = (("ms-visio", "a Visio drawing"),)


def zip_format(path: Path, limits: ArchiveLimits) -> tuple[Format, list[str]]:
    """The format of the zip at `path` and its member names, after `archive.inspect`.

    Raises what that raises, `ENCRYPTED` for encrypted ODF and HWPX, and `UNSUPPORTED` for a
    container that is no document.
    """
    names = inspect(path, limits)
    with zipfile.ZipFile(path) as archive:
        kinds = _part(archive, names, "[Content_Types].xml") + _part(archive, names, "mimetype")
        if "encryption-data" in _part(archive, names, "META-INF/manifest.xml"):
            raise DocumentFault(
                Code.ENCRYPTED, "the document is protected by a password; send it without one"
            )
    for pattern, found in _MAIN_PARTS:
        if pattern.search(kinds):
            return found, names
    if (found_type := _MIME_TYPES.get(kinds.strip())) is not None:
        return found_type, names
    for mark, name in _REFUSED:
        if mark in kinds:
            raise DocumentFault(Code.UNSUPPORTED, f"the file is {name}, which is not read here")
    if not names:
        raise DocumentFault(Code.EMPTY, "the archive is empty")
    raise DocumentFault(
        Code.UNSUPPORTED, "the file is a zip archive; send the documents inside it one by one"
    )


def _part(archive: zipfile.ZipFile, names: list[str], name: str) -> str:
    if name not in names:
        return ""
    with archive.open(name) as part:
        return part.read(MAX_PART).decode("utf-8", "replace")
