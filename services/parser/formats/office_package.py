"""Packages of office documents as their strict readers want them.

Office programs open a document that is a template or holds macros, whose relations lead to parts
that are not there, or whose parts have no declared type (ECMA-376 part 2); the libraries that
read packages refuse each of these, and presentations in the strict form of the format.
"""

import posixpath
import re
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from services.parser.formats.base import ParseInput

MAX_PART = 16 << 20
"""Bytes of a list of types or relations that is read."""
TYPES = "[Content_Types].xml"
MANIFEST = "META-INF/manifest.xml"
_CONTENT = "{http://schemas.openxmlformats.org/package/2006/content-types}"
_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_MAIN = {
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml",
}
_MAIN_KINDS = re.compile(
    r".*(?:word|powerpoint|presentation)[\w-]*\."
    r"(?:document|template|presentation|slideshow)[\w.]*\.main\+xml"
)
_ODF_VARIANT = re.compile(
    r"(application/vnd\.oasis\.opendocument\.(?:text|presentation))-(?:template|web|master)\b"
)
_ROLES = frozenset({"header", "footer", "footnotes", "endnotes", "comments", "numbering", "styles",
                    "settings"})  # fmt: skip
"""Parts of a text document whose type is named as the relations to them are."""
_ANY = "application/octet-stream"
_STRICT = b"purl.oclc.org/ooxml"
_DAMAGED = (
    zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError,
    SyntaxError, ValueError, KeyError,
)  # fmt: skip


def mended(given: ParseInput) -> ParseInput:
    """The input as a package that its reader takes; as it is where nothing can or must be done."""
    try:
        if given.profile.format == "pptx":
            given = _transitional(given)
        with zipfile.ZipFile(given.path) as archive:
            if given.profile.format in _MAIN:
                changed = _mended_opc(archive, _MAIN[given.profile.format])
            else:
                changed = _mended_odf(archive)
            if changed:
                given = replace(given, path=_written(archive, changed, given.scratch / "mended"))
    except _DAMAGED:
        return given
    return given


def _transitional(given: ParseInput) -> ParseInput:
    """A presentation in the strict form of the format, in the form that is read."""
    from docling.backend.msword_backend import _normalize_strict_ooxml

    with zipfile.ZipFile(given.path) as archive:
        if _STRICT not in _read(archive, "_rels/.rels"):
            return given
        path = given.scratch / "transitional"
        path.write_bytes(_normalize_strict_ooxml(archive).getbuffer())
    return replace(given, path=path)


def _mended_opc(archive: zipfile.ZipFile, main: str) -> dict[str, bytes]:
    """The parts to write instead: lists of types and of relations."""
    from defusedxml.ElementTree import fromstring

    changed: dict[str, bytes] = {}
    names = set(archive.namelist())
    alike = {name.casefold(): name for name in sorted(names)}
    reached: dict[str, str] = {}
    for name in sorted(n for n in names if n.endswith(".rels")):
        relations = fromstring(_read(archive, name))
        base = posixpath.dirname(posixpath.dirname(name))
        if _followed(relations, base, names, alike, reached):
            changed[name] = _xml(relations)
    types = fromstring(_read(archive, TYPES))
    if _declared(types, reached, main):
        changed[TYPES] = _xml(types)
    return changed


def _followed(
    relations: Any, base: str, names: set[str], alike: dict[str, str], reached: dict[str, str]
) -> bool:
    """Note the parts that the relations reach, as what, and drop relations that lead nowhere.

    Whether the relations are changed.
    """
    changed = False
    for relation in list(relations.iter(_RELATION)):
        if relation.get("TargetMode") == "External":
            continue
        target = posixpath.normpath(posixpath.join("/", base, relation.get("Target", "")))[1:]
        found = target if target in names else alike.get(unquote(target).casefold())
        if found is None:
            relations.remove(relation)
        elif found != target:
            relation.set("Target", f"/{found}")
        changed |= found != target
        if found is not None:
            reached[found] = relation.get("Type", "").rpartition("/")[2]
    return changed


def _declared(types: Any, reached: dict[str, str], main: str) -> bool:
    """Declare the main part as that of a plain document, and every part as something.

    Whether the types are changed.
    """
    changed = False
    endings, parts = set(), set()
    for declared in types:
        endings.add(declared.get("Extension", "").casefold())
        parts.add(declared.get("PartName", "").casefold())
        kind = declared.get("ContentType", "")
        if kind != main and _MAIN_KINDS.fullmatch(kind):
            declared.set("ContentType", main)
            changed = True
    for name, role in sorted(reached.items()):
        ending = posixpath.splitext(name)[1][1:].casefold()
        if ending not in endings and f"/{name}".casefold() not in parts:
            kind = main.replace("document.main", role) if role in _ROLES else _ANY
            override = {"PartName": f"/{name}", "ContentType": kind}
            types.append(types.makeelement(f"{_CONTENT}Override", override))
            changed = True
    return changed


def _mended_odf(archive: zipfile.ZipFile) -> dict[str, bytes]:
    """The parts to write instead: templates, web pages and masters are documents too."""
    kind = _read(archive, "mimetype").decode("ascii", "replace").strip()
    plain = _ODF_VARIANT.fullmatch(kind)
    if plain is None:
        return {}
    listed = _read(archive, MANIFEST).decode("utf-8", "replace")
    return {"mimetype": plain[1].encode(), MANIFEST: _ODF_VARIANT.sub(r"\1", listed).encode()}


def _read(archive: zipfile.ZipFile, name: str) -> bytes:
    with archive.open(name) as part:
        content = part.read(MAX_PART + 1)
    if len(content) > MAX_PART:
        raise ValueError
    return content


def _written(archive: zipfile.ZipFile, changed: dict[str, bytes], path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as package:
        for name in dict.fromkeys(archive.namelist()):
            package.writestr(name, changed[name] if name in changed else archive.read(name))
    return path


def _xml(root: Any) -> bytes:
    from xml.etree.ElementTree import tostring

    return bytes(tostring(root, "utf-8", xml_declaration=True))
