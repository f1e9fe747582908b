"""XML of any kind: sections by their titles, tables, lists; data as tables of its fields.

What an element is, its name says where documents share names (DocBook, DITA, TEI, JATS, FB2,
RSS); of any other, its content does: elements of one name side by side that hold only fields are
the lines of a table, a lone field is a line of its own. Nothing outside the file is read.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from libs.contracts.faults import Code, DocumentFault
from services.parser.formats.base import ParseInput, ShardResult
from services.parser.formats.html import add_fragment
from services.parser.formats.rows import MAX_LEVEL, Rows, clean, one_line, read_text
from services.parser.formats.tables import Span, place, record_tables
from services.parser.formats.xml_tree import xml_root

TITLES = frozenset({"title", "head", "heading", "book-title", "article-title", "header", "subject",
                    "subtitle"})  # fmt: skip
TEXTS = frozenset({"p", "para", "simpara", "paragraph", "v", "line", "l", "note", "shortdesc",
                   "abstract", "text", "ab", "body.content", "desc", "quote",
                   "blockquote"})  # fmt: skip
CODES = frozenset({"programlisting", "screen", "codeblock", "pre", "literallayout", "code-block",
                   "disp-formula", "script-source"})  # fmt: skip
ITEMS = frozenset({"li", "item", "listitem", "list-item", "step"})
LINES, CELLS = frozenset({"tr", "row"}), frozenset({"td", "th", "entry", "cell"})
UNSEEN = frozenset({"style", "script", "binary", "defs", "metadata-binary"})
CAPTIONS = frozenset({"caption", "figcaption"})
MAX_DEPTH = 60
"""How deep elements are followed; below, their words are one text."""
PROGRESS_NODES = 5_000


def parse(given: ParseInput) -> ShardResult:
    """Rows of an XML text; of broken XML the words between its tags, where there are any."""
    rows = Rows()
    try:
        root = xml_root(given)
    except DocumentFault as problem:
        if problem.code != Code.UNREADABLE:
            raise
        add_fragment(rows, given.assets, read_text(given))
        if not rows.rows:
            raise
        rows.note("xml_damaged", "the XML is damaged: its words are read, not what they are",
                  severity="warning")  # fmt: skip
        return rows.result("xml")
    _Walker(given, rows).element(root, 1, 0)
    if not rows.rows:
        rows.add("paragraph", " ".join(_values(root)))
    return rows.result("xml")


class _Walker:
    def __init__(self, given: ParseInput, rows: Rows) -> None:
        self.given = given
        self.rows = rows
        self._seen = 0

    def element(self, element: Any, level: int, depth: int) -> None:
        """Rows of an element that stands at a level of headings."""
        self._seen += 1
        if self._seen % PROGRESS_NODES == 0:
            self.given.progress(0)
        name = _name(element)
        if name in UNSEEN:
            return
        if name in TEXTS and not _has_blocks(element):
            self._text(element)
        elif name in CODES:
            self.rows.add("code", "".join(element.itertext()).strip("\n"))
        elif name in CAPTIONS:
            self.rows.add("caption", _inline(element))
        elif name in ("table", "informaltable", "tgroup", "simpletable") and _lines(element):
            self._table(element)
        elif not len(element):
            self._field(element, name)
        elif depth >= MAX_DEPTH or _is_mixed(element):
            self.rows.add("paragraph", _inline(element))
        else:
            self._children(element, name, level, depth)

    def _children(self, element: Any, name: str, level: int, depth: int) -> None:
        title = next((c for c in list(element)[:8] if _name(c) in TITLES), None)
        if name in ITEMS and title is None and not _has_blocks(element):
            self.rows.add("list_item", _inline(element), marker="•", level=1)
            return
        below = level
        if title is not None and (text := _inline(title)):
            self.rows.heading(text, min(level, MAX_LEVEL), evidence="markup")
            below = level + 1
        elif element.attrib and depth:
            self.rows.add("paragraph", _attributes(element))
        records = _records(element)
        told = False
        for child in element:
            if child is title:
                continue
            if _name(child) == records:
                if not told:
                    self._data([c for c in element if _name(c) == records])
                told = True
            else:
                self.element(child, below, depth + 1)

    def _text(self, element: Any) -> None:
        if _name(element) in ("note", "desc", "text") and not _inline(element):
            return
        self.rows.add("paragraph", _inline(element))

    def _field(self, element: Any, name: str) -> None:
        """A lone field: its name and its value; markup that is written as text is read."""
        text = clean(element.text or "")
        if name in TITLES:
            self.rows.heading(text, 1, evidence="markup")
        elif "</" in text and "<" in text:
            add_fragment(self.rows, self.given.assets, text)
        elif name in ITEMS:
            self.rows.add("list_item", text or _attributes(element), marker="•", level=1)
        elif text:
            self.rows.add("paragraph", f"{_written(element)}: {text}")
        elif element.attrib:
            self.rows.add("paragraph", f"{_written(element)}: {_attributes(element)}")

    def _data(self, records: list[Any]) -> None:
        """Elements of one name as the lines of a table, a column a field."""
        for piece in record_tables([dict(_fields(record)) for record in records]):
            self.rows.table(piece)

    def _table(self, element: Any) -> None:
        for child in element:
            if _name(child) in TITLES | CAPTIONS:
                self.rows.add("caption", _inline(child))
        cells = place(
            [
                Span(
                    _inline(cell),
                    _number(cell, "rowspan", 1) + _number(cell, "morerows", 0),
                    _number(cell, "colspan", 1),
                    header=head or _name(cell) == "th",
                )
                for cell in line
                if _name(cell) in CELLS
            ]
            for line, head in _lines(element)
        )
        self.rows.table(cells)


def _name(element: Any) -> str:
    """The local name by which an element is told, without its case."""
    return _written(element).lower()


def _written(element: Any) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _inline(element: Any) -> str:
    return one_line(" ".join("".join(element.itertext()).split()))


def _has_blocks(element: Any) -> bool:
    """Whether an element holds paragraphs, lists or tables of its own."""
    blocks = TEXTS | ITEMS | CODES | LINES | {"table", "list", "itemizedlist", "orderedlist"}
    return any(_name(child) in blocks for child in element)


def _is_mixed(element: Any) -> bool:
    """Whether words stand between the elements inside this one."""
    return bool((element.text or "").strip()) or any((c.tail or "").strip() for c in element)


def _records(element: Any) -> str | None:
    """The name of elements inside that come at least twice and hold nothing but fields."""
    counts = Counter(_name(child) for child in element)
    name, count = counts.most_common(1)[0]
    known = TEXTS | ITEMS | CODES | TITLES | LINES | UNSEEN
    if count < 2 or name in known:
        return None
    records = [c for c in element if _name(c) == name]
    fields = [len(c) + len(c.attrib) for c in records]
    if not all(_is_record(c) for c in records) or max(fields) < 2:
        return None
    return name


def _is_record(element: Any) -> bool:
    """Whether an element holds only fields, each once, none of them markup or a long text."""
    names = [_name(c) for c in element]
    if _is_mixed(element) and len(element):
        return False
    return len(set(names)) == len(names) and not any(
        len(c) or len(c.text or "") > 500 or "</" in (c.text or "") for c in element
    )


def _fields(element: Any) -> Iterator[tuple[str, str]]:
    for name, value in element.attrib.items():
        yield name.rpartition("}")[2], one_line(value)
    for child in element:
        extra = _attributes(child) if not (child.text or "").strip() else ""
        yield _written(child), one_line(child.text or "") or extra
    if not len(element) and (text := one_line(element.text or "")):
        yield _written(element), text


def _attributes(element: Any) -> str:
    pairs = ((n.rpartition("}")[2], one_line(v)) for n, v in element.attrib.items())
    return "; ".join(f"{name}: {value}" for name, value in pairs if value)


def _values(element: Any) -> Iterator[str]:
    for inner in element.iter():
        yield from (v for v in (_attributes(inner), clean(inner.text or "")) if v)


def _lines(table: Any) -> list[tuple[Any, bool]]:
    """The lines of a table in the way of HTML or CALS, and whether each is a head."""
    found: list[tuple[Any, bool]] = []
    for child in table:
        name = _name(child)
        if name in LINES or name in ("sthead", "strow"):
            found.append((child, name == "sthead"))
        elif name in ("thead", "tbody", "tfoot", "tgroup"):
            found += [(line, head or name == "thead") for line, head in _lines(child)]
    return found


def _number(element: Any, name: str, default: int) -> int:
    value = element.get(name, "")
    return int(value) if value.isdecimal() and len(value) < 5 else default
