"""Lines of a text in a light markup gathered into rows: what such formats have in common."""

import re
from collections.abc import Callable, Sequence

from services.parser.formats.rows import Rows
from services.parser.formats.tables import Span, place
from services.parser.formats.text import add_text

UNDERLINED = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*$")


class Prose:
    """The open paragraph or list item, and the rows before it.

    `plain` takes the marks of the format out of a text.
    """

    def __init__(self, rows: Rows, plain: Callable[[str], str]) -> None:
        self.rows = rows
        self._plain = plain
        self._lines: list[str] = []
        self._item: tuple[str, int] | None = None

    def line(self, text: str) -> None:
        """A further line of what is open; opens a paragraph where nothing is."""
        if text.strip():
            self._lines.append(text.strip())

    @property
    def in_item(self) -> bool:
        """Whether a list item is open."""
        return self._item is not None

    @property
    def is_open(self) -> bool:
        """Whether a further line would continue something."""
        return bool(self._lines) or self._item is not None

    def item(self, marker: str, text: str, level: int) -> None:
        """A list item begins."""
        self.flush()
        self._item = (marker, max(1, min(level, 8)))
        self.line(text)

    def heading(self, text: str, level: int) -> None:
        """A heading of the level that its markup gives it."""
        self.flush()
        self.rows.heading(self._plain(text), level, evidence="markup")

    def caption(self, text: str) -> None:
        """The title of what follows."""
        self.flush()
        self.rows.add("caption", self._plain(text))

    def code(self, lines: Sequence[str]) -> None:
        """Lines that stay as they are, but for the space that all of them begin with."""
        self.flush()
        full = [line for line in lines if line.strip()]
        margin = min((len(line) - len(line.lstrip()) for line in full), default=0)
        self.rows.add("code", "\n".join(line[margin:].rstrip() for line in lines).strip("\n"))

    def table(self, lines: Sequence[Sequence[Span | str]], header_rows: int) -> None:
        """A table of the texts or spans of its lines."""
        self.flush()
        self.rows.table(
            place(
                [
                    Span(self._plain(cell), header=at < header_rows)
                    if isinstance(cell, str)
                    else Span(self._plain(cell.text), cell.row_span, cell.column_span,
                              at < header_rows)
                    for cell in line
                ]
                for at, line in enumerate(lines)
            )
        )  # fmt: skip

    def flush(self) -> None:
        """What is open as a row."""
        text = self._plain(" ".join(self._lines))
        if self._item is not None:
            self.rows.add("list_item", text, marker=self._item[0], level=self._item[1])
        else:
            self.rows.add("paragraph", text)
        self._lines, self._item = [], None


def read_anyway(rows: Rows, text: str) -> None:
    """A text in which the format's reader found nothing, as plain text."""
    if not rows.rows:
        add_text(rows, text)


class Depths:
    """Depths of list items by how far they are indented."""

    def __init__(self) -> None:
        self._open: list[int] = []

    def of(self, indent: int) -> int:
        """The depth of an item that begins at this column, 1 the outermost."""
        while self._open and self._open[-1] >= indent + 1:
            self._open.pop()
        if not self._open or self._open[-1] < indent:
            self._open.append(indent)
        return len(self._open)

    def close(self) -> None:
        """No list is open any more."""
        self._open.clear()
