"""docling's Word backend with what it loses put back.

Added: a heading's number as its numbering pattern writes it (`제1장`, not `1`), outline levels
set on single paragraphs, and which paragraphs are contents, captions or hidden.
Taken away: pieces of one paragraph kept apart by formatting, and any call of LibreOffice.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import Any

PROGRESS_PARAGRAPHS = 200
KOREAN_FORMATS = frozenset(
    {"ganada", "chosung", "koreanDigital", "koreanDigital2", "koreanCounting"}
)
_PLACE = re.compile(r"%([1-9])")
_GANADA = "가나다라마바사아자차카타파하"
_CHOSUNG = "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ"
_KOREAN_DIGITS = "영일이삼사오육칠팔구"
_HANJA_DIGITS = "〇一二三四五六七八九"


def korean_number(value: int, form: str) -> str | None:
    """A counter in one of Word's Korean number formats, or None for any other format.

    Formats as in ECMA-376 17.18.59 (ST_NumberFormat): ganada, chosung, koreanDigital,
    koreanDigital2, koreanCounting.
    """
    if form == "ganada" and value > 0:
        return _GANADA[(value - 1) % len(_GANADA)]
    if form == "chosung" and value > 0:
        return _CHOSUNG[(value - 1) % len(_CHOSUNG)]
    if form == "koreanDigital":
        return "".join(_KOREAN_DIGITS[int(d)] for d in str(value))
    if form == "koreanDigital2":
        return "".join(_HANJA_DIGITS[int(d)] for d in str(value))
    if form == "koreanCounting" and 0 < value < 10_000:
        return _counted(value, _KOREAN_DIGITS, "십백천")
    return None


def _counted(value: int, digits: str, units: str) -> str:
    text = ""
    for place, figure in enumerate(reversed(str(value))):
        number = int(figure)
        if number:
            unit = units[place - 1] if place else ""
            text = ("" if number == 1 and unit else digits[number]) + unit + text
    return text


@cache
def _backend_class() -> type[Any]:
    from docling.backend import msword_backend as word
    from docx.text.paragraph import Paragraph

    class DocxBackend(word.MsWordDocumentBackend):
        """See the module."""

        progress: Callable[[int], None]

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.docx_to_pdf_converter_init = True
            self.toc: set[str] = set()
            self.captions: set[str] = set()
            self.vanished: set[str] = set()
            self._heading_counters: dict[tuple[str, int], int] = {}
            self._seen = 0

        def _get_paragraph_elements(self, paragraph: Any) -> list[Any]:
            content = self._get_paragraph_content(paragraph)
            text = "".join(piece for piece, _, _ in content).strip()
            if not text:
                return [("", None, None)]
            longest = max(content, key=lambda c: len(c[0].strip()))
            return [(text, longest[1], None)]

        def _get_label_and_level(self, paragraph: Any) -> tuple[str, int | None]:
            label, level = super()._get_label_and_level(paragraph)
            if "Heading" in label or label in {"Title", "Code"}:
                return label, level
            own = paragraph._p.find(f"{word._W_NS_CLARK}pPr/{word._W_NS_CLARK}outlineLvl")
            value = own.get(self.XML_KEY) if own is not None else None
            if value in {"0", "1", "2", "3", "4", "5", "6", "7", "8"}:
                return "Heading", int(value) + 1
            return label, level

        def _handle_text_elements(self, element: Any, doc: Any, *args: Any, **kwargs: Any) -> Any:
            self._seen += 1
            if self._seen % PROGRESS_PARAGRAPHS == 0:
                self.progress(0)
            made = super()._handle_text_elements(element, doc, *args, **kwargs)
            style = Paragraph(element, self.docx_obj).style
            name = (style.name or "").casefold() if style is not None else ""
            if name.startswith(("toc ", "table of figures")):
                self.toc.update(ref.cref for ref in made)
            elif name.startswith("caption"):
                self.captions.update(ref.cref for ref in made)
            runs = element.findall(f"{word._W_NS_CLARK}r")
            vanish = f"{word._W_NS_CLARK}rPr/{word._W_NS_CLARK}vanish"
            if runs and all(run.find(vanish) is not None for run in runs):
                self.vanished.update(ref.cref for ref in made)
            return made

        def _add_heading(
            self,
            doc: Any,
            curr_level: int | None,
            text: str,
            is_numbered_style: bool = False,
            numid: int | None = None,
            ilevel: int | None = None,
        ) -> Any:
            if is_numbered_style and numid is not None:
                number = self._heading_number(numid, ilevel or 0)
                text = f"{number} {text}" if number else text
                is_numbered_style = False
            return super()._add_heading(doc, curr_level, text, is_numbered_style, numid, ilevel)

        def _heading_number(self, numid: int, ilevel: int) -> str:
            """The number as Word shows it; headings share counters by abstract numbering."""
            key = self._abstract(numid)
            counters = self._heading_counters
            start = self._get_start_value(numid, ilevel)
            counters[(key, ilevel)] = counters.get((key, ilevel), start - 1) + 1
            self.list_counters[(numid, ilevel)] = counters[(key, ilevel)]
            self.started_numids.add(numid)
            for known in [k for k in counters if k[0] == key and k[1] > ilevel]:
                del counters[known]
            return self._written(numid, ilevel, lambda at: counters.get((key, at)))

        def _has_visible_numbering_format(self, numid: int, ilevel: int) -> bool:
            korean = self._get_level_num_fmt(numid, ilevel) in KOREAN_FORMATS
            return korean or super()._has_visible_numbering_format(numid, ilevel)

        def _build_enum_marker(self, numid: int, ilevel: int) -> str:
            if self._get_level_num_fmt(numid, ilevel) not in KOREAN_FORMATS:
                return str(super()._build_enum_marker(numid, ilevel))
            return self._written(numid, ilevel, lambda at: self.list_counters.get((numid, at)))

        def _written(self, numid: int, ilevel: int, counter: Callable[[int], int | None]) -> str:
            """The level's pattern with each `%n` replaced by the counter of level n."""
            level = self._get_level_element(numid, ilevel)
            pattern = level.find(f"{word._W_NS_CLARK}lvlText") if level is not None else None
            template = (pattern.get(self.XML_KEY) if pattern is not None else None) or ""
            legal = level is not None and level.find(f"{word._W_NS_CLARK}isLgl") is not None

            def number(place: re.Match[str]) -> str:
                at = int(place[1]) - 1
                value = counter(at)
                if value is None:
                    value = self._get_start_value(numid, at)
                form = self._get_level_num_fmt(numid, at) or "decimal"
                known = None if legal else korean_number(value, form)
                if known is not None or legal:
                    return known or str(value)
                return str(word._format_enum_counter(value, form))

            return _PLACE.sub(number, template).strip()

        def _abstract(self, numid: int) -> str:
            try:
                numbering = self.docx_obj.part.numbering_part.element
                found = numbering.num_having_numId(numid).abstractNumId.val
            except (KeyError, AttributeError, NotImplementedError):
                return f"num-{numid}"
            return f"abstract-{found}"

    return DocxBackend


def docx_backend(progress: Callable[[int], None]) -> type[Any]:
    """The backend class, telling `progress` every few hundred paragraphs."""
    return type("DocxBackend", (_backend_class(),), {"progress": staticmethod(progress)})
