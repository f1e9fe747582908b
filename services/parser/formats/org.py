"""Org mode: headlines, lists, tables and blocks ("Org Syntax", orgmode.org)."""

import re

from services.parser.formats.base import ParseInput, ShardResult
from services.parser.formats.prose import Depths, Prose, read_anyway
from services.parser.formats.rows import Rows, read_text

_HEAD = re.compile(r"(\*+)\s+(?:(?:TODO|DONE|NEXT|WAITING|CANCELLED)\s+)?(?:\[#[A-Z]\]\s+)?(.+)")
_TAGS = re.compile(r"\s+:(?:[\w@#%]+:)+\s*$")
_KEYWORD = re.compile(r"\s*#\+(\w+)(?:\[[^\]]*\])?:\s*(.*)", re.IGNORECASE)
_BEGIN = re.compile(r"\s*#\+begin_(\w+)", re.IGNORECASE)
_ITEM = re.compile(r"(\s*)([-+]|[0-9]{1,4}[.)]|(?<=\s)\*)\s+(?:\[[ X-]\]\s+)?(\S.*)")
_RULE = re.compile(r"\s*\|[-+|:]*\|?\s*$")
_DRAWER = re.compile(r"\s*:[\w-]+:\s*$")
_NOTE = re.compile(r"\[fn:([\w-]{1,40})\]\s+(\S.*)")
_LINK = re.compile(r"\[\[([^\[\]]{1,500})\](?:\[([^\[\]]{1,500})\])?\]")
_MARK = re.compile(r"(?<![\w*/=~+_])([*/=~+_])(?=\S)([^*/=~+\n]{1,300}?)(?<=\S)\1(?![\w*/=~+_])")
_ESCAPED = re.compile(r"^,(?=\*|#\+)")
DRAWER = 100
"""Lines of a drawer."""
_CODE = frozenset({"src", "example", "export", "comment"})


def parse(given: ParseInput) -> ShardResult:
    """Rows of an Org file; its title, where it states one, is the highest heading."""
    rows = Rows()
    prose, depths = Prose(rows, _plain), Depths()
    lines = read_text(given).split("\n")
    above = int(any((k := _KEYWORD.match(x)) and k[1].lower() == "title" for x in lines[:100]))
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if found := _HEAD.fullmatch(line.rstrip()):
            depths.close()
            prose.heading(_TAGS.sub("", found[2]), len(found[1]) + above)
            given.progress(0)
        elif begin := _BEGIN.match(line):
            end = _end(lines, at, f"#+end_{begin[1].lower()}")
            if begin[1].lower() in _CODE:
                if begin[1].lower() != "comment":
                    prose.code([_ESCAPED.sub("", line) for line in lines[at:end]])
                at = end + 1
        elif _DRAWER.match(line) and (closed := _closed(lines, at)):
            at = closed
        elif line.lstrip().startswith("|"):
            start = at - 1
            while at < len(lines) and lines[at].lstrip().startswith("|"):
                at += 1
            _table(prose, lines[start:at])
        elif keyword := _KEYWORD.match(line):
            _keyword(prose, keyword[1].lower(), keyword[2])
        elif note := _NOTE.match(line):
            prose.flush()
            rows.add("footnote", _plain(note[2]), marker=note[1])
        elif not line.strip() or line.lstrip().startswith(("# ", "#+")):
            prose.flush()
        elif item := _ITEM.fullmatch(line):
            prose.item(item[2], item[3], depths.of(len(item[1])))
        else:
            if not prose.in_item:
                depths.close()
            prose.line(line)
    prose.flush()
    read_anyway(rows, "\n".join(lines))
    return rows.result("org")


def _keyword(prose: Prose, name: str, value: str) -> None:
    prose.flush()
    if name == "title":
        prose.heading(value, 1)
    elif name == "caption":
        prose.caption(value)
    elif name in ("author", "date", "subtitle", "description") and value:
        prose.line(value)
        prose.flush()


def _end(lines: list[str], at: int, mark: str) -> int:
    """The place of the line that closes a block; the end of the file where none does."""
    for place in range(at, len(lines)):
        if lines[place].strip().lower().startswith(mark):
            return place
        if lines[place].startswith("* "):
            return place - 1
    return len(lines)


def _closed(lines: list[str], at: int) -> int:
    """Where the text goes on after a drawer; 0 for one that nothing closes, which is text."""
    for place in range(at, min(len(lines), at + DRAWER)):
        if lines[place].strip().lower() == ":end:":
            return place + 1
    return 0


def _table(prose: Prose, lines: list[str]) -> None:
    made: list[list[str]] = []
    head = 0
    for line in lines:
        if _RULE.match(line):
            head = head or len(made)
        else:
            made.append([cell.strip() for cell in line.strip().strip("|").split("|")])
    prose.table(made, head if head < len(made) else 0)


def _plain(text: str) -> str:
    if "[[" in text:
        text = _LINK.sub(lambda m: m[2] or m[1], text)
    return _MARK.sub(r"\2", text)
