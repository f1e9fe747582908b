"""reStructuredText: sections, lists, literal blocks, tables and directives, line by line.

After docutils, "reStructuredText Markup Specification": a section's level follows from the order
in which the signs of its underline first come.
"""

import csv
import re
from itertools import pairwise

from services.parser.formats.base import ParseInput, ShardResult
from services.parser.formats.prose import UNDERLINED, Depths, Prose, read_anyway
from services.parser.formats.rows import Rows, read_text
from services.parser.formats.tables import Span

PROGRESS_LINES = 5_000
_BULLET = re.compile(r"(\s*)([-*+•‣]|(?:\(?(?:[0-9]{1,4}|#|[a-zA-Z])[.)]))\s+(\S.*)")
_DIRECTIVE = re.compile(r"\s*\.\.\s+(?:\|[^|]{1,80}\|\s*)?([\w.+:-]+)::\s*(.*)")
_FOOTNOTE = re.compile(r"\.\.\s+\[([#*]?[\w.*-]{0,40})\]\s+(\S.*)")
_TARGET = re.compile(r"\s*(?:\.\.\s+_[^\n]*|__\s.*|\.\.)\s*$")
_OPTION = re.compile(r"\s+:[\w-]+:(?:\s|$)")
_FIELD = re.compile(r":[^:\s][^:]{0,60}:(?:\s|$)")
_GRID = re.compile(r"\s*\+(?:[-=]+\+)+\s*$")
_SIMPLE = re.compile(r"\s*={2,}(?:\s+={2,})+\s*$")
_ROLE = re.compile(r":[\w:+.-]{1,40}:`([^`<>]{1,200})(?:\s*<[^<>`]{0,500}>)?`")
_LINK = re.compile(r"`([^`<>]{1,200}?)(?:\s*<[^<>`]{0,500}>)?`_{1,2}")
_MARK = re.compile(r"(\*\*|\*|``|`)(?=\S)([^*`\n]{1,500}?)(?<=\S)\1")
_LITERAL = frozenset({"code", "code-block", "sourcecode", "literalinclude", "parsed-literal",
                      "highlight", "doctest", "math", "prompt", "console"})  # fmt: skip
_TITLED = frozenset({"note", "warning", "tip", "important", "caution", "hint", "danger",
                     "attention", "error", "seealso", "admonition", "topic", "sidebar", "rubric",
                     "figure",
                     "versionadded", "versionchanged", "deprecated"})  # fmt: skip
_TABLES = frozenset({"csv-table", "list-table", "table"})


def parse(given: ParseInput) -> ShardResult:
    """Rows of a reStructuredText file."""
    rows = Rows()
    reader = _Reader(read_text(given).expandtabs(8).split("\n"), Prose(rows, _plain))
    told = 0
    while reader.at < len(reader.lines):
        reader.step()
        if reader.at - told > PROGRESS_LINES:
            told = reader.at
            given.progress(0)
    reader.prose.flush()
    read_anyway(rows, "\n".join(reader.lines))
    return rows.result("rst")


def _plain(text: str) -> str:
    if "`" in text or "*" in text:
        text = _MARK.sub(r"\2", _LINK.sub(r"\1", _ROLE.sub(r"\1", text)))
        text = " ".join(text.split())
    return text.removesuffix("::") + ":" if text.endswith("::") else text


class _Reader:
    def __init__(self, lines: list[str], prose: Prose) -> None:
        self.lines = lines
        self.prose = prose
        self.at = 0
        self._signs: list[str] = []
        self._depths = Depths()

    def step(self) -> None:
        """Read what begins at the line."""
        line = self._line(0)
        if not line.strip():
            ends_literal = self.at and self._line(-1).rstrip().endswith("::")
            self.prose.flush()
            self.at += 1
            if ends_literal and _indent(self._next_full()) > 0:
                self.prose.code(self._block(1))
        elif not self._section(line) and not self._special(line):
            self._text(line)

    def _line(self, offset: int) -> str:
        at = self.at + offset
        return self.lines[at] if 0 <= at < len(self.lines) else ""

    def _next_full(self) -> str:
        return next((x for x in self.lines[self.at : self.at + 20] if x.strip()), "")

    def _section(self, line: str) -> bool:
        """A title with a line of signs below it, or above and below."""
        if UNDERLINED.match(line):
            title, below = self._line(1), self._line(2)
            if title.strip() and below.rstrip() == line.rstrip() and not UNDERLINED.match(title):
                self._title(title, line[0] * 2)
                self.at += 3
            elif len(line.strip()) >= 4:
                self.prose.flush()
                self.at += 1
            else:
                return False
            return True
        below = self._line(1)
        if not self.prose.is_open and line[0] != " " and UNDERLINED.match(below):
            self._title(line, below[0])
            self.at += 2
            return True
        return False

    def _title(self, title: str, sign: str) -> None:
        self._depths.close()
        if sign not in self._signs:
            self._signs.append(sign)
        self.prose.heading(title, self._signs.index(sign) + 1)

    def _special(self, line: str) -> bool:
        """Directives, comments, notes and tables; their bodies stand further right."""
        if found := _DIRECTIVE.match(line):
            self._directive(found[1].lower(), found[2].strip(), _indent(line))
        elif found := _FOOTNOTE.match(line):
            self.at += 1
            text = " ".join([found[2], *self._block(1)])
            self.prose.flush()
            self.prose.rows.add("footnote", _plain(" ".join(text.split())), marker=found[1])
        elif _TARGET.match(line) or line.startswith(".. "):
            self.prose.flush()
            self.at += 1
            self._block(_indent(line) + 1)
        elif _GRID.match(line):
            self._grid()
        elif _SIMPLE.match(line):
            self._simple()
        else:
            return False
        return True

    def _directive(self, name: str, title: str, indent: int) -> None:
        self.prose.flush()
        self.at += 1
        if name in _LITERAL:
            block = self._block(indent + 1)
            while block and (_OPTION.match(block[0]) or not block[0].strip()):
                block.pop(0)
            self.prose.code([title] if name == "math" and title else block)
        elif name in _TABLES:
            self.prose.caption(title)
            block = self._block(indent + 1)
            self._table(name, block)
        elif name in _TITLED:
            if name not in ("figure",):
                self.prose.line(title)
        elif name in ("image", "toctree", "include", "raw", "contents", "only", "index", "meta"):
            self._block(indent + 1)
        elif title:
            self.prose.line(title)
        while _OPTION.match(self._line(0)):
            self.at += 1
        if name in _TITLED and not self._line(0).strip():
            self.prose.flush()

    def _table(self, name: str, block: list[str]) -> None:
        head = next((int(m[1]) for x in block if (m := re.match(r"\s+:header-rows:\s*(\d)", x))), 0)
        named = next((m[1] for x in block if (m := re.match(r"\s+:header:\s*(.+)", x))), None)
        lines = [x for x in block if x.strip() and not _OPTION.match(x)]
        if name == "csv-table":
            lines = ([named] if named else []) + [x.strip() for x in lines]
            cells = list(csv.reader(lines, skipinitialspace=True))
            self.prose.table(cells, head or int(named is not None))
        elif name == "list-table":
            made: list[list[str]] = []
            for text in (x.strip() for x in lines):
                if text.startswith("* -"):
                    made.append([text[3:].strip()])
                elif text.startswith("-") and made:
                    made[-1].append(text[1:].strip())
                elif made:
                    made[-1][-1] += f" {text}"
            self.prose.table(made, head)
        else:
            inner = _Reader([x.strip() for x in block], self.prose)
            while inner.at < len(inner.lines):
                inner.step()

    def _block(self, indent: int) -> list[str]:
        """The lines that stand at least this far right, blank ones between them too."""
        start = self.at
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.strip() and _indent(line) < indent:
                break
            self.at += 1
        block = self.lines[start : self.at]
        while block and not block[-1].strip():
            block.pop()
        return block

    def _grid(self) -> None:
        """A table drawn with `+---+`; spans follow from the lines that are missing."""
        start = self.at
        while self._line(0).lstrip()[:1] in ("+", "|"):
            self.at += 1
        lines = [x.strip() for x in self.lines[start : self.at]]
        borders = [i for i, x in enumerate(lines) if _GRID.match(x)]
        head = next((n for n, i in enumerate(borders) if "=" in lines[i] and n), 0)
        cuts = sorted({i for b in borders for i, c in enumerate(lines[b]) if c == "+"})
        made: list[list[Span | str]] = []
        for top, low in pairwise(borders):
            texts: list[Span | str] = []
            left = 0
            for edge in range(1, len(cuts)):
                body = lines[top + 1 : low]
                if edge < len(cuts) - 1 and not any(
                    x[cuts[edge] : cuts[edge] + 1] == "|" for x in body
                ):
                    continue
                text = " ".join(x[cuts[left] + 1 : cuts[edge]].strip() for x in body)
                texts.append(Span(" ".join(text.split()), 1, edge - left))
                left = edge
            made.append(texts)
        self.prose.table(made, head)

    def _simple(self) -> None:
        """A table between lines of `===`."""
        edges = [m.span() for m in re.finditer(r"=+", self._line(0))]
        start = self.at + 1
        self.at = start
        marks: list[int] = []
        while self.at < len(self.lines) and len(marks) < 2:
            line = self._line(0)
            if _SIMPLE.match(line):
                marks.append(self.at)
                if not self._line(1).strip():
                    self.at += 1
                    break
            elif not line.strip() and len(marks) == 1 and _SIMPLE.match(self._line(-1)):
                break
            self.at += 1
        made: list[list[str]] = []
        head = 0
        for at in range(start, self.at):
            line = self.lines[at]
            if _SIMPLE.match(line):
                head = len(made) if len(marks) > 1 and at == marks[0] else head
            elif line.strip() and not re.fullmatch(r"[\s-]+", line):
                ends = [b for b, _ in edges[1:]] + [len(line) + 1]
                cells = [line[a:b].strip() for (a, _), b in zip(edges, ends, strict=True)]
                if made and not cells[0] and any(cells):
                    made[-1] = [f"{x} {y}".strip() for x, y in zip(made[-1], cells, strict=True)]
                else:
                    made.append(cells)
        self.prose.table(made, head)

    def _text(self, line: str) -> None:
        indent = _indent(line)
        if found := _BULLET.match(line):
            self.prose.item(found[2], found[3], self._depths.of(indent))
        elif _FIELD.match(line.strip()) and not self.prose.is_open:
            self.prose.line(line)
            self.prose.flush()
        else:
            if indent == 0 and not self.prose.in_item:
                self._depths.close()
            self.prose.line(line)
        self.at += 1


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
