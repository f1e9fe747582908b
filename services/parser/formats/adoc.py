"""AsciiDoc: titles, lists, blocks and tables ("AsciiDoc Language", Eclipse Foundation)."""

import re

from services.parser.formats.base import ParseInput, ShardResult
from services.parser.formats.prose import Prose, read_anyway
from services.parser.formats.rows import Rows, read_text
from services.parser.formats.tables import Span

_HEAD = re.compile(r"(={1,6}|#{1,6})\s+(\S.*)")
_ITEM = re.compile(r"\s*(\*{1,6}|-|\.{1,6}|[0-9]{1,3}\.|<(?:\d+|\.)>)\s+(\S.*)")
_TERM = re.compile(r"\s*(\S.{0,200}?)(:{2,4}|;;)(?:\s+(\S.*))?$")
_FENCE = re.compile(r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|`{3,})\s*[\w]*\s*$")
_ATTRIBUTE = re.compile(r":!?[\w-]+!?:(?:\s|$)")
_BLOCK_ATTRIBUTES = re.compile(r"\[[^\[\]]*\]\s*$|\[\[[\w .,:-]*\]\]\s*$")
_MACRO = re.compile(r"(image|include|toc|video|audio)::")
_ADMONITION = re.compile(r"(NOTE|TIP|IMPORTANT|WARNING|CAUTION):\s+")
_LINK = re.compile(r"(?:link:|https?://)[^\s\[\]]{1,500}\[([^\[\]]{1,500})\]")
_REFERENCE = re.compile(r"<<([^<>,]{1,200})(?:,([^<>]{1,300}))?>>")
_MARK = re.compile(r"(?<![\w*_`#+])(\*\*|\*|__|_|``|`|##|#|\+)(?=\S)([^*_`#+\n]{1,300}?)(?<=\S)\1"
                   r"(?![\w*_`#+])")  # fmt: skip
_CELL = re.compile(r"(?:(?P<span>\d*(?:\.\d+)?)\+)?(?:[<^>.]{0,4}[aehlmsvd]?)\|")
_VERBATIM = "-.+`"


def parse(given: ParseInput) -> ShardResult:
    """Rows of an AsciiDoc file."""
    rows = Rows()
    prose = Prose(rows, _plain)
    lines = read_text(given).split("\n")
    at, fresh = 0, True
    while at < len(lines):
        line = lines[at].rstrip()
        at += 1
        if not line or line == "+":
            if not line and not (prose.in_item and at < len(lines) and lines[at].strip() == "+"):
                prose.flush()
            fresh = True
        elif line.startswith(("|===", ",===", ":===", "!===")):
            end = _end(lines, at, line)
            _table(prose, lines[at:end])
            at = end + 1
        elif fence := _FENCE.fullmatch(line):
            if fence[1][0] in _VERBATIM and fence[1] != "--":
                end = _end(lines, at, line.rstrip() if fence[1][0] != "`" else fence[1])
                prose.code(lines[at:end])
                at = end + 1
            elif fence[1][0] == "/":
                prose.flush()
                at = _end(lines, at, line) + 1
            else:
                prose.flush()
        elif not prose.is_open and (head := _HEAD.fullmatch(line)):
            prose.heading(head[2].rstrip("=#") or head[2], len(head[1]))
            given.progress(0)
        elif _aside(prose, line, fresh=fresh):
            continue
        elif item := _ITEM.match(line):
            marker = item[1]
            prose.item(marker[0] if marker[0] in "*." else marker, item[2],
                       len(marker) if marker[0] in "*." else 1)  # fmt: skip
        elif (term := _TERM.fullmatch(line)) and not prose.is_open:
            prose.item(term[1], term[3] or "", len(term[2]) - 1)
        else:
            prose.line(_ADMONITION.sub(r"\1: ", line))
            fresh = False
    prose.flush()
    read_anyway(rows, "\n".join(lines))
    return rows.result("adoc")


def _aside(prose: Prose, line: str, *, fresh: bool) -> bool:
    """Lines that are no text: attributes, comments, macros; the title of a block."""
    if line.startswith("//") or _ATTRIBUTE.match(line) or _MACRO.match(line):
        return True
    if _BLOCK_ATTRIBUTES.fullmatch(line):
        prose.flush()
        return True
    if fresh and re.match(r"\.[^\s.]", line):
        prose.caption(line[1:])
        return True
    return False


def _end(lines: list[str], at: int, mark: str) -> int:
    return next((i for i in range(at, len(lines)) if lines[i].rstrip() == mark), len(lines))


def _table(prose: Prose, lines: list[str]) -> None:
    """The cells of a table; its first line of cells tells how many stand in a row."""
    head = int(len(lines) > 1 and bool(lines[0].strip()) and not lines[1].strip())
    spans: list[Span] = []
    wide = 0
    for line in lines:
        starts = list(_CELL.finditer(line))
        if not starts and spans and line.strip():
            last = spans[-1]
            spans[-1] = Span(f"{last.text} {line.strip()}".strip(), last.row_span, last.column_span)
        for start, following in zip(starts, [*starts[1:], None], strict=False):
            text = line[start.end() : following.start() if following else len(line)].strip()
            across, _, down = (start["span"] or "").partition(".")
            spans.append(Span(text, int(down or 1), max(1, int(across or 1))))
        if starts and not wide:
            wide = sum(s.column_span for s in spans)
    made: list[list[Span | str]] = [[]]
    used: dict[int, int] = {}
    for span in spans:
        if wide and sum(_width(s) for s in made[-1]) + used.get(len(made) - 1, 0) >= wide:
            made.append([])
        for below in range(1, min(span.row_span, 1_000)):
            row = len(made) - 1 + below
            used[row] = used.get(row, 0) + span.column_span
        made[-1].append(span)
    prose.table(made, head)


def _width(cell: Span | str) -> int:
    return cell.column_span if isinstance(cell, Span) else 1


def _plain(text: str) -> str:
    text = _LINK.sub(r"\1", text)
    text = _REFERENCE.sub(lambda m: (m[2] or m[1]).strip(), text)
    return _MARK.sub(r"\2", text)
