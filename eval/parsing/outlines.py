"""Headings against the embedded outline of a PDF, which the parser does not get to see."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from rapidfuzz import fuzz

from eval.parsing.model import FoundHeading

NEAR_PAGES = 1
ALIKE = 90.0
LONG_ENOUGH = 8
"""Letters from which two titles may differ a little and still be the same."""
_NUMBER = re.compile(
    r"(?:(?:chapter|appendix|part|section|annex)\s+)?"
    r"(?:[0-9]+|[a-z]|[ivxlc]+)(?:\.[0-9a-z]+)*[.:)]*\s+",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class OutlineScore:
    """How found headings agree with an outline.

    `considered` leaves out what the outline is silent about: headings before its first page
    (title page, contents) and headings deeper than its deepest level. `shift` is the
    difference of levels that fits most pairs; a document's title above its chapters moves
    all of them down by one.
    """

    expected: int
    found: int
    considered: int
    matched: int
    same_level: int
    shift: int
    missed: tuple[FoundHeading, ...]
    extra: tuple[FoundHeading, ...]

    @property
    def recall(self) -> float:
        """Share of the outline's entries that were found."""
        return self.matched / self.expected if self.expected else 1.0

    @property
    def precision(self) -> float:
        """Share of the considered headings that are in the outline."""
        return self.matched / self.considered if self.considered else 0.0

    @property
    def strict_precision(self) -> float:
        """Share of all headings that are in the outline."""
        return self.matched / self.found if self.found else 0.0

    @property
    def levels(self) -> float:
        """Share of the matched headings whose level is the outline's, after the shift."""
        return self.same_level / self.matched if self.matched else 0.0


def compare_outline(truth: Sequence[FoundHeading], found: Sequence[FoundHeading]) -> OutlineScore:
    """Match headings to outline entries one to one, by title and page."""
    pairs = _match(truth, found)
    shifts = Counter(found[f].level - truth[t].level for t, f in pairs.items())
    shift = min(shifts, key=lambda s: (-shifts[s], abs(s))) if shifts else 0
    first = min((h.page for h in truth if h.page is not None), default=0)
    deepest = max((h.level for h in truth), default=0)
    taken = set(pairs.values())
    extra = tuple(
        h
        for i, h in enumerate(found)
        if i not in taken and h.level - shift <= deepest and (h.page is None or h.page >= first)
    )
    return OutlineScore(
        expected=len(truth),
        found=len(found),
        considered=len(pairs) + len(extra),
        matched=len(pairs),
        same_level=shifts[shift] if shifts else 0,
        shift=shift,
        missed=tuple(h for i, h in enumerate(truth) if i not in pairs),
        extra=extra,
    )


def read_outline(path: Path) -> list[FoundHeading]:
    """The outline of a PDF, levels from 1, entries without a title left out."""
    document = open_pdf(path)
    try:
        entries = []
        for mark in document.get_toc(max_depth=12):
            target = mark.get_dest()
            index = target.get_index() if target is not None else None
            title = " ".join(mark.get_title().split())
            if title:
                page = None if index is None else index + 1
                entries.append(FoundHeading(title, mark.level + 1, page))
        return entries
    finally:
        document.close()


def open_pdf(path: Path) -> Any:
    """The document in pypdfium2, to be closed by the caller."""
    return import_module("pypdfium2").PdfDocument(path)


def title_keys(title: str) -> frozenset[str]:
    """A title as letters and digits alone, with and without its leading number."""
    text = unicodedata.normalize("NFKC", title)
    keys = {_letters(text)}
    match = _NUMBER.match(text)
    if match is not None and (rest := _letters(text[match.end() :])):
        keys.add(rest)
    return frozenset(keys - {""})


def _letters(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def _match(truth: Sequence[FoundHeading], found: Sequence[FoundHeading]) -> dict[int, int]:
    """Found heading by outline entry: equal titles first, then titles that are nearly so."""
    keys = [title_keys(h.text) for h in found]
    by_key: dict[str, list[int]] = {}
    for index, some in enumerate(keys):
        for key in some:
            by_key.setdefault(key, []).append(index)
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for t, heading in enumerate(truth):
        wanted = title_keys(heading.text)
        options = {
            f for key in wanted for f in by_key.get(key, ()) if f not in taken
            and _near(heading, found[f])
        }  # fmt: skip
        if options:
            pairs[t] = min(options, key=lambda f: (_distance(heading, found[f]), f))
            taken.add(pairs[t])
    for t, heading in enumerate(truth):
        if t in pairs:
            continue
        close = [
            f for f in range(len(found)) if f not in taken and _near(heading, found[f])
            and _alike(title_keys(heading.text), keys[f])
        ]  # fmt: skip
        if close:
            pairs[t] = min(close, key=lambda f: (_distance(heading, found[f]), f))
            taken.add(pairs[t])
    return pairs


def _alike(first: frozenset[str], second: frozenset[str]) -> bool:
    return any(
        min(len(a), len(b)) >= LONG_ENOUGH and fuzz.ratio(a, b) >= ALIKE
        for a in first
        for b in second
    )


def _distance(first: FoundHeading, second: FoundHeading) -> int:
    return abs((first.page or 0) - (second.page or 0))


def _near(first: FoundHeading, second: FoundHeading) -> bool:
    return first.page is None or second.page is None or _distance(first, second) <= NEAR_PAGES
