"""PDF pages read by liteparse; everything it may do beyond reading (OCR, downloads) is off."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from libs.contracts.faults import Code, DocumentFault
from services.parser.formats.pdf_dashes import respell
from services.parser.formats.pdf_document import in_pdfium
from services.parser.formats.pdf_encoding import is_garbled
from services.parser.formats.pdf_page import Area, Page, Picture, Segment, plain_text
from services.parser.formats.pdf_unseen import SMALLEST, stands_over, words_off_page
from services.parser.formats.rows import clean, one_line

READING: dict[str, Any] = {
    "ocr_enabled": False,
    "quiet": True,
    "num_workers": 1,
    "continue_on_page_error": True,
    "extract_text_metadata": True,
    "extract_vector_graphics": True,
    "extract_images": True,
    "extract_annotations": True,
    "extract_form_fields": True,
    "extract_content_bounds": True,
    "emit_word_boxes": True,
    "keep_headers_footers": True,
}
"""Options of liteparse under which pages are read."""
FIRST_WINDOW, WINDOW = 25, 100
"""Most pages read at once, the first time in a file of unknown length, and later; every reading
opens the whole file anew. Progress follows each."""
WINDOW_BYTES = 16 << 20
"""Bytes of the file that are read at once: bounds the memory for pictures."""
CUT_GAP = 0.9
"""A gap between words wider than this many ems may be a column border and cuts a segment."""
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
        read = [(page, page.text_items) for page in result.pages]
        turns = {page.page_num: turn for page, items in read if (turn := _turn(items))}
        turned = {p.number: p for p in _turned(path, turns, document)}
        images = _by_page(result)
        for page, items in read:
            number = page.page_num
            yield turned.get(number) or _page(page, items, images.get(number, []), document)
        start = stop + 1


def _window(size: int, pages: int) -> int:
    """How many pages of a file are read at once."""
    return max(10, min(WINDOW, WINDOW_BYTES * pages // max(size, 1)))


def _by_page(result: Any) -> dict[int, list[Any]]:
    images: dict[int, list[Any]] = {}
    for image in result.images:
        images.setdefault(image.page, []).append(image)
    return images


def _turn(items: Sequence[Any]) -> int:
    """The degrees by which most of a page's text is turned: 90, 180, 270, or 0."""
    letters: dict[int, int] = {}
    for item in items:
        rotation = item.rotation
        turn = round(rotation / 90) * 90 % 360 if rotation else 0
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
    images = _by_page(result)
    for page in result.pages:
        number = page.page_num
        upright = _page(page, page.text_items, images.get(number, []), document)
        upright.turn = turns[number]
        yield upright


def read_window(path: Path, pages: str, **more: Any) -> Any:
    """What liteparse reads of the pages (`first-last`, or numbers); raises as `read_pages`.

    The result is that of the library's binding, whose values are made when they are asked for:
    `LiteParse.parse` gives an equal one, each of its values copied, which takes a fifth longer.
    """
    from liteparse._liteparse import LiteParse

    reader = LiteParse(**READING, target_pages=pages, **more)
    try:
        return reader.parse(str(path.absolute()))
    except Exception as problem:  # the binding has no closed set of its own
        if _ENCRYPTED.search(str(problem)):
            raise DocumentFault(
                Code.ENCRYPTED, "the PDF is protected by a password; upload it without protection"
            ) from problem
        raise DocumentFault(
            Code.UNREADABLE, "the PDF is damaged or not a PDF; repair or export it again"
        ) from problem


def _page(page: Any, items: Sequence[Any], images: list[Any], document: Any) -> Page:
    visible: list[Segment] = []
    hidden: list[Segment] = []
    sideways: list[Segment] = []
    number, width, height = page.page_num, page.width, page.height
    graphics = page.vector_graphics
    white = any((item.fill_color or "").lower().endswith("ffffff") for item in items)
    dark = _dark_shapes(graphics) if white else []
    texts = [item.text for item in items]
    known, unseen = in_pdfium(document, number, texts)
    for item, text in zip(items, texts, strict=True):
        segments = _segments(item, respell(text, known) if known else text, known)
        rotation = item.rotation
        if not segments:
            continue
        if _is_hidden(item, width, height, dark, bool(images)):
            hidden += segments
        elif rotation and min(abs(rotation) % 180, 180 - abs(rotation) % 180) > 30:
            sideways += segments
        else:
            visible += segments
    if stands_over(page.content_bounds, width, height):
        unseen += [words_off_page(document, number)]
    hidden += [Segment(0, height, 0, height, t) for w in unseen if (t := plain_text(w))]
    horizontal, vertical = _rulings(graphics)
    pictures, small = _pictures(page, images)
    annotations = page.annotations or ()
    return Page(
        number=number,
        width=width,
        height=height,
        segments=visible,
        hidden=hidden,
        sideways=sideways,
        horizontal=horizontal,
        vertical=vertical,
        pictures=pictures,
        notes=list(_notes(annotations, page.form_fields or ())),
        garbled=is_garbled("\n".join(texts)),
        small_pictures=small,
        has_files=any(a.subtype.lower() == "fileattachment" for a in annotations),
    )


@lru_cache(4096)
def is_bold(weight: int | None, font: str | None) -> bool:
    """Whether a font of this weight and name is bold."""
    return (weight or 400) >= 600 or bool(_BOLD.search(font or ""))


def _segments(item: Any, raw: str, known: dict[str, str]) -> list[Segment]:
    """The item of this text, cut where the gap between two words is wide."""
    text = plain_text(raw)
    if not text:
        return []
    x, y, height = item.x, item.y, item.height
    em = item.font_height or item.font_size or height * 0.8
    if em < 2 < height:
        em = height * 0.8
    bold = is_bold(item.font_weight, item.font_name)
    x1, y1 = x + item.width, y + height
    words = item.words
    cuts: list[int] = []
    gap, before, wide = CUT_GAP * em, None, 0.0
    for i, word in enumerate(words):
        left = word.x
        if before is not None and left - before - wide > gap:
            cuts.append(i)
        before, wide = left, word.width
    if not cuts:
        return [Segment(x, y, x1, y1, text, em, bold, words, known)]
    found = []
    for start, stop in zip([0, *cuts], [*cuts, len(words)], strict=True):
        run = words[start:stop]
        joined = " ".join(plain_text(respell(w.text, known)) for w in run).strip()
        if joined:
            end = run[-1].x + run[-1].width
            found.append(Segment(run[0].x, y, end, y1, joined, em, bold, run, known))
    return found


def _is_hidden(item: Any, width: float, height: float, dark: list[Area], has_images: bool) -> bool:
    """Off the page, of no size, transparent, or white where nothing dark lies below."""
    tall = item.height
    x, y = item.x + item.width / 2, item.y + tall / 2
    if not (-2 <= x <= width + 2 and -2 <= y <= height + 2):
        return True
    if tall < SMALLEST:
        return True
    color = (item.fill_color or "").lower()
    if len(color) != 8:
        return False
    if color.startswith("00") and not has_images:
        return True
    if color.endswith("ffffff"):
        return not has_images and not any(shape.holds(x, y, 2) for shape in dark)
    return False


def _dark_shapes(graphics: Any) -> list[Area]:
    found = []
    for shape in graphics.shapes if graphics else ():
        color = (shape.fill_color or "ffffffff").lower()
        if shape.fill and not color.endswith("ffffff") and not color.startswith("00"):
            box = shape.bbox
            if box.width > 4 and box.height > 4:
                found.append(Area(box.x, box.y, box.x + box.width, box.y + box.height))
    return found


def _rulings(
    graphics: Any,
) -> tuple[list[tuple[float, float, float]], list[tuple[float, float, float]]]:
    """Axis-parallel lines as (start, end, position): along x at y, and along y at x."""
    horizontal, vertical = [], []
    for line in graphics.lines if graphics else ():
        x1, y1, x2, y2 = line.x1, line.y1, line.x2, line.y2
        if abs(y1 - y2) <= 2:
            left, right = (x1, x2) if x1 <= x2 else (x2, x1)
            horizontal.append((left, right, (y1 + y2) / 2))
        elif abs(x1 - x2) <= 2:
            top, bottom = (y1, y2) if y1 <= y2 else (y2, y1)
            vertical.append((top, bottom, (x1 + x2) / 2))
    return horizontal, vertical


def _pictures(page: Any, images: list[Any]) -> tuple[list[Picture], int]:
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


def _notes(annotations: Iterable[Any], fields: Iterable[Any]) -> Iterator[str]:
    """Comments on the page and the values of its form fields, as text."""
    seen = set()
    for annotation in annotations:
        text = clean(annotation.contents or "")
        if text and annotation.subtype.lower() not in {"link", "widget"} and text not in seen:
            seen.add(text)
            author = one_line(annotation.title or "")
            yield f"[author: {author}]: {text}" if author else text
    for form in fields:
        value = clean(form.value or "")
        name = clean(form.alternate_name or form.name or "")
        if value and form.field_type.lower() not in {"signature", "pushbutton"}:
            yield f"{name}: {value}" if name else value
