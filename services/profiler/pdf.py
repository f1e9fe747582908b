"""One look at a PDF: pages, outline, metadata, and what kind of pages they are."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from libs.contracts.artefacts.profile import Kind, OutlineEntry
from libs.contracts.faults import Code, DocumentFault

PASSWORD_ERROR = 4  # FPDF_ERR_PASSWORD
IMAGE_OBJECT = 3  # FPDF_PAGEOBJ_IMAGE
SAMPLED_PAGES = 12
OUTLINE_ENTRIES = 20_000
OUTLINE_DEPTH = 12
LONGEST_TITLE = 500
NO_TEXT = 25
"""Characters below which a page counts as having no text of its own."""
SLIDE_TEXT = 900
ATLAS_TEXT = 500
WIDE = 1.2
"""Width by height from which a page looks like a slide; A4 across is 1.41, 4:3 is 1.33."""
SMALL = 1 << 20

_EMPTY_TREE = re.compile(
    rb"/Type\s*/Pages\b[^>]{0,999}/Count\s+0\b|/Count\s+0\b[^>]{0,999}/Type\s*/Pages\b"
)
_PAGE = re.compile(rb"/Type\s*/Page\b")


@dataclass(frozen=True)
class PageLook:
    """A sampled page: characters, share covered by its largest image, size in points."""

    characters: int
    covered: float
    width: float
    height: float


@dataclass
class PdfLook:
    """What the profile takes from a PDF; `sample` is text of the sampled pages."""

    page_count: int
    outline: list[OutlineEntry] = field(default_factory=list)
    metadata: dict[str, str] = field(default_factory=dict)
    kind: Kind = "standard"
    sample: str = ""


def look_at_pdf(path: Path, max_pages: int, progress: Callable[[], None]) -> PdfLook:
    """Open the PDF at `path` and look at it.

    Raises `DocumentFault`: `ENCRYPTED` when it needs a password, `UNREADABLE` when it is
    damaged or truncated, `NO_CONTENT` without pages, `TOO_LARGE` over `max_pages`.
    """
    with _opened(path) as pdf:
        count = len(pdf)
        if count == 0:
            raise _no_pages()
        if count > max_pages:
            raise DocumentFault(
                Code.TOO_LARGE, f"the PDF has {count} pages; at most {max_pages} are read, split it"
            )
        metadata = {k: v for k, v in pdf.get_metadata_dict(skip_empty=True).items() if v}
        looks, texts = [], []
        for index in sampled(count):
            look, text = _look_at_page(pdf, index)
            looks.append(look)
            texts.append(text)
            progress()
        outline = list(_outline(pdf))
    return PdfLook(count, outline, metadata, kind_of(looks), "\n".join(texts))


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    import pypdfium2

    opening: Any = pypdfium2.PdfDocument
    try:
        pdf = opening(path)
    except pypdfium2.PdfiumError as error:
        if error.err_code == PASSWORD_ERROR:
            raise DocumentFault(
                Code.ENCRYPTED, "the PDF is protected by a password; send it without one"
            ) from None
        if _says_no_pages(path):
            raise _no_pages() from None
        raise DocumentFault(
            Code.UNREADABLE, "the PDF cannot be opened: it is damaged or truncated"
        ) from None
    try:
        yield pdf
    finally:
        pdf.close()


def _says_no_pages(path: Path) -> bool:
    """Whether a small PDF that PDFium refuses is whole, but has an empty page tree."""
    with path.open("rb") as file:
        data = file.read(SMALL)
    return len(data) < SMALL and bool(_EMPTY_TREE.search(data)) and not _PAGE.search(data)


def _no_pages() -> DocumentFault:
    return DocumentFault(Code.NO_CONTENT, "the PDF has no pages")


def sampled(count: int) -> list[int]:
    """Indices of pages to look at, spread evenly, the first and the last among them."""
    if count <= SAMPLED_PAGES:
        return list(range(count))
    step = (count - 1) / (SAMPLED_PAGES - 1)
    return sorted({round(i * step) for i in range(SAMPLED_PAGES)})


def kind_of(pages: list[PageLook]) -> Kind:
    """Scanned, slides or atlas when most sampled pages look like it, else standard."""

    def most(count: int) -> bool:
        return count > len(pages) / 2

    if most(sum(p.characters < NO_TEXT and p.covered > 0.5 for p in pages)):
        return "scanned"
    sizes = {(round(p.width), round(p.height)) for p in pages}
    wide = all(p.width > p.height * WIDE for p in pages)
    text = sum(p.characters for p in pages) / max(len(pages), 1)
    if len(pages) >= 3 and wide and len(sizes) == 1 and text < SLIDE_TEXT:
        return "slides"
    if len(pages) >= 3 and most(sum(p.covered > 0.5 and p.characters < ATLAS_TEXT for p in pages)):
        return "atlas"
    return "standard"


def _look_at_page(pdf: Any, index: int) -> tuple[PageLook, str]:
    """A page that cannot be loaded is looked at as an empty one: the parser will say so."""
    import pypdfium2

    try:
        page = pdf[index]
    except pypdfium2.PdfiumError:
        return PageLook(0, 0.0, 0.0, 0.0), ""
    width, height = page.get_size()
    text = page.get_textpage().get_text_range()
    area = max(width * height, 1.0)
    covered = 0.0
    for image in page.get_objects(filter=[IMAGE_OBJECT], max_depth=2):
        left, bottom, right, top = image.get_bounds()
        covered = max(covered, (right - left) * (top - bottom) / area)
    page.close()
    return PageLook(len("".join(text.split())), min(covered, 1.0), width, height), text


def _outline(pdf: Any) -> Iterator[OutlineEntry]:
    for number, mark in enumerate(pdf.get_toc(max_depth=OUTLINE_DEPTH)):
        if number == OUTLINE_ENTRIES:
            return
        title = " ".join(mark.get_title().split())[:LONGEST_TITLE]
        if title:
            yield OutlineEntry(level=mark.level + 1, title=title, page=_page_of(mark))


def _page_of(mark: Any) -> int | None:
    destination = mark.get_dest()
    index = destination.get_index() if destination is not None else None
    return None if index is None else index + 1
