"""From rows in reading order to a section tree, by a stack of open headings."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from libs.contracts.artefacts.rows import Row
from services.chunker.text import clean, one_line, shorten

MAX_DEPTH = 12
"""Deeper headings stand beside their parent: a hostile outline must not nest without end."""
MAX_TITLE = 300
"""A longer heading is kept as a paragraph below its shortened title."""
FURNITURE = frozenset({"toc", "page_header", "page_footer"})


@dataclass
class Section:
    """A node of the heading tree. `rows` lie directly in it, in reading order; the root has
    level 0, an empty path and no heading. `path` includes the own title."""

    title: str
    level: int
    path: tuple[str, ...] = ()
    heading: Row | None = None
    rows: list[Row] = field(default_factory=list)
    children: list["Section"] = field(default_factory=list)

    def walk(self) -> Iterator["Section"]:
        """The section and all below it, parents first, in reading order."""
        yield self
        for child in self.children:
            yield from child.walk()


def visible(rows: Iterable[Row]) -> list[Row]:
    """What a reader of the original sees, in reading order, without page furniture.

    A document that consists of furniture alone keeps it: better found than lost.
    """
    seen = sorted((r for r in rows if not r.hidden), key=lambda r: r.order)
    return [r for r in seen if r.kind not in FURNITURE] or seen


def document_title(rows: Iterable[Row], stated: str | None, file_name: str) -> str:
    """The stated title, else the only heading of the highest level, else the file's name."""
    if stated and one_line(clean(stated)):
        return shorten(one_line(clean(stated)), MAX_TITLE)
    headings = [(r.level or 1, one_line(clean(r.text))) for r in rows if r.kind == "heading"]
    named = [(level, text) for level, text in headings if text]
    highest = min((level for level, _ in named), default=0)
    first = [text for level, text in named if level == highest]
    if len(first) == 1 and named[0][0] == highest:
        return shorten(first[0], MAX_TITLE)
    return file_name.rpartition(".")[0] or file_name


def build_tree(rows: Iterable[Row], title: str) -> Section:
    """The section tree of visible rows; the root stands for the document.

    A heading closes every open section of its own level or a deeper one and opens below what
    is left, so a jump in levels nests once. A heading without a level stands beside the
    section that is open.
    """
    root = Section(title=title, level=0)
    stack = [root]
    for row in rows:
        text = one_line(clean(row.text)) if row.kind == "heading" else ""
        if not text:
            stack[-1].rows.append(row)
            continue
        level = max(1, row.level or stack[-1].level)
        while stack[-1].level >= level or len(stack) > MAX_DEPTH:
            stack.pop()
        parent = stack[-1]
        name = shorten(text, MAX_TITLE)
        section = Section(name, level, (*parent.path, name), row)
        if name != text:
            section.rows.append(row.model_copy(update={"kind": "paragraph"}))
        parent.children.append(section)
        stack.append(section)
    return root
