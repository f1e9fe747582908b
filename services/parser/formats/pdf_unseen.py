"""Words that nobody sees and liteparse leaves out without a word: off the page, or of no size.

PDFium's own text of a page tells of those that are drawn in no ink or far too small to be read;
what is set in a size of exactly nothing it leaves out too, so the file's streams are asked.
"""

import mmap
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

MARGIN = 2.0
"""Points by which content may stand over the edge of the page."""
MAX_SIGNS = 100_000
"""Signs of a page that are looked at."""
SMALLEST = 1.5
"""Points of height below which nobody can read a word."""
UNDRAWN = frozenset({3, 7})
"""Rendering modes that leave no ink (ISO 32000-1, table 106)."""
MAX_STREAM = 4 << 20
_FOLDED = str.maketrans(
    {**dict.fromkeys("–—―‒−‐\ufffe", "-"), **dict.fromkeys("‘’", "'"), **dict.fromkeys("“”", '"'),
     "\ufffd": None, "\u00ad": None}
)  # fmt: skip
"""How liteparse spells what PDFium gives as it is."""
_WORD = re.compile(r"\S+")
_LINE = re.compile(r"[^\r\n]+")
_NO_SIZE = re.compile(
    rb"/\S+\s+0+(?:\.0*)?\s+Tf\b(?:(?!\b(?:Tf|ET|Q)\b).){0,2000}?\bT[jJ]\b", re.DOTALL
)
"""A font set in no size, and text shown in it."""


def stands_over(bounds: Any, width: float, height: float) -> bool:
    """Whether content of these bounds (liteparse's, None for no content) leaves the page."""
    return bounds is not None and (
        min(bounds.x, bounds.y) < -MARGIN
        or bounds.x + bounds.width > width + MARGIN
        or bounds.y + bounds.height > height + MARGIN
    )


def words_off_page(document: Any, number: int) -> str:
    """The words of page `number` (from 1) that lie wholly outside what is shown of it.

    `document` is a `pypdfium2.PdfDocument`, or None, which has none.
    """
    if document is None:
        return ""
    page = document[number - 1]
    text = page.get_textpage()
    try:
        left, bottom, right, top = page.get_cropbox()
        words, seen = [""], False
        for index in range(min(text.count_chars(), MAX_SIGNS)):
            sign = text.get_text_range(index, 1)
            if not sign.strip():
                if seen:
                    words[-1] = ""
                words += [""] if words[-1] else []
                seen = False
                continue
            x0, y0, x1, y1 = text.get_charbox(index)
            x, y = (x0 + x1) / 2, (y0 + y1) / 2
            seen |= left - MARGIN <= x <= right + MARGIN and bottom - MARGIN <= y <= top + MARGIN
            words[-1] += sign
        if seen:
            words[-1] = ""
        return " ".join(filter(None, words))
    finally:
        text.close()
        page.close()


def words_unseen(textpage: Any, text: str, shown: Sequence[str]) -> str:
    """The words of `text`, PDFium's of this page, that are drawn in no ink or in no size.

    Only lines are looked at with a word that `shown`, what liteparse gives, does not hold.
    """
    missing = {*text.translate(_FOLDED).split()}.difference(" ".join(shown).split())
    if not missing:
        return ""
    seen = _flat("".join(shown))
    if all(word in seen for word in missing):
        return ""
    import pypdfium2.raw

    pdfium: Any = pypdfium2.raw
    if len(text) > MAX_SIGNS or pdfium.FPDFText_CountChars(textpage) != len(text):
        return ""
    words: list[str] = []
    for line in _LINE.finditer(text):
        places = [(line.start() + m.start(), m[0]) for m in _WORD.finditer(line[0])]
        if any(_flat(word) not in seen and _is_unseen(textpage, at) for at, word in places):
            words += [word for at, word in places if _is_unseen(textpage, at)]
    return " ".join(words)


def _is_unseen(textpage: Any, at: int) -> bool:
    """Whether the sign at this place of the page's text has no ink or no size."""
    import pypdfium2.raw

    pdfium: Any = pypdfium2.raw
    box = pdfium.FS_RECTF()
    if not pdfium.FPDFText_GetLooseCharBox(textpage, at, box):
        return False
    drawn = pdfium.FPDFText_GetTextObject(textpage, at)
    mode = pdfium.FPDFTextObj_GetTextRenderMode(drawn) if drawn else 0
    return max(box.right - box.left, box.top - box.bottom) < SMALLEST or mode in UNDRAWN


def _flat(text: str) -> str:
    return "".join(text.translate(_FOLDED).split())


def has_text_of_no_size(path: Path) -> bool:
    """Whether a content stream of the PDF at `path` shows text in a font of size nothing."""
    with (
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        memoryview(data) as view,
    ):
        at = data.find(b"stream")
        while at >= 0:
            if data[at - 3 : at] != b"end":
                start = at + 6 + (2 if data[at + 6 : at + 8] == b"\r\n" else 1)
                content = _content(view, data, start)
                if b" Tf" in content and _NO_SIZE.search(content):
                    return True
            at = data.find(b"stream", at + 6)
    return False


def _content(view: memoryview, data: mmap.mmap, start: int) -> bytes:
    """The beginning of a stream; what is packed in another way than usual comes out as it is."""
    try:
        packed = view[start : start + MAX_STREAM]
        return zlib.decompressobj().decompress(packed, MAX_STREAM)
    except zlib.error:
        end = data.find(b"endstream", start, start + MAX_STREAM)
        return data[start : max(end, start)]
