"""NID: how much of the text comes out, and in the right order."""

import re
from html import escape

from rapidfuzz.distance import Indel

_EMPHASIS = re.compile(r"(?P<mark>\*{1,3}|~~|__|_)(?P<kept>\S(?:.*?\S)?)(?P=mark)", re.DOTALL)
_SPLIT = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r":?-+:?")


def nid(truth: str, found: str) -> float | None:
    """Similarity of two Markdown texts by normalised indel distance; None without a truth.

    `1 - D / (len(truth) + len(found))`, where D counts the characters that must be inserted
    or deleted to turn one text into the other. Both texts are compared as Markdown with
    tables as HTML, emphasis marks removed and white space collapsed, as the
    opendataloader-bench documents its reading order score (its README, 3.1).
    """
    expected = normalise(truth)
    if not expected:
        return None
    return Indel.normalized_similarity(expected, normalise(found))


def normalise(markdown: str) -> str:
    """Markdown with HTML tables, without emphasis marks, white space collapsed."""
    return collapse(strip_emphasis(tables_as_html(markdown)))


def collapse(text: str) -> str:
    """Every run of white space one space, none at the ends."""
    return " ".join(text.split())


def strip_emphasis(text: str) -> str:
    """Without the marks of bold, italic and struck text, also where they are nested."""
    previous = None
    while previous != text:
        previous, text = text, _EMPHASIS.sub(r"\g<kept>", text)
    return text


def tables_as_html(markdown: str) -> str:
    """Pipe tables (GitHub Flavored Markdown, section 4.10) rewritten as compact HTML tables."""
    lines = markdown.splitlines()
    out: list[str] = []
    at = 0
    while at < len(lines):
        head = pipe_cells(lines[at])
        rule = pipe_cells(lines[at + 1]) if head and at + 1 < len(lines) else None
        if not head or not rule or not all(_RULE.fullmatch(cell) for cell in rule):
            out.append(lines[at])
            at += 1
            continue
        width = max(len(head), len(rule))
        rows = [_row(head, width, "th")]
        at += 2
        while at < len(lines) and (cells := pipe_cells(lines[at])) is not None:
            rows.append(_row(cells, width, "td"))
            at += 1
        out.append(f"<table>{''.join(rows)}</table>")
    return "\n".join(out)


def pipe_cells(line: str) -> list[str] | None:
    """The cells of a line of a pipe table; None when it is none."""
    text = line.strip()
    if "|" not in text or not text.startswith("|"):
        return None
    text = text.removeprefix("|")
    if text.endswith("|") and not text.endswith("\\|"):
        text = text[:-1]
    return [cell.strip().replace("\\|", "|") for cell in _SPLIT.split(text)]


def _row(cells: list[str], width: int, tag: str) -> str:
    padded = (cells + [""] * width)[:width]
    return "<tr>" + "".join(f"<{tag}>{escape(c, quote=False)}</{tag}>" for c in padded) + "</tr>"
