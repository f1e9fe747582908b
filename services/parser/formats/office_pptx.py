"""What docling leaves in a PPTX: SmartArt texts, alternative texts, words on the master."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from services.parser.formats.rows import one_line

MAX_DEPTH = 20
_TEXT = "{http://schemas.openxmlformats.org/drawingml/2006/main}t"
_PARAGRAPH = "{http://schemas.openxmlformats.org/drawingml/2006/main}p"
_POINT = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds"
_DATA = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}dm"
_PART_LIMIT = 16 << 20


@dataclass
class SlideExtras:
    """`diagrams`: texts of SmartArt. `alternatives`: texts of pictures by their left top corner.

    `masters`: words that the slide shows from its layout and master. Corners are in EMU.
    """

    diagrams: list[str] = field(default_factory=list)
    alternatives: dict[tuple[int, int], str] = field(default_factory=dict)
    masters: list[str] = field(default_factory=list)


def slide_extras(presentation: Any) -> dict[int, SlideExtras]:
    """The extras of each slide of a python-pptx presentation, by its number from 1."""
    found: dict[int, SlideExtras] = {}
    for number, slide in enumerate(presentation.slides, 1):
        extras = SlideExtras()
        for shape in _shapes(slide.shapes, 0):
            description = shape._element.xpath(".//p:cNvPr/@descr")
            if description and shape.left is not None and shape.top is not None:
                extras.alternatives[(int(shape.left), int(shape.top))] = one_line(description[0])
            extras.diagrams += _diagram(slide, shape)
        for behind in (slide.slide_layout, slide.slide_layout.slide_master):
            for shape in behind.shapes:
                if not shape.is_placeholder and shape.has_text_frame:
                    text = one_line(shape.text_frame.text)
                    extras.masters += [text] if text else []
        found[number] = extras
    return found


def _shapes(shapes: Any, depth: int) -> Iterator[Any]:
    for shape in shapes:
        yield shape
        if depth < MAX_DEPTH and hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes, depth + 1)


def _diagram(slide: Any, shape: Any) -> list[str]:
    texts: list[str] = []
    for reference in shape._element.iter(_POINT):
        try:
            blob = slide.part.related_part(reference.get(_DATA)).blob
        except KeyError:
            continue
        if len(blob) <= _PART_LIMIT:
            texts += diagram_texts(blob)
    return texts


def diagram_texts(data: bytes) -> list[str]:
    """The paragraphs of a SmartArt diagram's data part; none of one that is no sound XML."""
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import ParseError, fromstring

    try:
        root = fromstring(data)
    except (ParseError, DefusedXmlException, ValueError):
        return []
    lines = ("".join(t.text or "" for t in p.iter(_TEXT)) for p in root.iter(_PARAGRAPH))
    return [text for line in lines if (text := one_line(line))]
