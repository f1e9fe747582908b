"""Hide the weight of fonts from whoever reads a PDF in this process."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

REGULAR = 400
_WEIGHT = re.compile(r"[-,]?(?:extra|semi|demi|ultra)?(?:bold|black|heavy|medium)", re.IGNORECASE)


@contextmanager
def hidden_weight() -> Iterator[None]:
    """Every text item of liteparse is of regular weight, in its font's name as well, and so is
    every font to our own reader."""
    from liteparse import LiteParse

    from services.parser.formats import pdf_read

    original, is_bold = LiteParse.parse, pdf_read.is_bold

    def regular(weight: int | None, font: str | None) -> bool:
        return is_bold(REGULAR, plain_name(font))

    def parse(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        for page in result.pages:
            for item in page.text_items:
                item.font_weight = REGULAR
                item.font_name = plain_name(item.font_name)
            for block in page.blocks or ():
                block.bold = False
        return result

    LiteParse.parse = parse
    pdf_read.is_bold = regular  # type: ignore[assignment]
    try:
        yield
    finally:
        LiteParse.parse = original
        pdf_read.is_bold = is_bold


def plain_name(name: str | None) -> str | None:
    """A font's name without the words that tell its weight."""
    return None if name is None else _WEIGHT.sub("", name)
