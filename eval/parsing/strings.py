"""Strings that other parsers' tests ask for: does the text come out, whatever its markup?"""

import re
import unicodedata
from dataclasses import dataclass
from html import unescape

from eval.parsing.model import Parsed, Strings
from eval.parsing.nid import pipe_cells

_TAG = re.compile(r"</?[a-zA-Z][^<>]*(?:>|$)")
_TAIL = re.compile(r"^[^<>]*>")
_ATTRIBUTE = re.compile(r"\b\w+=\"")
_EXCEPTION = re.compile(r"\w+Exception")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")
_IMAGE = re.compile(r"!\[(?P<text>[^\]]*)\]\([^)]*\)")
_LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?:[^()]|\([^()]*\))*\)")
_LEAD = re.compile(r"^\s*(?:#{1,6}|[-*+>])\s+", re.MULTILINE)
_RULE = re.compile(r"[|:\-\s]+")
_MARKS = str.maketrans("", "", "*_`~[]")


@dataclass(frozen=True)
class StringScore:
    """What of the asked strings came out (`present`) or stayed out (`absent`)."""

    present: int
    present_of: int
    absent: int
    absent_of: int
    missing: tuple[str, ...]
    intruding: tuple[str, ...]


def compare_strings(wanted: Strings, parsed: Parsed) -> StringScore:
    """Look for the strings in the text of a file, markup and white space set aside.

    A string written as a heading (`## …`) must be one. What names the markup or the exceptions
    of the parser that the assertion was written for, rather than text of the file, is not
    asked, nor that words stand in other markup; nor is the absence of something that another
    assertion on the same file wants.
    """
    shown = plain(parsed.markdown)
    whole = f"{shown} {plain(parsed.plain)}"
    titles = [plain(heading.text) for heading in parsed.headings]
    asked = _needles(wanted.present, wanted.present_markup)
    missing = [
        text
        for text, needle in asked
        if not (any(needle in title for title in titles) if _is_heading(text) else needle in whole)
    ]
    unwanted = [
        (text, needle)
        for text, needle in _needles(wanted.absent, ())
        if not any(needle in kept for _, kept in asked)
    ]
    intruding = [text for text, needle in unwanted if needle in shown]
    return StringScore(
        present=len(asked) - len(missing),
        present_of=len(asked),
        absent=len(unwanted) - len(intruding),
        absent_of=len(unwanted),
        missing=tuple(missing),
        intruding=tuple(intruding),
    )


def plain(text: str) -> str:
    """Text without tags, link targets, Markdown marks and invisible characters.

    NFKC; every run of white space, and every border between cells, is one space.
    """
    text = "\n".join(_line(line) for line in text.splitlines())
    text = unescape(_TAG.sub(" ", _LINK.sub(r"\g<text>", _IMAGE.sub(r"\g<text>", text))))
    text = _LEAD.sub("", text).translate(_MARKS)
    text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text))
    return " ".join(text.split())


def _content(markup: str) -> str:
    """The text of a piece of HTML that may begin or end inside a tag."""
    return plain(_TAIL.sub("", markup))


def _line(line: str) -> str:
    cells = pipe_cells(line)
    if cells is None:
        return line
    return "" if _RULE.fullmatch(line) else " ".join(cells)


def _needles(texts: tuple[str, ...], markup: tuple[str, ...]) -> list[tuple[str, str]]:
    """The strings with what to look for, those without text of their own left out."""
    found = [
        (text, plain(text))
        for text in texts
        if not _ATTRIBUTE.search(text) and not _EXCEPTION.fullmatch(text)
    ]
    found += [(text, _content(text)) for text in markup]
    return [(text, needle) for text, needle in found if needle]


def _is_heading(text: str) -> bool:
    return re.match(r"#{1,6}\s", text) is not None
