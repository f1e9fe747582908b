"""Words that lie off the page, which liteparse leaves out without a word."""

from typing import Any

MARGIN = 2.0
"""Points by which content may stand over the edge of the page."""
MAX_SIGNS = 100_000
"""Signs of a page that are looked at."""


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
