"""EPUB: the chapters of its spine in order, each read as HTML, its table of contents as outline.

After W3C, "EPUB 3.3", 2023, and IDPF, "Open Packaging Format 2.0.1", 2010 (NCX). Nothing is
fetched: pictures come out of the package.
"""

import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from libs.contracts.faults import Code, DocumentFault
from services.parser.formats.archives import opened
from services.parser.formats.base import ParseInput, ShardResult
from services.parser.formats.captions import attach_captions
from services.parser.formats.html import Walker
from services.parser.formats.html_text import inline_text
from services.parser.formats.images import add_image
from services.parser.formats.rows import Rows, one_line

CONTAINER, ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
MAX_PART = 32 << 20
MAX_CHAPTERS = 5_000
MAX_LEVEL = 12
TEXTS = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml"})
ABOUT = {"creator": "author", "contributor": "contributor", "description": "description",
         "publisher": "publisher", "subject": "subject", "date": "date"}  # fmt: skip
"""What the package says of the book besides its title, and how it is called here."""
_DAMAGED = "the book is damaged: its package cannot be read"


@dataclass
class Book:
    """The package: texts of the spine, and titles with their level by the text they begin."""

    chapters: list[str] = field(default_factory=list)
    titles: dict[str, tuple[int, str]] = field(default_factory=dict)
    about: list[tuple[str, str]] = field(default_factory=list)


def parse(given: ParseInput) -> ShardResult:
    """Rows of the book: what the package says of it, then its chapters."""
    from selectolax import __version__ as version

    given = opened(given)
    rows = Rows()
    try:
        with zipfile.ZipFile(given.path) as archive:
            book = _book(archive)
            for name, text in book.about:
                rows.add("note", f"{name}: {text}")
            for count, part in enumerate(book.chapters):
                given.progress(0)
                if count == MAX_CHAPTERS:
                    rows.note("chapters_left_out", "chapters past the limit were left out",
                              severity="warning")  # fmt: skip
                    break
                _chapter(given, rows, archive, part, book.titles.get(part))
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError,
            NotImplementedError) as problem:  # fmt: skip
        raise DocumentFault(Code.UNREADABLE, _DAMAGED) from problem
    attach_captions(rows.rows)
    return rows.result("selectolax", {"selectolax": version})


def _chapter(
    given: ParseInput, rows: Rows, archive: zipfile.ZipFile, part: str,
    title: tuple[int, str] | None,
) -> None:  # fmt: skip
    from selectolax.lexbor import LexborHTMLParser

    data = _read(archive, part)
    if data is None:
        rows.note("chapter_missing", "chapters that the package names and lacks were left out",
                  severity="warning")  # fmt: skip
        return
    body = LexborHTMLParser(data.decode("utf-8", "replace")).body
    if body is None:
        return
    first = len(rows.rows)
    _Chapter(rows, given.assets, archive=archive, part=part).blocks(body)
    if title is not None:
        _settle(rows, first, *title)


def _settle(rows: Rows, first: int, level: int, title: str) -> None:
    """Headings of a chapter below its entry in the table of contents, which is one of them."""
    places = [i for i in range(first, len(rows.rows)) if rows.rows[i].kind == "heading"]
    if not places or not _begins(rows.rows[places[0]].text, title):
        if first == len(rows.rows):
            return
        heading = Rows()
        heading.heading(title, level, evidence="outline")
        rows.rows[first:first] = heading.rows
        places = [place + 1 for place in places]
        highest = min((rows.rows[i].level or 1 for i in places), default=1) - 1
    else:
        highest = rows.rows[places[0]].level or 1
        rows.rows[places[0]] = rows.rows[places[0]].model_copy(update={"evidence": "outline"})
    for i in places:
        below = max(0, (rows.rows[i].level or 1) - highest)
        update = {"level": min(level + below, MAX_LEVEL)}
        rows.rows[i] = rows.rows[i].model_copy(update=update)
    rows.rows[first:] = [
        row.model_copy(update={"order": first + i}) for i, row in enumerate(rows.rows[first:])
    ]


def _begins(heading: str, title: str) -> bool:
    """Whether a heading is an entry's title, or begins with it and a word ends there."""
    whole, start = one_line(heading).casefold(), title.casefold()
    return whole.startswith(start) and not whole[len(start) : len(start) + 1].isalnum()


@dataclass
class _Chapter(Walker):
    """A walk that finds its pictures in the package."""

    archive: Any = None
    part: str = ""

    def picture(self, source: str, alternative: str) -> None:
        """An image row for a picture of the package."""
        if source.startswith("data:"):
            super().picture(source, alternative)
            return
        data = _read(self.archive, _target(self.part, source) or "")
        if data is None:
            self.rows.note("image_elsewhere", "images that lie outside the file were left out")
        else:
            add_image(self.rows, self.assets, data, alternative)


def _book(archive: zipfile.ZipFile) -> Book:
    _check_encryption(archive)
    container = _tree(archive, CONTAINER)
    package = next(
        (e.get("full-path", "") for e in _named(container, "rootfile") if e.get("full-path")), ""
    )
    root = _tree(archive, package)
    if root is None:
        raise DocumentFault(Code.UNREADABLE, _DAMAGED)
    book = Book()
    for name, label in ABOUT.items():
        for element in _named(root, name):
            text = one_line("".join(element.itertext()))
            book.about += [(label, text)] if text else []
    items = {e.get("id", ""): e for e in _named(root, "item")}
    contents = [_target(package, e.get("href", "")) for e in items.values()
                if "nav" in e.get("properties", "").split()]  # fmt: skip
    for reference in _named(root, "itemref"):
        item = items.get(reference.get("idref", ""))
        if item is None or item.get("media-type", "") not in TEXTS:
            continue
        part = _target(package, item.get("href", ""))
        if part and part not in contents:
            book.chapters.append(part)
    entries = [e for part in contents if part for e in _nav_entries(archive, part)]
    if not entries:
        tables = (e for e in items.values() if "ncx" in e.get("media-type", ""))
        for table in tables:
            entries += _ncx_entries(archive, _target(package, table.get("href", "")) or "")
    for part, level, title in entries:
        book.titles.setdefault(part, (min(level, MAX_LEVEL), title))
    return book


def _check_encryption(archive: zipfile.ZipFile) -> None:
    """Raise `DocumentFault(ENCRYPTED)` for texts that are locked; locked fonts do no harm."""
    for element in _named(_tree(archive, ENCRYPTION), "CipherReference"):
        if element.get("URI", "").lower().endswith((".xhtml", ".html", ".htm", ".xml", ".opf")):
            raise DocumentFault(
                Code.ENCRYPTED, "the book is locked by its seller; send it without protection"
            )


def _nav_entries(archive: zipfile.ZipFile, part: str) -> Iterator[tuple[str, int, str]]:
    """Text, level and title of the entries of an EPUB 3 table of contents."""
    from selectolax.lexbor import LexborHTMLParser

    data = _read(archive, part)
    if data is None:
        return
    tree = LexborHTMLParser(data.decode("utf-8", "replace"))
    tables = [n for n in tree.css("nav") if (n.attributes.get("epub:type") or "toc") == "toc"]
    for link in tables[0].css("a") if tables else ():
        level, above = 0, link.parent
        while above is not None and above.tag != "nav":
            level += above.tag == "ol"
            above = above.parent
        target, title = _target(part, link.attributes.get("href") or ""), inline_text(link)
        if target and one_line(title):
            yield target, max(1, level), one_line(title)


def _ncx_entries(archive: zipfile.ZipFile, part: str) -> Iterator[tuple[str, int, str]]:
    """The same of an EPUB 2 table, whose entries nest."""
    root = _tree(archive, part)
    waiting = [(e, 1) for e in reversed(list(_children(next(_named(root, "navMap"), None))))]
    while waiting:
        entry, level = waiting.pop()
        texts = [e for child in _children(entry, "navLabel") for e in _named(child, "text")]
        title = one_line("".join(texts[0].itertext())) if texts else ""
        for content in _children(entry, "content"):
            target = _target(part, content.get("src", ""))
            if target and title:
                yield target, level, title
        waiting += [(e, level + 1) for e in reversed(list(_children(entry)))]


def _children(element: Any, name: str = "navPoint") -> Iterator[Any]:
    for child in element if element is not None else ():
        if str(child.tag).rpartition("}")[2] == name:
            yield child


def _named(root: Any, name: str) -> Iterator[Any]:
    """The elements below `root` of this local name; none where it is None."""
    for element in root.iter() if root is not None else ():
        if str(element.tag).rpartition("}")[2] == name:
            yield element


def _target(part: str, reference: str) -> str | None:
    """The part that `part` refers to, None outside the package."""
    path = unquote(reference.partition("#")[0].partition("?")[0])
    if not path or "://" in path or path.startswith(("/", "data:")):
        return None
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(part), path))
    return None if joined.startswith("..") else joined


def _read(archive: zipfile.ZipFile, part: str) -> bytes | None:
    """The bytes of a part, None where it is missing or far too large."""
    try:
        info = archive.getinfo(part)
    except KeyError:
        return None
    return archive.read(info) if info.file_size <= MAX_PART else None


def _tree(archive: zipfile.ZipFile, part: str) -> Any:
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import ParseError, fromstring

    data = _read(archive, part)
    try:
        return None if data is None else fromstring(data)
    except (ParseError, DefusedXmlException, ValueError):
        return None
