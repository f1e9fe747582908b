"""LaTeX: the text that it sets, read from its source without running a single macro."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from services.parser.formats.base import ParseInput, ShardResult
from services.parser.formats.prose import read_anyway
from services.parser.formats.rows import Rows, read_text
from services.parser.formats.tables import Span, place
from services.parser.formats.tex_text import plain

SECTIONS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph",
            "subparagraph")  # fmt: skip
MATH = frozenset({"equation", "align", "gather", "multline", "displaymath", "eqnarray", "math",
                  "alignat", "flalign"})  # fmt: skip
CODE = frozenset({"verbatim", "lstlisting", "minted", "Verbatim", "alltt", "comment"})
TABLES = frozenset(
    {"tabular", "tabularx", "longtable", "tabulary", "tabu", "supertabular", "array"}
)
LISTS = frozenset({"itemize", "enumerate", "description", "thebibliography"})
LONGEST = 200_000
"""Characters of one argument or environment."""
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*+)%[^\n]*(?:\n[ \t]*)?")
_LISTING = re.compile(r"\\begin\{(verbatim|lstlisting|minted|Verbatim|alltt)\b")
_BLOCK = re.compile(
    r"\\(?P<section>part|chapter|(?:sub){0,2}section|(?:sub)?paragraph|title|caption|footnote"
    r"|author)\*?\s*(?:\[[^\[\]]{0,2000}\])?\s*(?=\{)"
    r"|\\begin\s*\{(?P<begin>[A-Za-z]+)\*?\}|\\end\s*\{(?P<end>[A-Za-z]+)\*?\}"
    r"|\\(?P<item>item|bibitem)(?![A-Za-z])|(?P<display>\\\[|\$\$)|(?P<blank>\n\s*\n)"
)
_ARGUMENTS = re.compile(r"\s*(?:\[[^\[\]]{0,500}\]|\{[^{}]{0,500}\})*")
_SPAN = re.compile(r"\\multi(?P<what>column|row)\s*\{(?P<count>\d{1,3})\}\s*\{[^{}]*(?:\{[^{}]*\}"
                   r"[^{}]*)*\}\s*\{")  # fmt: skip
_RULE = re.compile(r"\\(?:hline|toprule|midrule|bottomrule|endhead|endfirsthead|endfoot|endlastfoot"
                   r"|(?:cline|cmidrule)(?:\([^()]*\))?\s*\{[^{}]*\})")  # fmt: skip


@dataclass
class _List:
    kind: str
    count: int = 0


def parse(given: ParseInput) -> ShardResult:
    """Rows of a LaTeX file; without `\\begin{document}` all of it is text."""
    source = _uncommented(read_text(given))
    begin = source.find(r"\begin{document}")
    rows = Rows()
    reader = _Reader(rows, source)
    if begin >= 0:
        if (title := reader.argument_of(r"\title", begin)) is not None:
            reader.titled = True
            rows.heading(plain(title), 1, evidence="markup")
        reader.at = begin + len(r"\begin{document}")
        reader.end = source.find(r"\end{document}", begin)
    for _ in reader.blocks():
        given.progress(0)
    read_anyway(rows, source)
    return rows.result("tex")


def _uncommented(source: str) -> str:
    """The source without comments; what looks like one in a listing stays."""
    pieces: list[str] = []
    at = 0
    for found in _LISTING.finditer(source):
        if found.start() < at:
            continue
        end = source.find(rf"\end{{{found[1]}", found.end())
        if end < 0:
            break
        pieces += [_COMMENT.sub(r"\1", source[at : found.start()]), source[found.start() : end]]
        at = end
    return "".join([*pieces, _COMMENT.sub(r"\1", source[at:])])


class _Reader:
    """Walks from block to block; `text` gathers what stands between."""

    def __init__(self, rows: Rows, source: str) -> None:
        self.rows = rows
        self.source = source
        self.at = 0
        self.end = -1
        self.titled = False
        self.text: list[str] = []
        self.lists: list[_List] = []
        self.item: str | None = None
        used = [s for s in SECTIONS if re.search(rf"\\{s}\b", source)]
        self.levels = {name: level for level, name in enumerate(used, 1)}

    def blocks(self) -> Iterator[None]:
        """Read on, a block a step."""
        end = self.end if self.end >= 0 else len(self.source)
        for count, found in enumerate(_BLOCK.finditer(self.source)):
            if found.start() < self.at:
                continue
            if found.start() >= end:
                break
            self.text.append(self.source[self.at : found.start()])
            self.at = found.end()
            self._block(found)
            if count % 500 == 0:
                yield
        self.text.append(self.source[self.at : end])
        self.flush()

    def _block(self, found: re.Match[str]) -> None:
        if found["section"]:
            self._command(found["section"])
        elif found["begin"]:
            self._begin(found["begin"], found.end())
        elif found["end"]:
            if found["end"] in LISTS and self.lists:
                self.flush()
                self.lists.pop()
            self.flush()
        elif found["item"]:
            self._item(found["item"])
        elif found["display"]:
            close = r"\]" if found["display"] == r"\[" else "$$"
            self.flush()
            self.rows.add("formula", self._until(close))
        else:
            self.flush()

    def _command(self, name: str) -> None:
        argument = self._group()
        if name == "footnote":
            self.rows.add("footnote", plain(argument))
        elif name == "caption":
            self.flush()
            self.rows.add("caption", plain(argument))
        elif name in self.levels:
            self.flush()
            level = self.levels[name] + self.titled
            self.rows.heading(plain(argument), level, evidence="markup")
        elif name == "title" and not self.titled:
            self.flush()
            self.titled = True
            self.rows.heading(plain(argument), 1, evidence="markup")
        elif name == "author":
            self.flush()
            self.rows.add("paragraph", plain(argument))

    def _begin(self, name: str, start: int) -> None:
        self.flush()
        if name in CODE:
            body = self._until(rf"\end{{{name}", close="}")
            if name != "comment":
                self.rows.add("code", _ARGUMENTS.sub("", body, count=1).strip("\n"))
        elif name in MATH:
            self.rows.add("formula", self._until(rf"\end{{{name}", close="}"))
        elif name in TABLES:
            self._table(self._until(rf"\end{{{name}", close="}"), name)
        elif name in LISTS:
            self.lists.append(_List(name))
            self._skip_arguments()
        else:
            self._skip_arguments()

    def _skip_arguments(self) -> None:
        found = _ARGUMENTS.match(self.source, self.at)
        self.at = found.end() if found else self.at

    def _item(self, name: str) -> None:
        self.flush()
        current = self.lists[-1] if self.lists else _List("itemize")
        current.count += 1
        self.item = f"{current.count}." if current.kind == "enumerate" else "•"
        if self.source[self.at : self.at + 1] == "[":
            close = self.source.find("]", self.at, self.at + 500)
            if close > 0:
                label = plain(self.source[self.at + 1 : close])
                self.item = label or self.item
                self.at = close + 1
        if name == "bibitem":
            self.item = f"[{current.count}]"
            self._group()

    def _table(self, body: str, name: str) -> None:
        body = re.sub(r"\s*(?:\[[^\[\]]*\])?\s*", "", body, count=1)
        for _ in range(2 if name in ("tabularx", "tabulary", "tabu") else 1):
            if body.startswith("{"):
                body = body[_closing(body, 0) + 1 :].lstrip()
        head = _RULE.search(body.lstrip()[1:]) is not None
        rows: list[list[Span]] = []
        for line in re.split(r"\\\\(?:\[[^\[\]]*\])?|\\tabularnewline", _RULE.sub("", body)):
            if line.strip():
                rows.append([_cell(text) for text in re.split(r"(?<!\\)&", line)])
        ruled = head and len(rows) > 1
        self.rows.table(
            place([Span(c.text, c.row_span, c.column_span, ruled and at == 0) for c in row]
                  for at, row in enumerate(rows))
        )  # fmt: skip

    def _until(self, mark: str, close: str = "") -> str:
        """The source up to a mark, which is stepped over; a bounded piece where it is missing."""
        end = self.source.find(mark, self.at, self.at + LONGEST)
        if end < 0:
            end = min(len(self.source), self.at + LONGEST)
            body, self.at = self.source[self.at : end], end
            return body
        body, self.at = self.source[self.at : end], end + len(mark)
        if close:
            self.at = max(self.at, self.source.find(close, self.at, self.at + 3) + 1)
        return body

    def argument_of(self, command: str, end: int) -> str | None:
        """The argument of a command before `end`."""
        found = re.compile(re.escape(command) + r"\s*(?:\[[^\[\]]*\])?\s*\{").search(
            self.source, 0, end
        )
        if found is None:
            return None
        return self.source[found.end() : _closing(self.source, found.end() - 1)]

    def _group(self) -> str:
        start = self.source.find("{", self.at, self.at + 20)
        if start < 0:
            return ""
        close = _closing(self.source, start)
        self.at = close + 1
        return self.source[start + 1 : close]

    def flush(self) -> None:
        """What was gathered as a row."""
        text = plain("".join(self.text))
        self.text.clear()
        if self.item is not None and text:
            self.rows.add("list_item", text, marker=self.item, level=max(1, len(self.lists)))
            self.item = None
        else:
            self.rows.add("paragraph", text)


def _cell(text: str) -> Span:
    across = down = 1
    for _ in range(2):
        found = _SPAN.search(text)
        if found is None:
            break
        inner = text[found.end() : _closing(text, found.end() - 1)]
        across = int(found["count"]) if found["what"] == "column" else across
        down = int(found["count"]) if found["what"] == "row" else down
        text = inner
    return Span(plain(text), max(1, down), max(1, across))


def _closing(text: str, start: int) -> int:
    """The place of the brace that closes the one at `start`; a bounded one where none does."""
    depth = 0
    end = min(len(text), start + LONGEST)
    for found in re.compile(r"\\.|[{}]", re.DOTALL).finditer(text, start, end):
        if found[0] == "{":
            depth += 1
        elif found[0] == "}":
            depth -= 1
            if depth == 0:
                return found.start()
    return end
