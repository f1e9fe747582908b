"""PDF: read by liteparse, laid out here, pages without text read by OCR."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from services.parser.formats.attached import add_attachments
from services.parser.formats.base import ParseInput, ShardResult
from services.parser.formats.captions import attach_captions
from services.parser.formats.images import add_image, image_type
from services.parser.formats.ocr import Reader, as_jpeg, is_blank
from services.parser.formats.pdf_attached import pdf_attachments
from services.parser.formats.pdf_blocks import to_lines
from services.parser.formats.pdf_contents import take_contents
from services.parser.formats.pdf_document import opened_pdf
from services.parser.formats.pdf_furniture import sides, split_furniture
from services.parser.formats.pdf_hyphens import Compounds, join_lines
from services.parser.formats.pdf_layout import reading_order
from services.parser.formats.pdf_outline import copy_pages, has_sound_outline
from services.parser.formats.pdf_page import Area, Page, Segment, Table
from services.parser.formats.pdf_read import read_pages
from services.parser.formats.pdf_rows import PageWriter, box
from services.parser.formats.pdf_tables import find_tables, take_words
from services.parser.formats.pdf_titles import Typography
from services.parser.formats.pdf_unseen import has_text_of_no_size
from services.parser.formats.pdf_xfa import xfa_texts
from services.parser.formats.rows import Rows
from services.parser.formats.text import add_text

MIN_TEXT = 12
"""Characters below which a page with a picture is taken for a scan."""
BACKGROUND = 0.85
"""Share of the page that a picture covers to count as its background."""


def parse(given: ParseInput) -> ShardResult:
    """Rows of the shard's pages, in reading order."""
    with opened_pdf(given.path) as document:
        return _parse(given, document)


def _parse(given: ParseInput, document: Any) -> ShardResult:
    from importlib.metadata import version

    rows = Rows()
    pages: list[Page] = []
    for page in read_pages(
        _readable(given, rows, document), given.pages.first, given.pages.last,
        document=document, total=given.profile.page_count,
    ):  # fmt: skip
        _keep_pictures(given, rows, page)
        pages.append(page)
        given.progress(1)
    reader = Reader(given, rows)
    scans = {p.number for p in pages if _is_scan(p)}
    heads, feet = split_furniture(pages)
    contents = take_contents(pages)
    whole = Typography.of(pages)
    tables: dict[int, list[Table]] = {}
    for page in pages:
        if page.number not in scans:
            tables[page.number] = find_tables(page)
            page.segments = take_words(page, tables[page.number])
    compounds = Compounds(s.text for page in pages for s in page.segments)
    writer = PageWriter(rows, Typography.of(pages).or_with_tables(whole), compounds=compounds)
    for page in pages:
        _edge(rows, page, "page_header", heads.get(page.number, ()))
        if page.number in scans:
            _scan(given, rows, writer, reader, page)
        else:
            items: list[Area] = [*page.segments, *tables[page.number], *page.pictures]
            items += [contents[page.number]] if page.number in contents else []
            writer.write(page, reading_order(items))
        _edge(rows, page, "page_footer", feet.get(page.number, ()))
        _aside(rows, page)
        given.progress(0)
    attach_captions(rows.rows)
    ends = given.pages.last in (0, given.profile.page_count)
    if ends:
        _form(given, rows)
        if has_text_of_no_size(given.path):
            rows.note("hidden_text", "text set in no size at all was left out", severity="warning")
    _attachments(given, rows, document, [p.number for p in pages if p.has_files], ends=ends)
    return rows.result(
        "liteparse",
        {"liteparse": version("liteparse"), "pypdfium2": version("pypdfium2"), **reader.versions},
        whole=given.pages.first <= 1 and ends,
    )


def _form(given: ParseInput, rows: Rows) -> None:
    """A form that stands on no page, after the last one."""
    texts = xfa_texts(given.path)
    for label, value in texts:
        if value:
            rows.add("note", f"{label}: {value}" if label else value)
        else:
            rows.add("paragraph", label)
    if texts:
        rows.note("xfa_form", "a form that only its own program draws; its texts are read")


def _attachments(
    given: ParseInput, rows: Rows, document: Any, pages: list[int], *, ends: bool
) -> None:
    """Files inside the PDF, after its last page.

    Earlier shards only tell of theirs: their content would part the pages around it.
    """
    if ends:
        add_attachments(given, rows, pdf_attachments(document, pages))
    elif pages:
        rows.note("attachments", "some attachments are named, not read; upload them apart")


def _readable(given: ParseInput, rows: Rows, document: Any) -> Path:
    """The source as liteparse needs it: its name ends in `.pdf`, its outline comes to an end."""
    own = given.scratch / "source.pdf"
    if not has_sound_outline(document):
        rows.note(
            "outline_damaged", "the embedded outline runs in circles: it is not used",
            severity="warning",
        )  # fmt: skip
        copy_pages(given.path, own)
        return own
    if given.path.suffix.lower() == ".pdf":
        return given.path
    own.symlink_to(given.path.absolute())
    return own


def _keep_pictures(given: ParseInput, rows: Rows, page: Page) -> None:
    """Pictures of the page as assets, so that no shard holds all of them in memory.

    A picture behind the text of a page is left out.
    """
    kept = []
    for picture in page.pictures:
        whole = picture.size > BACKGROUND * page.width * page.height
        if whole and page.letters >= MIN_TEXT:
            rows.note("background_image", "pictures behind a page's text were left out")
            continue
        media_type = image_type(picture.data)
        if media_type is None:
            rows.note("image_unreadable", "embedded images of an unknown type were left out")
            continue
        picture.asset = given.assets.add(picture.data, media_type)
        picture.media_type, picture.data = media_type, b""
        kept.append(picture)
    page.pictures = kept
    if page.small_pictures:
        rows.note(
            "small_images", "pictures of a few points were left out", count=page.small_pictures
        )


def _is_scan(page: Page) -> bool:
    if page.garbled:
        return True
    return page.letters < MIN_TEXT and (bool(page.pictures) or not page.letters)


def _scan(given: ParseInput, rows: Rows, writer: PageWriter, reader: Reader, page: Page) -> None:
    """A page without usable text: its picture, and what OCR reads in it, or else its text."""
    given.progress(0)
    image = reader.render(page)
    if image is not None and is_blank(image):
        return
    if image is not None and not page.pictures:
        whole = box(page, Area(0, 0, page.width, page.height))
        add_image(rows, given.assets, as_jpeg(image), page=page.number, boxes=[whole])
    for picture in page.pictures:
        writer.picture(page, picture)
    if (told := reader.told(page.number)) is not None:
        whole = box(page, Area(0, 0, page.width, page.height))
        add_text(rows, told, page=page.number, boxes=[whole])
        return
    if image is not None and not reader.put_aside(image, page.number):
        page.segments = reader.lines(image, page) or page.segments
    own = PageWriter(rows, Typography.of([page]), writer.levels, writer.compounds)
    own.write(page, reading_order(page.segments))


def _edge(rows: Rows, page: Page, kind: str, segments: Sequence[Segment]) -> None:
    for side in sides(segments):
        for line in to_lines(side):
            rows.add(kind, line.text, page=page.number, boxes=[box(page, line)])  # type: ignore[arg-type]


def _aside(rows: Rows, page: Page) -> None:
    """What stands beside the text: sideways text, comments and form values, hidden text."""
    for segment in page.sideways:
        rows.add("paragraph", segment.text, page=page.number, boxes=[box(page, segment)])
    for note in page.notes:
        rows.add("note", note, page=page.number)
    if page.hidden:
        text = join_lines([line.text for line in to_lines(page.hidden)])
        rows.add("paragraph", text, page=page.number, hidden=True)
        rows.note(
            "hidden_text",
            "text that a reader does not see is kept out of evidence",
            severity="warning",
            page=page.number,
        )
