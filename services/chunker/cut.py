"""From the text rows of a section to chunks of bounded size.

A unit is what a chunk never cuts: a sentence, a list item, a line of code. Only a unit that
alone is over the limit is cut, at white space where there is some.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from libs.contracts.artefacts.rows import Row
from services.chunker.text import CountMany, clean, sentences

PATH_RESERVE = 8
"""Tokens that an embedder adds of its own to path and text: prefix, start, end, a line break."""


@dataclass(frozen=True)
class Sizes:
    """Chunk sizes in model tokens: chunks aim at `target` and, with their heading path, stay
    within `limit`, the window of the embedder."""

    target: int = 300
    limit: int = 512

    def __post_init__(self) -> None:
        if not 1 <= self.target <= self.limit:
            raise ValueError(
                f"chunk sizes need 1 ≤ target ≤ limit, not {self.target}, {self.limit}"
            )

    def under(self, path_tokens: int) -> "Sizes":
        """What is left for the text under a heading path, at least half of the whole."""
        limit = max(self.limit - path_tokens - PATH_RESERVE, (self.limit + 1) // 2)
        return Sizes(min(self.target, limit), limit)


@dataclass(slots=True)
class Unit:
    """A piece of a row. `joiner` stands between it and the unit before; `opens` marks the
    beginning of a row; `begins` and `ends` tell the pieces of a cut unit from whole ones;
    `tokens` are filled in by the caller."""

    text: str
    joiner: str
    row: Row
    opens: bool = True
    begins: bool = True
    ends: bool = True
    tokens: int = 0


def units_of(row: Row, before: Row | None) -> list[Unit]:
    """The units of a text row; `before` is the text row that precedes it in the section."""
    text = clean(row.text)
    if not text:
        return []
    joiner = "\n\n"
    if row.kind == "list_item":
        marker = clean(row.marker or "") or "-"
        indent = "  " * (min(row.level or 1, 8) - 1)
        text = f"{indent}{marker} {text}"
        if before is not None and before.kind == "list_item":
            joiner = "\n"
        parts = [("", text)]
    elif row.kind in ("code", "formula"):
        parts = _lines(text)
    else:
        marker = clean(row.marker or "") if row.kind == "footnote" else ""
        if marker and not text.startswith(marker):
            text = f"{marker} {text}"
        parts = sentences(text)
    return [
        Unit(piece, joiner if i == 0 else gap, row, i == 0) for i, (gap, piece) in enumerate(parts)
    ]


def fit(units: list[Unit], limit: int, count_many: CountMany) -> list[Unit]:
    """The units with every one that is over `limit` cut into pieces that are not.

    A piece of one character is never cut further, whatever it counts.
    """
    while any(u.tokens > limit and len(u.text) > 1 for u in units):
        cut: list[Unit] = []
        fresh: list[Unit] = []
        for unit in units:
            if unit.tokens <= limit or len(unit.text) <= 1:
                cut.append(unit)
                continue
            pieces = _divide(unit, max(2, math.ceil(unit.tokens / (0.9 * limit))))
            cut += pieces
            fresh += pieces
        for unit, tokens in zip(fresh, count_many([u.text for u in fresh]), strict=True):
            unit.tokens = tokens
        units = cut
    return units


def pack(units: Sequence[Unit], sizes: Sizes) -> list[list[Unit]]:
    """Units in order, in groups of even size near the target and never over the limit.

    A group ends with its page, so that it is cited with the page that holds it, unless less
    than half the target stands on that page or the next.
    """
    return [group for run in _by_page(units, sizes.target / 2) for group in _even(run, sizes)]


def _by_page(units: Sequence[Unit], least: float) -> list[list[Unit]]:
    """Runs of units that begin on one page; one of fewer than `least` tokens joins the run
    before it, or where it is the first the one behind it."""
    runs: list[list[Unit]] = []
    for _, some in groupby(units, key=lambda unit: unit.row.page):
        run = list(some)
        if runs and (_tokens(run) < least or _tokens(runs[-1]) < least):
            runs[-1].extend(run)
        else:
            runs.append(run)
    return runs


def _even(units: Sequence[Unit], sizes: Sizes) -> list[list[Unit]]:
    """The text shared out evenly over round(total / target) chunks; a chunk that is nearly
    full ends at the next row rather than inside one."""
    total = sum(u.tokens for u in units)
    if total <= sizes.limit and total < 1.5 * sizes.target:
        return [list(units)] if units else []
    ideal = total / max(1, round(total / sizes.target))
    groups: list[list[Unit]] = []
    group: list[Unit] = []
    size = 0
    for unit in units:
        full = size + unit.tokens / 2 > ideal or (unit.opens and size >= 0.75 * ideal)
        if group and (full or size + unit.tokens > sizes.limit):
            groups.append(group)
            group, size = [], 0
        group.append(unit)
        size += unit.tokens
    if groups and size < ideal / 4 and _tokens(groups[-1]) + size <= sizes.limit:
        groups[-1].extend(group)
    elif group:
        groups.append(group)
    return groups


def _tokens(units: Sequence[Unit]) -> int:
    return sum(u.tokens for u in units)


def _divide(unit: Unit, parts: int) -> list[Unit]:
    """About `parts` pieces of equal length, each ending at white space in its last third."""
    text = unit.text
    step = max(1, math.ceil(len(text) / parts))
    pieces: list[Unit] = []
    start, joiner = 0, unit.joiner
    while start < len(text):
        stop = min(start + step, len(text))
        space = -1
        if stop < len(text):
            space = max(text.rfind(c, start + 1 + step * 2 // 3, stop + 1) for c in " \n\t")
        stop = space if space > start else stop
        piece = text[start:stop].strip()
        if piece:
            head = not pieces
            pieces.append(
                replace(
                    unit,
                    text=piece,
                    joiner=joiner,
                    opens=unit.opens and head,
                    begins=unit.begins and head,
                    ends=False,
                )
            )
            joiner = " " if stop == space else ""
        start = stop
    pieces[-1].ends = unit.ends
    return pieces


def _lines(text: str) -> list[tuple[str, str]]:
    """Lines that hold something, each with the line breaks before it."""
    lines: list[tuple[str, str]] = []
    breaks = ""
    for line in text.split("\n"):
        if line.strip():
            lines.append((breaks, line.rstrip()))
            breaks = ""
        breaks += "\n"
    return lines
