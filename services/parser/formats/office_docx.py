"""docling's Word backend with what it loses put back.

Added: a heading's number as its numbering pattern writes it (`제1장`, not `1`), outline levels
set on single paragraphs, the signs of bullets, and which paragraphs are contents, captions or
hidden.
Taken away: pieces of one paragraph kept apart by formatting, and any call of LibreOffice.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from services.parser.formats.office_docx_body import plain_body
from services.parser.formats.office_numbers import Numbering

PROGRESS_PARAGRAPHS = 200


@cache
def _backend_class() -> type[Any]:
    from docling.backend import msword_backend as word
    from docx.text.paragraph import Paragraph

    class DocxBackend(word.MsWordDocumentBackend):
        """See the module."""

        progress: Callable[[int], None]

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            if self.docx_obj is not None:
                plain_body(self.docx_obj)
            self.docx_to_pdf_converter_init = True
            self.toc: set[str] = set()
            self.captions: set[str] = set()
            self.vanished: set[str] = set()
            self._levels: dict[tuple[int, int], Any] = {}
            self._numbering: Numbering | None = None
            self._marker = ""
            self._bullet = ""
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
                number = self._numbers().advance(numid, ilevel or 0)
                self.started_numids.add(numid)
                text = f"{number} {text}" if number else text
                is_numbered_style = False
            return super()._add_heading(doc, curr_level, text, is_numbered_style, numid, ilevel)

        def _add_list_item(self, *, numid: int, ilevel: int, **kwargs: Any) -> Any:
            self._bullet = self._numbers().bullet(numid, ilevel)
            return super()._add_list_item(numid=numid, ilevel=ilevel, **kwargs)

        def _add_list_item_with_marker(
            self, doc: Any, elements: Any, numid: int, ilevel: int, *args: Any, **kwargs: Any
        ) -> None:
            self._bullet = self._numbers().bullet(numid, ilevel)
            super()._add_list_item_with_marker(doc, elements, numid, ilevel, *args, **kwargs)

        def _add_formatted_list_item(
            self, doc: Any, elements: Any, marker: str, enumerated: bool, level: int
        ) -> Any:
            marker = marker if enumerated else marker or self._bullet
            return super()._add_formatted_list_item(doc, elements, marker, enumerated, level)

        def _get_list_counter(self, numid: int, ilvl: int) -> int:
            self._marker = self._numbers().advance(numid, ilvl)
            return 0

        def _build_enum_marker(self, numid: int, ilvl: int) -> str:
            return self._marker

        def _has_visible_numbering_format(self, numid: int, ilvl: int) -> bool:
            return self._numbers().shows(numid, ilvl)

        def _get_level_element(self, numid: int, ilvl: int) -> Any:
            key = (numid, ilvl)
            if key not in self._levels:
                self._levels[key] = super()._get_level_element(numid, ilvl)
            return self._levels[key]

        def _numbers(self) -> Numbering:
            if self._numbering is None:
                try:
                    root = self.docx_obj.part.numbering_part.element
                except (KeyError, AttributeError, NotImplementedError):
                    root = None
                self._numbering = Numbering(
                    root, self._get_level_element, word._format_enum_counter
                )
            return self._numbering

    return DocxBackend


def docx_backend(progress: Callable[[int], None]) -> type[Any]:
    """The backend class, telling `progress` every few hundred paragraphs."""
    return type("DocxBackend", (_backend_class(),), {"progress": staticmethod(progress)})
