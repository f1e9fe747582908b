"""Files inside a document: each is named under a heading of its own, with its content below.

What is attached is read by the strategy of its own format, told by its content. Attachments of
attachments are read to `MAX_DEPTH`; what is too large, too deep or in a format that nobody reads
is named only. A damaged attachment never fails the document that holds it.
"""

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from libs.contracts.artefacts.profile import Format, PageRange
from libs.contracts.artefacts.rows import Row
from libs.contracts.faults import Code, DocumentFault
from services.parser.formats.attached_kind import attached_format, encoding_of, page_count
from services.parser.formats.base import ParseInput, Scans
from services.parser.formats.images import add_image, image_type
from services.parser.formats.rows import MAX_LEVEL, Rows, one_line

MAX_DEPTH = 2
MAX_FILES = 200
MAX_READ = 30
MAX_BYTES = 64 << 20
MAX_PAGES = 200
UNNAMED = "attachment"


@dataclass(frozen=True)
class Attachment:
    """A file inside another: its name as the document gives it, and its bytes."""

    name: str
    data: bytes


def add_attachments(
    given: ParseInput, rows: Rows, files: Iterable[Attachment], *, level: int = 1
) -> None:
    """Rows of the attachments at the end of `rows`, each under a heading of `level`.

    Bytes of pictures become image rows. Equal bytes are read once.
    """
    read: set[bytes] = set()
    left = MAX_BYTES
    for count, file in enumerate(files):
        if count >= MAX_FILES:
            rows.note("attachments_left_out", "attachments past the limit were left out",
                      severity="warning")  # fmt: skip
            return
        given.progress(0)
        found = attached_format(file.name, file.data)
        name = _shown_name(file.name, found)
        rows.heading(name, level, evidence="markup")
        if image_type(file.data) is not None:
            add_image(rows, given.assets, file.data, name)
            continue
        small = len(file.data) <= left and len(read) < MAX_READ
        if found is None or file.data in read or not small or given.depth >= MAX_DEPTH:
            rows.note("attachments", "some attachments are named, not read; upload them apart")
            continue
        read.add(file.data)
        left -= len(file.data)
        _read(given, rows, Attachment(name, file.data), found, level)


def _shown_name(name: str, found: Format | None) -> str:
    """The attachment's name; an object that has none of its own is called by its format."""
    name = one_line(name) or UNNAMED
    return f"{name.removesuffix('.bin')}.{found}" if found and name.endswith(".bin") else name


def _read(given: ParseInput, rows: Rows, file: Attachment, found: Format, level: int) -> None:
    from services.parser.formats import strategy

    folder = Path(tempfile.mkdtemp(prefix="attachment-", dir=given.scratch))
    source = folder / "source"
    source.write_bytes(file.data)
    try:
        child = strategy(found)(_input(given, source, found, file))
    except MemoryError:
        raise
    except Exception as problem:
        code = problem.code if isinstance(problem, DocumentFault) else Code.UNREADABLE
        rows.note(f"attachment_{code.value}", "an attachment could not be read: it is named only",
                  severity="warning")  # fmt: skip
        return
    for row in child.rows:
        rows.rows.append(_moved(row, len(rows.rows), level))
    for finding in child.findings:
        rows.note(finding.code, finding.detail, severity=finding.severity, count=finding.count)


def _input(given: ParseInput, source: Path, found: Format, file: Attachment) -> ParseInput:
    pages = min(page_count(source), MAX_PAGES) if found == "pdf" else 0
    scratch = source.parent / "scratch"
    scratch.mkdir()
    whole = PageRange(first=min(1, pages), last=pages)
    profile = given.profile.model_copy(
        update={
            "format": found,
            "file_name": file.name,
            "size": len(file.data),
            "encoding": encoding_of(file.data),
            "page_count": pages,
            "kind": "standard",
            "outline": [],
            "shards": [whole],
            "title": None,
        }
    )
    return replace(
        given, path=source, profile=profile, pages=whole, scratch=scratch, engine=None,
        depth=given.depth + 1, scans=Scans(),
    )  # fmt: skip


def _moved(row: Row, order: int, level: int) -> Row:
    """The row as part of the document: below the attachment's heading, on no page of it."""
    update: dict[str, object] = {"order": order, "page": None, "boxes": []}
    if row.kind == "heading":
        update["level"] = min((row.level or 1) + level, MAX_LEVEL)
        if row.evidence == "font":
            # sizes of another file say nothing beside those of this one
            update |= {"evidence": "markup", "font_size": None}
    return row.model_copy(update=update)
