"""A Word document's XML made plain for readers that know only its usual order.

What stands in a wrapper (a tracked insertion, a tag, a direction, a field to fill in) stands in its
parent as well, and a table has as many columns as its rows (ECMA-376 part 1, 17.3, 17.4 and 17.5).
"""

from typing import Any

MAX_COLUMNS = 1_000
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_WRAPPERS = tuple(
    f"{_W}{name}" for name in ("ins", "moveTo", "smartTag", "customXml", "dir", "bdo", "sdt")
)
_ABOUT = frozenset(f"{_W}{name}" for name in ("smartTagPr", "customXmlPr"))
_TICK = "{http://schemas.microsoft.com/office/word/2010/wordml}checkbox"
_OUTER = frozenset(f"{_W}{name}" for name in ("body", "sdtContent", "txbxContent"))
"""Where a field to fill in is a part of the document, such as its contents, and stays one."""


def plain_body(document: Any) -> None:
    """Unwrap and widen in every part of `document`, as python-docx has loaded it."""
    for part in document.part.package.iter_parts():
        element = getattr(part, "element", None)
        if element is not None:
            _unwrap(element)
            for table in element.iter(f"{_W}tbl"):
                _widen(table)


def _unwrap(root: Any) -> None:
    for wrapper in list(root.iter(*_WRAPPERS)):
        parent = wrapper.getparent()
        field = wrapper.tag == f"{_W}sdt"
        if parent is None or (field and (parent.tag in _OUTER or _is_tick(wrapper))):
            continue
        content = wrapper.find(f"{_W}sdtContent") if field else wrapper
        for child in list(content) if content is not None else ():
            if child.tag not in _ABOUT:
                wrapper.addprevious(child)
        parent.remove(wrapper)


def _is_tick(field: Any) -> bool:
    """Whether a field is a box to tick, which has a reader of its own."""
    about = field.find(f"{_W}sdtPr")
    return about is not None and any(e.tag == _TICK for e in about)


def _widen(table: Any) -> None:
    grid = table.find(f"{_W}tblGrid")
    if grid is None:
        return
    columns = max((_width(row) for row in table.findall(f"{_W}tr")), default=0)
    for _ in range(len(grid.findall(f"{_W}gridCol")), min(columns, MAX_COLUMNS)):
        grid.append(grid.makeelement(f"{_W}gridCol", {f"{_W}w": "0"}))


def _width(row: Any) -> int:
    """The columns that a row takes up, those that it leaves out at its ends too."""
    about, cells = row.find(f"{_W}trPr"), row.findall(f"{_W}tc")
    outside = (_number(about, name) for name in ("gridBefore", "gridAfter"))
    inside = (_number(cell.find(f"{_W}tcPr"), "gridSpan") or 1 for cell in cells)
    return sum(outside) + sum(inside)


def _number(about: Any, name: str) -> int:
    found = about.find(f"{_W}{name}") if about is not None else None
    value = found.get(f"{_W}val", "") if found is not None else ""
    return int(value) if value.isdecimal() and len(value) < 9 else 0
