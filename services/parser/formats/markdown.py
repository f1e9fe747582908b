"""Markdown (CommonMark with tables): markdown-it's tokens walked once into rows."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from services.parser.formats.base import AssetSink, ParseInput, ShardResult, no_progress
from services.parser.formats.images import keep_image
from services.parser.formats.rows import Rows, clean, read_text
from services.parser.formats.tables import Span, place

if TYPE_CHECKING:
    from markdown_it.token import Token

MAX_NESTING = 60
PROGRESS_TOKENS = 5_000
MAX_OPEN = 20_000
"""Brackets of a text that may stay open."""

_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|$)", re.DOTALL)
_TABLE = re.compile(r"<table[\s>]", re.IGNORECASE)
_TABLE_END = re.compile(r"</table\s*>", re.IGNORECASE)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_FOOTNOTE = re.compile(r"\[\^([^\]\s]{1,40})\]:?\s*")


def parse(given: ParseInput) -> ShardResult:
    """Rows of a Markdown file; headings keep the levels that the author gave them."""
    from markdown_it import __version__ as version

    rows = Rows()
    text = _front_matter(rows, read_text(given))
    add_markdown(rows, given.assets, text, given.progress)
    if not rows.rows:
        rows.add("paragraph", _without_comments(text))
    return rows.result("markdown-it", {"markdown-it-py": version})


def add_markdown(
    rows: Rows, assets: AssetSink, text: str, progress: Callable[[int], None] = no_progress
) -> None:
    """Rows of a text in Markdown, at the end of `rows`."""
    from markdown_it import MarkdownIt

    env: dict[str, object] = {}
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable(
        ["table", "strikethrough"]
    )
    parser.helpers = _Helpers()  # type: ignore[assignment]
    walker = _Walker(rows, assets)
    tokens = parser.parse(_joined_tables(text), env)
    for start in range(0, len(tokens), PROGRESS_TOKENS):
        for token in tokens[start : start + PROGRESS_TOKENS]:
            walker.take(token)
        progress(0)
    _footnotes(rows, env)


class _Helpers:
    """markdown-it's helpers; brackets that nothing closes are looked for so many times only,
    each time into every bracket behind them."""

    def __init__(self) -> None:
        from markdown_it import helpers

        self.parseLinkDestination = helpers.parseLinkDestination
        self.parseLinkTitle = helpers.parseLinkTitle
        self._label = helpers.parseLinkLabel
        self._left = MAX_OPEN

    def parseLinkLabel(self, state: Any, start: int, disableNested: bool = False) -> int:  # noqa: N802, N803
        """Where the label that begins at `start` ends, -1 where it does not."""
        end = self._label(state, start, disableNested) if self._left > 0 else -1
        self._left -= end < 0
        return end


@dataclass
class _List:
    ordered: bool
    next: int = 1


@dataclass
class _Walker:
    """Turns the flat token stream into rows; state is the open lists and the open table."""

    rows: Rows
    assets: AssetSink
    lists: list[_List] = field(default_factory=list)
    marker: str | None = None
    heading: int | None = None
    table: list[list[Span]] | None = None
    in_head: bool = False

    def take(self, token: "Token") -> None:
        match token.type:
            case "heading_open":
                self.heading = int(token.tag[1])
            case "heading_close":
                self.heading = None
            case "bullet_list_open":
                self.lists.append(_List(ordered=False))
            case "ordered_list_open":
                self.lists.append(_List(ordered=True, next=int(token.attrs.get("start", 1))))
            case "bullet_list_close" | "ordered_list_close":
                self.lists.pop()
            case "list_item_open":
                self._item(token)
            case "list_item_close":
                self.marker = None
            case "table_open":
                self.table = []
            case "thead_open" | "thead_close":
                self.in_head = token.type == "thead_open"
            case "tr_open":
                if self.table is not None:
                    self.table.append([])
            case "table_close":
                if self.table is not None:
                    self.rows.table(place(self.table))
                self.table = None
            case "fence" | "code_block":
                self.rows.add("code", token.content.rstrip("\n"))
            case "html_block":
                self._html(token.content)
            case "inline":
                self._inline(token)

    def _item(self, token: "Token") -> None:
        current = self.lists[-1]
        self.marker = f"{current.next}{token.markup}" if current.ordered else token.markup
        current.next += 1

    def _inline(self, token: "Token") -> None:
        text = "".join(_texts(token.children or ()))
        if self.table is not None and self.table:
            self.table[-1].append(Span(clean(text), header=self.in_head))
        elif self.heading is not None:
            self.rows.heading(text, self.heading, evidence="markup")
        elif self.lists:
            self._list_text(text)
        elif note := _FOOTNOTE.match(text):
            self.rows.add("footnote", text[note.end() :], marker=note[1])
        else:
            self.rows.add("paragraph", text)
        for child in token.children or ():
            if child.type == "image":
                source = str(child.attrs.get("src", ""))
                keep_image(self.rows, self.assets, source, child.content)

    def _list_text(self, text: str) -> None:
        """The first text of an item opens its row; what follows in the item continues it."""
        if self.marker is not None:
            depth = len(self.lists)
            added = self.rows.add("list_item", text, marker=self.marker, level=depth)
            if added is not None:
                self.marker = None
        elif self.rows.rows and self.rows.rows[-1].kind == "list_item":
            last = self.rows.rows[-1]
            joined = last.model_copy(update={"text": f"{last.text}\n{clean(text)}"})
            self.rows.rows[-1] = joined
        else:
            self.rows.add("paragraph", text)

    def _html(self, content: str) -> None:
        if not _without_comments(content).strip():
            return
        from services.parser.formats.html import add_fragment

        add_fragment(self.rows, self.assets, content)


def _texts(children: Sequence["Token"]) -> Iterator[str]:
    for child in children:
        match child.type:
            case "text" | "code_inline":
                yield child.content
            case "softbreak":
                yield " "
            case "hardbreak":
                yield "\n"
            case "html_inline" if _BREAK.fullmatch(child.content):
                yield "\n"
            case "image":
                yield child.content


def _front_matter(rows: Rows, text: str) -> str:
    """The text below a YAML front matter, which becomes a hidden note."""
    found = _FRONT_MATTER.match(text)
    if found is None or ":" not in found[1]:
        return text
    rows.add("note", found[1], hidden=True)
    rows.note("front_matter", "the file begins with front matter, kept as a hidden note")
    return text[found.end() :]


def _joined_tables(text: str) -> str:
    """Blank lines inside an HTML table taken out: in CommonMark they would end the block."""
    if not _TABLE.search(text):
        return text
    lines: list[str] = []
    fence: str | None = None
    inside = False
    for line in text.split("\n"):
        if (mark := _FENCE.match(line)) and not inside:
            if fence is None:
                fence = mark[1]
            elif mark[1].startswith(fence):
                fence = None
        if fence is None:
            opened = len(_TABLE.findall(line))
            closed = len(_TABLE_END.findall(line))
            inside = opened > closed or (inside and closed <= opened)
            if inside and not line.strip():
                continue
        lines.append(line)
    return "\n".join(lines)


def _without_comments(text: str) -> str:
    kept: list[str] = []
    at = 0
    while (start := text.find("<!--", at)) >= 0:
        kept.append(text[at:start])
        end = text.find("-->", start + 4)
        if end < 0:
            return "".join(kept)
        at = end + 3
    return "".join(kept) + text[at:]


def _footnotes(rows: Rows, env: dict[str, object]) -> None:
    """One-word footnotes, which CommonMark takes for link references."""
    references = env.get("references")
    if isinstance(references, dict):
        for label, reference in references.items():
            if str(label).startswith("^"):
                rows.add("footnote", str(reference.get("href", "")), marker=str(label)[1:])
