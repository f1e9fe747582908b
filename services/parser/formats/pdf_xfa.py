"""Forms that a PDF holds as XFA, not as pages: their labels and the values filled in.

After Adobe, "XML Forms Architecture (XFA) Specification", version 3.3, 2012: the packet
`template` draws the form, the packet `datasets` holds its values under the names of its fields.
"""

import ctypes
from collections import defaultdict, deque
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from services.parser.formats.rows import one_line

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MAX_PACKETS, MAX_BYTES = 100, 16 << 20
_UNSEEN = frozenset({"hidden", "invisible", "inactive"})


def xfa_texts(path: Path) -> list[tuple[str, str]]:
    """What a dynamic XFA form shows, in its order, then values that no field shows: labels,
    each with the value filled in beside it, which is empty for plain text.

    Empty for all other PDFs: a static form's fields stand on its pages as well. Packets that
    are no XML, or use entities, are left out.
    """
    parts = _parts(path)
    values = _values(parts.get("datasets"))
    template = parts.get("template")
    texts = [] if template is None else list(_shown(template, values))
    rest = [(name, value) for name, left in values.items() for value in left if value]
    return texts + rest


def _shown(template: "Element", values: dict[str, deque[str]]) -> Iterator[tuple[str, str]]:
    waiting = [template]
    while waiting:
        element = waiting.pop()
        if element.get("presence") in _UNSEEN:
            continue
        match _local(element):
            case "draw":
                label, value = _text(_child(element, "value")), ""
            case "field":
                held = values.get(element.get("name", ""))
                value = held.popleft() if held else _text(_child(element, "value"))
                label = _text(_child(element, "caption")) or _tip(element)
            case _:
                waiting += reversed(element)
                continue
        if label or value:
            yield label, value


def _values(datasets: "Element | None") -> dict[str, deque[str]]:
    """The values of the data by the name of their element, in order, empty ones too."""
    found: dict[str, deque[str]] = defaultdict(deque)
    data = None if datasets is None else _child(datasets, "data")
    for element in data.iter() if data is not None else ():
        if element is not data and not len(element):
            found[_local(element)].append(one_line(element.text or ""))
    return found


def _tip(field: "Element") -> str:
    assist = _child(field, "assist")
    return _text(_child(assist, "toolTip")) if assist is not None else ""


def _text(element: "Element | None") -> str:
    return "" if element is None else one_line(" ".join(element.itertext()))


def _child(element: "Element", name: str) -> "Element | None":
    return next((child for child in element if _local(child) == name), None)


def _local(element: "Element") -> str:
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def _parts(path: Path) -> dict[str, "Element"]:
    """Template and data by their names, whether each has a packet or all are in one."""
    roots = [root for packet in _packets(path) if (root := _root(packet)) is not None]
    inner = [part for root in roots for part in (root if _local(root) == "xdp" else [root])]
    return {_local(part): part for part in inner}


def _root(packet: bytes) -> "Element | None":
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import ParseError, fromstring

    try:
        return fromstring(packet) if packet.strip() else None
    except (ParseError, DefusedXmlException, ValueError):
        return None


def _packets(path: Path) -> list[bytes]:
    """The packets of a dynamic form; none of other files and of what PDFium refuses."""
    import pypdfium2

    opening: Any = pypdfium2.PdfDocument
    raw: Any = pypdfium2.raw
    try:
        document = opening(path)
    except pypdfium2.PdfiumError:
        return []
    try:
        if raw.FPDF_GetFormType(document) != raw.FORMTYPE_XFA_FULL:
            return []
        count = min(raw.FPDF_GetXFAPacketCount(document), MAX_PACKETS)
        return [_packet(raw, document, index) for index in range(count)]
    finally:
        document.close()


def _packet(raw: Any, document: Any, index: int) -> bytes:
    length = ctypes.c_ulong()
    raw.FPDF_GetXFAPacketContent(document, index, None, 0, length)
    if not 0 < length.value <= MAX_BYTES:
        return b""
    content = ctypes.create_string_buffer(length.value)
    raw.FPDF_GetXFAPacketContent(document, index, content, length.value, length)
    return content.raw
