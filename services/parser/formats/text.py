"""Plain text: paragraphs between blank lines, headings by their numbers, lists by their markers."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from services.parser.formats.base import ParseInput, ShardResult
from services.parser.formats.korean import article
from services.parser.formats.numbering import (
    Number,
    NumberLevels,
    heading_number,
    list_marker,
    reads_like_heading,
)
from services.parser.formats.rows import Rows, read_text

PROGRESS_LINES = 20_000
MAX_PARAGRAPH = 20_000
"""Characters after which a paragraph without a blank line is cut at a line end."""

CODE_SUFFIXES = {
    ".c", ".cc", ".cpp", ".cs", ".css", ".go", ".h", ".hpp", ".ini", ".java", ".js", ".json",
    ".kt", ".lua", ".php", ".pl", ".proto", ".ps1", ".py", ".r", ".rb", ".rs", ".sh", ".sql",
    ".swift", ".toml", ".ts", ".yaml", ".yml",
}  # fmt: skip

_RULE = re.compile(r"[\s=\-_*~#·.]{3,}$")
_UNDERLINE = re.compile(r"(?:={3,}|-{3,})\s*$")


def parse(given: ParseInput) -> ShardResult:
    """Rows of a plain text file, in one pass over its lines; program text keeps its lines."""
    rows = Rows()
    if Path(given.profile.file_name).suffix.lower() in CODE_SUFFIXES:
        for block in _blocks(read_text(given)):
            rows.add("code", "\n".join(block))
        return rows.result("text")
    levels = NumberLevels()
    lines = 0
    for block in _blocks(read_text(given)):
        _block(rows, levels, block)
        lines += len(block)
        if lines > PROGRESS_LINES:
            lines = 0
            given.progress(0)
    if rows.rows and not any(r.kind == "heading" for r in rows.rows):
        rows.note("flat_structure", "no heading was recognised in the text")
    return rows.result("text")


def add_text(rows: Rows, text: str, **fields: Any) -> None:
    """Rows of a text that came from elsewhere, each with these fields."""
    first, levels = len(rows.rows), NumberLevels()
    for block in _blocks(text.replace("\r\n", "\n").replace("\r", "\n")):
        _block(rows, levels, block)
    rows.rows[first:] = [row.model_copy(update=fields) for row in rows.rows[first:]]


def _blocks(text: str) -> Iterator[list[str]]:
    """Runs of lines between blank lines or form feeds, right-stripped, of bounded length."""
    block: list[str] = []
    size = 0
    for raw in text.replace("\f", "\n\n").split("\n"):
        line = raw.rstrip()
        if not line or size > MAX_PARAGRAPH:
            if block:
                yield block
            block, size = [], 0
        if line:
            block.append(line)
            size += len(line)
    if block:
        yield block


def _block(rows: Rows, levels: NumberLevels, block: list[str]) -> None:
    """A run of lines: a heading at its start or inside, list items, and paragraphs between."""
    paragraph: list[str] = []
    alone = len(block) == 1

    def flush() -> None:
        if paragraph:
            rows.add("paragraph", " ".join(line.strip() for line in paragraph))
            paragraph.clear()

    for i, line in enumerate(block):
        text = line.strip()
        following = block[i + 1].strip() if i + 1 < len(block) else ""
        if _RULE.match(line):
            if not (_UNDERLINE.match(line) and i and rows.rows and rows.rows[-1].kind == "heading"):
                flush()
            continue
        if _UNDERLINE.match(following) and len(text) < 120 and not paragraph:
            rows.heading(text, 1 if following[0] == "=" else 2, evidence="markup")
            continue
        if parted := article(text):
            flush()
            number = heading_number(parted[0])
            if number is not None:
                _numbered(rows, levels, number, parted[0])
                if parted[1]:
                    paragraph.append(parted[1])
                continue
        number = heading_number(text)
        if number is not None and _is_heading(number, alone=alone, first=i == 0):
            flush()
            _numbered(rows, levels, number, text)
        elif (item := list_marker(text)) is not None:
            flush()
            depth = 1 + (len(line) - len(line.lstrip())) // 2
            rows.add("list_item", item[1], marker=item[0], level=min(depth, 8))
        elif rows.rows and rows.rows[-1].kind == "list_item" and not paragraph and i:
            _continue_item(rows, text)
        else:
            paragraph.append(text)
    flush()


def _is_heading(number: Number, *, alone: bool, first: bool) -> bool:
    """A strong marker or a deep number heads wherever it stands; `1.` only on its own."""
    if not reads_like_heading(number):
        return False
    if number.strong:
        return first or len(number.title) < 60
    return alone if number.depth == 1 else first or len(number.title) < 60


def _numbered(rows: Rows, levels: NumberLevels, number: Number, text: str) -> None:
    rows.heading(text, levels.level(number), evidence="numbering", marker=number.marker)


def _continue_item(rows: Rows, text: str) -> None:
    last = rows.rows[-1]
    rows.rows[-1] = last.model_copy(update={"text": f"{last.text} {text}"})
