"""PDF pages read by liteparse; everything it may do beyond reading (OCR, downloads) is off."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from libs.contracts.faults import Code, DocumentFault
from services.parser.formats.pdf_dashes import restore_dashes
from services.parser.formats.pdf_encoding import is_garbled
from services.parser.formats.pdf_page import Area, Page, Picture, Segment, plain_text
from services.parser.formats.rows import clean, one_line

if TYPE_CHECKING:
    from liteparse.types import ParsedPage, ParseResult, TextItem

FIRST_WINDOW, WINDOW = 25, 100
"""Most pages read at once, the first time in a file of unknown length, and later; every reading
opens the whole file anew. Progress follows each."""
WINDOW_BYTES = 16 << 20
"""Bytes of the file that are read at once: bounds the memory for pictures."""
CUT_GAP = 0.9
"""A gap between words wider than this many ems may be a column border and cuts a segment."""
MIN_TEXT_HEIGHT = 1.0
TURNED = 40
"""Characters that a page must have sideways to be turned."""
_BOLD = re.compile(
    r"bold|black|heavy|demi|-medi\b|\b(?:[A-Z]{6}\+)?(?:cm|ec|la|lm|sf|tc)[a-z]{0,3}bx",
    re.IGNORECASE,
)
"""Also bold-extended faces of TeX (`CMBX12`) and the older names of URW (`-Medi`)."""
_ENCRYPTED = re.compile(r"password|encrypt|security handler", re.IGNORECASE)


def read_pages(
    path: Path, first: int, last: int, *, document: Any = None, total: int = 0
) -> Iterator[Page]:
    """Pages `first` to `last` (0–0: all), window by window.

    `document` is the file in PDFium, where that opens it; `total` the pages of the file, where
    they are known. Encrypted files are `DocumentFault(ENCRYPTED)`, broken ones
    `DocumentFault(UNREADABLE)`.
    """
    size = path.stat().st_size
    start, end = max(first, 1), last or 0
    window = _window(size, total) if total else FIRST_WINDOW
    reached = start
    while start <= reached:
        stop = min(start + window - 1, end or start + window - 1)
        result = read_window(path, f"{start}-{stop}")
        reached = min(end or result.total_pages, result.total_pages)
        window = _window(size, result.total_pages)
        restore_dashes(document, result.pages)
        images: dict[int, list[Any]] = {}
        for image in result.images:
            images.setdefault(image.page, []).append(image)
        turns = {p.page_num: turn for p in result.pages if (turn := _turn(p))}
        turned = {p.number: p for p in _turned(path, turns, document)}
        for page in result.pages:
            upright = turned.get(page.page_num)
            yield upright or _page(page, images.get(page.page_num, []))
        start = stop + 1


def _window(size: int, pages: int) -> int:
    """How many pages of a file are read at once."""
    return max(10, min(WINDOW, WINDOW_BYTES * pages // max(size, 1)))


def _turn(page: "ParsedPage") -> int:
    """The degrees by which most of the page's text is turned: 90, 180, 270, or 0."""
    letters: dict[int, int] = {}
    for item in page.text_items:
        turn = round(item.rotation / 90) * 90 % 360
        letters[turn] = letters.get(turn, 0) + len(item.text)
    most = max(letters, key=lambda turn: letters[turn], default=0)
    return most if letters.get(most, 0) >= max(TURNED, 0.6 * sum(letters.values())) else 0


def _turned(path: Path, turns: dict[int, int], document: Any) -> Iterator[Page]:
    """Pages of sideways text, read once more and turned upright."""
    if not turns:
        return
    result = read_window(
        path, ",".join(map(str, turns)), page_orientation_corrections=[*turns.items()]
    )
    restore_dashes(document, result.pages)
    for page in result.pages:
        images = [i for i in result.images if i.page == page.page_num]
        upright = _page(page, images)
        upright.turn = turns[page.page_num]
        yield upright


def read_window(path: Path, pages: str, **more: Any) -> "ParseResult":
    """What liteparse reads of the pages (`first-last`, or numbers); raises as `read_pages`."""
    from liteparse import LiteParse, ParseError

    reader = LiteParse(
        ocr_enabled=False,
        quiet=True,
        num_workers=1,
        target_pages=pages,
        continue_on_page_error=True,
        extract_text_metadata=True,
        extract_vector_graphics=True,
        extract_images=True,
        extract_annotations=True,
        extract_form_fields=True,
        emit_word_boxes=True,
        keep_headers_footers=True,
        **more,
    )
    try:
        result: ParseResult = reader.parse(str(path))
    except ParseError as problem:
        if _ENCRYPTED.search(str(problem)):
            raise DocumentFault(
                Code.ENCRYPTED, "the PDF is protected by a password; upload it without protection"
            ) from problem
        raise DocumentFault(
            Code.UNREADABLE, "the PDF is damaged or not a PDF; repair or export it again"
        ) from problem
    return result


def _page(page: "ParsedPage", images: list[Any]) -> Page:
    visible: list[Segment] = []
    hidden: list[Segment] = []
    sideways: list[Segment] = []
    dark = _dark_shapes(page)
    for item in page.text_items:
        segments = list(_segments(item))
        if _is_hidden(item, page, dark, bool(images)):
            hidden += segments
        elif min(abs(item.rotation) % 180, 180 - abs(item.rotation) % 180) > 30:
            sideways += segments
        else:
            visible += segments
    horizontal, vertical = _rulings(page)
    pictures, small = _pictures(page, images)
    return Page(
        number=page.page_num,
        width=page.width,
        height=page.height,
        segments=visible,
        hidden=hidden,
        sideways=sideways,
        horizontal=horizontal,
        vertical=vertical,
        pictures=pictures,
        notes=list(_notes(page)),
        garbled=is_garbled("\n".join(item.text for item in page.text_items)),
        small_pictures=small,
        has_files=any(a.subtype.lower() == "fileattachment" for a in page.annotations or ()),
    )


def _segments(item: "TextItem") -> Iterator[Segment]:
    """The item, cut where the gap between two words is wide."""
    text = plain_text(item.text)
    if not text:
        return
    em = item.font_height or item.font_size or item.height * 0.8
    if em < 2 < item.height:
        em = item.height * 0.8
    bold = (item.font_weight or 400) >= 600 or bool(_BOLD.search(item.font_name or ""))
    x1, y1 = item.x + item.width, item.y + item.height
    words = item.words
    cuts = [
        i
        for i in range(1, len(words))
        if words[i].x - words[i - 1].x - words[i - 1].width > CUT_GAP * em
    ]
    if not cuts:
        yield Segment(item.x, item.y, x1, y1, text, em, bold, words)
        return
    for start, stop in zip([0, *cuts], [*cuts, len(words)], strict=True):
        run = words[start:stop]
        joined = " ".join(plain_text(w.text) for w in run).strip()
        if joined:
            end = run[-1].x + run[-1].width
            yield Segment(run[0].x, item.y, end, y1, joined, em, bold, run)


def _is_hidden(item: "TextItem", page: "ParsedPage", dark: list[Area], has_images: bool) -> bool:
    """Off the page, of no size, transparent, or white where nothing dark lies below."""
    x, y = item.x + item.width / 2, item.y + item.height / 2
    if not (-2 <= x <= page.width + 2 and -2 <= y <= page.height + 2):
        return True
    if item.height < MIN_TEXT_HEIGHT:
        return True
    color = (item.fill_color or "").lower()
    if len(color) != 8:
        return False
    if color.startswith("00") and not has_images:
        return True
    if color.endswith("ffffff"):
        return not has_images and not any(shape.holds(x, y, 2) for shape in dark)
    return False


def _dark_shapes(page: "ParsedPage") -> list[Area]:
    if page.vector_graphics is None:
        return []
    found = []
    for shape in page.vector_graphics.shapes:
        color = (shape.fill_color or "ffffffff").lower()
        if shape.fill and not color.endswith("ffffff") and not color.startswith("00"):
            x, y, width, height = shape.bbox
            if width > 4 and height > 4:
                found.append(Area(x, y, x + width, y + height))
    return found


def _rulings(
    page: "ParsedPage",
) -> tuple[list[tuple[float, float, float]], list[tuple[float, float, float]]]:
    """Axis-parallel lines as (start, end, position): along x at y, and along y at x."""
    horizontal, vertical = [], []
    for line in page.vector_graphics.lines if page.vector_graphics else ():
        if abs(line.y1 - line.y2) <= 2:
            left, right = sorted((line.x1, line.x2))
            horizontal.append((left, right, (line.y1 + line.y2) / 2))
        elif abs(line.x1 - line.x2) <= 2:
            top, bottom = sorted((line.y1, line.y2))
            vertical.append((top, bottom, (line.x1 + line.x2) / 2))
    return horizontal, vertical


def _pictures(page: "ParsedPage", images: list[Any]) -> tuple[list[Picture], int]:
    """Images worth keeping, and how many were too small: icons, bullets, rules."""
    kept: list[Picture] = []
    small = 0
    for image in images:
        box = image.bbox
        if min(box.width, box.height) < 12 or box.width * box.height < 900:
            small += 1
        elif image.bytes:
            x0, y0 = max(0.0, box.x), max(0.0, box.y)
            x1 = min(page.width, box.x + box.width)
            y1 = min(page.height, box.y + box.height)
            if x1 > x0 and y1 > y0:
                kept.append(Picture(x0, y0, x1, y1, data=image.bytes))
    return kept, small


def _notes(page: "ParsedPage") -> Iterator[str]:
    """Comments on the page and the values of its form fields, as text."""
    seen = set()
    for annotation in page.annotations or ():
        text = clean(annotation.contents or "")
        if text and annotation.subtype.lower() not in {"link", "widget"} and text not in seen:
            seen.add(text)
            author = one_line(annotation.title or "")
            yield f"[author: {author}]: {text}" if author else text
    for form in page.form_fields or ():
        value = clean(form.value or "")
        name = clean(form.alternate_name or form.name or "")
        if value and form.type.lower() not in {"signature", "pushbutton"}:
            yield f"{name}: {value}" if name else value
