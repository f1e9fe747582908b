"""The profile of one file, put together from the looks at it."""

import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email import policy
from email.parser import BytesHeaderParser
from pathlib import Path

from libs.contracts.artefacts.profile import Kind, PageRange, Profile
from libs.contracts.faults import Code, DocumentFault
from libs.runtime.sandbox.archives import MB, ArchiveLimits
from libs.runtime.unlock import unlocked_package
from services.profiler.detect import Detected, detect
from services.profiler.image import look_at_image
from services.profiler.language import language_of
from services.profiler.office import look_at_ole, look_at_zip
from services.profiler.pdf import look_at_pdf

TEXT_SAMPLE = 256 << 10
LONGEST_VALUE = 500
ZIPS = frozenset({"docx", "pptx", "xlsx", "odt", "ods", "odp", "hwpx", "epub"})
OLES = frozenset({"doc", "ppt", "xls", "hwp", "msg"})
TAGGED = ZIPS | OLES | {"html", "xml"}
"""Formats whose texts stand between tags, where they come as text."""

_YEAR = re.compile(r"(?<!\d)(?:19[5-9]\d|20[0-4]\d)(?!\d)")
_PDF_DATE = re.compile(r"(?:D:)?((?:19|20)\d\d)")
_HTML_TITLE = re.compile(r"<title[^<>]{0,500}>([^<]{1,2000})</title>", re.IGNORECASE)
_HTML_TAG = re.compile(r"<[^<>]*>")
_HTML_UNREAD = re.compile(r"<(script|style)\b", re.IGNORECASE)
_MACHINE_TITLE = re.compile(
    r"^(?:microsoft \w+ - .*|untitled.*|(?:document|presentation|book|slide)\s*\d*|"
    r"power ?point presentation|제목 없음|"
    r"\(?anonymous\)?|unspecified|[\W_\d]*|"
    r".*\.(?:docx?|pptx?|xlsx?|hwpx?|epub|od[tsp]|pdf|indd|qxd|tex|dvi|html?|png|jpe?g|tiff?))$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Bounds:
    """What is looked at; pages of a PDF over `shard_over` are cut into shards of `shard_pages`,
    scans, each page of which takes seconds to read, into shards of `scanned_pages`."""

    max_pages: int = 20_000
    shard_over: int = 200
    shard_pages: int = 100
    max_archive_mb: int = 1024
    max_megapixels: int = 120
    scanned_pages: int = 20


@dataclass
class _Look:
    metadata: dict[str, str]
    sample: str = ""
    page_count: int = 0
    kind: Kind = "standard"


def profile_file(
    path: Path,
    *,
    file_name: str,
    size: int,
    sha256: str,
    declared: str | None = None,
    bounds: Bounds | None = None,
    progress: Callable[[], None] = lambda: None,
    tell: Callable[[str], None] = lambda _: None,
) -> Profile:
    """Look at the whole file once. Raises the `DocumentFault`s of detection and looking.

    A workbook under the password that Excel itself gives is looked at unlocked. `tell` is given
    text of the file, as much as was looked at, where there is any.
    """
    bounds = bounds or Bounds()
    limits = ArchiveLimits(total=bounds.max_archive_mb * MB)
    if (package := unlocked_package(path)) is not None:
        with tempfile.TemporaryDirectory() as folder:
            inside = Path(folder) / "package"
            inside.write_bytes(package)
            return profile_file(
                inside, file_name=file_name, size=size, sha256=sha256, declared=declared,
                bounds=bounds, progress=progress, tell=tell,
            )  # fmt: skip
    found = detect(path, file_name, declared, limits)
    progress()
    profile = Profile(
        format=found.format, media_type=found.media_type, file_name=file_name,
        size=size, sha256=sha256, encoding=found.encoding,
    )  # fmt: skip
    if found.format == "pdf":
        pdf = look_at_pdf(path, bounds.max_pages, progress)
        look = _Look(_pdf_metadata(pdf.metadata), pdf.sample, pdf.page_count, pdf.kind)
        over, size = bounds.shard_over, bounds.shard_pages
        if pdf.kind == "scanned":
            over = size = min(bounds.scanned_pages, size)
        shards = plan(pdf.page_count, over, size)
        profile = profile.model_copy(update={"outline": pdf.outline, "shards": shards})
    else:
        look = _look(path, found, bounds)
    tell(look.sample)
    return _described(profile, look)


def plan(pages: int, over: int, size: int) -> list[PageRange]:
    """The shards of a paged file: one up to `over` pages, else pieces of about `size`."""
    if pages <= over:
        return [PageRange(first=1, last=pages)]
    return [
        PageRange(first=first, last=min(first + size - 1, pages))
        for first in range(1, pages + 1, size)
    ]


def _look(path: Path, found: Detected, bounds: Bounds) -> _Look:
    if found.format in ZIPS and found.encoding is None:
        office = look_at_zip(path, found.format, found.members)
        kind: Kind = "slides" if found.format in ("pptx", "odp") else "standard"
        return _Look(office.metadata, office.sample, office.page_count, kind)
    if found.format in OLES and found.encoding is None:
        office = look_at_ole(path, found.format)
        kind = "slides" if found.format == "ppt" else "standard"
        return _Look(office.metadata, office.sample, kind=kind)
    if found.format == "image":
        image = look_at_image(path, bounds.max_megapixels * 1_000_000)
        metadata = {"created": image.created} if image.created else {}
        return _Look(metadata, page_count=image.page_count, kind="scanned")
    return _look_at_text(path, found)


def _look_at_text(path: Path, found: Detected) -> _Look:
    with path.open("rb") as file:
        head = file.read(TEXT_SAMPLE)
    if found.format in ("rtf", "doc"):
        return _Look({})
    if found.format == "eml":
        headers = BytesHeaderParser(policy=policy.compat32).parsebytes(head)
        metadata = {"title": _header(headers["subject"]), "created": _header(headers["date"])}
        body = head.partition(b"\n\n")[2] or head.partition(b"\r\n\r\n")[2]
        return _Look(metadata, body.decode(found.encoding or "utf-8", "replace"))
    text = head.decode(found.encoding or "utf-8", "replace").removeprefix("\ufeff")
    if not text.strip() and path.stat().st_size <= TEXT_SAMPLE:
        raise DocumentFault(Code.NO_CONTENT, "the file holds nothing but white space")
    if found.format in TAGGED:
        title = _HTML_TITLE.search(text)
        return _Look({"title": _stripped(title[1])} if title else {}, _stripped(text))
    return _Look({}, text, kind="entries" if found.format == "jsonl" else "standard")


def _header(value: object) -> str:
    from email.header import decode_header, make_header

    if value is None:
        return ""
    try:
        return " ".join(str(make_header(decode_header(str(value)))).split())
    except (ValueError, LookupError):
        return " ".join(str(value).split())


def _stripped(html: str) -> str:
    from html import unescape

    return unescape(" ".join(_HTML_TAG.sub(" ", "".join(_read_parts(html))).split()))


def _read_parts(html: str) -> Iterator[str]:
    """The page without scripts and styles; one that is not closed reaches to the end."""
    lowered, at = html.lower(), 0
    for found in _HTML_UNREAD.finditer(html):
        if found.start() < at:
            continue
        yield html[at : found.start()] + " "
        end = lowered.find(f"</{found[1].lower()}", found.end())
        if end < 0:
            return
        at = end
    yield html[at:]


def _pdf_metadata(raw: dict[str, str]) -> dict[str, str]:
    names = {"Title": "title", "Author": "author", "Subject": "subject", "Keywords": "keywords",
             "CreationDate": "created", "Creator": "creator", "Producer": "producer"}  # fmt: skip
    return {names[k]: " ".join(v.split()) for k, v in raw.items() if k in names}


def _described(profile: Profile, look: _Look) -> Profile:
    """The profile with what the look says: language, title, year, all of them inferred."""
    metadata = {
        k: "".join(c for c in v if c.isprintable())[:LONGEST_VALUE]
        for k, v in sorted(look.metadata.items())
        if v.strip()
    }
    title = metadata.get("title", "")
    title = "" if _MACHINE_TITLE.match(title) else title
    language = language_of(look.sample)
    if language == "und" and re.fullmatch(r"[a-z]{2}(?:-.*)?", metadata.get("language", "")):
        language = metadata["language"][:2]
    year = year_of(profile.file_name, title, metadata.get("created", ""))
    inferred: dict[str, str | int] = {}
    if language != "und":
        inferred["language"] = language
    if title:
        inferred["title"] = title
    if year:
        inferred["year"] = year
    return profile.model_copy(
        update={
            "language": language,
            "title": title or None,
            "page_count": look.page_count,
            "kind": look.kind,
            "metadata": metadata,
            "inferred": inferred,
        }
    )


def year_of(file_name: str, title: str, created: str) -> int | None:
    """The year a document is of: as its name or title says, else when it was made."""
    for text in (file_name, title):
        if found := _YEAR.findall(text):
            return int(max(found))
    if found_date := _PDF_DATE.search(created):
        return int(found_date[1])
    return None
