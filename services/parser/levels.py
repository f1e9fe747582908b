"""Levels of the headings that no outline names, over the whole document. Pure.

Numbers come first: a scheme (`1.2`, `제3장`) takes the level that the outline gave its
headings, else the one that the nesting of schemes gives. Then looks: a size and weight takes
the level of decided headings that look the same, else it lies below the next larger one.
In any case a heading lies below the outline's heading before it, unless it looks as large.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from services.parser.formats.numbering import Number, NumberLevels, heading_number
from services.parser.lines import Decision, Line

MAX_FONT_LEVEL = 6
MAX_LEVEL = 12
SAME_SIZE = 0.05
"""Sizes that differ by less than this share are one."""
MIN_LISTED = 3
"""Headings that an outline must name before what it leaves out says something."""

Style = tuple[float, bool]


def level_headings(
    headings: Sequence[Line], decided: Mapping[int, Decision]
) -> dict[int, Decision]:
    """A decision for every heading that has none yet."""
    made: dict[int, Decision] = {}
    numbers = {x.index: n for x in headings if (n := _number(x)) is not None}
    nested_levels = _nested(numbers)
    by_scheme, shift = _learned_schemes(numbers, nested_levels, decided)
    for index, nested in nested_levels.items():
        if index not in decided:
            level = by_scheme.get(numbers[index].scheme, nested + shift)
            made[index] = Decision(_bounded(level, MAX_LEVEL), "numbering")
    known = {**decided, **made}
    styles = _style_levels(headings, known)
    for line in headings:
        if line.index not in known:
            made[line.index] = Decision(styles[_style(line, styles)], "font")
    return _below_the_truth(headings, decided, _unlisted(headings, decided, made, styles))


def _unlisted(
    headings: Sequence[Line],
    decided: Mapping[int, Decision],
    made: Mapping[int, Decision],
    styles: Mapping[Style, int],
) -> dict[int, Decision]:
    """Headings that an outline leaves out lie below its levels where they look lesser than all
    that it lists, and below those that look the same where these are numbered in another way,
    or where it lists most. The highest level, and what stands before its first heading, stay.
    """
    truths = [x for x in headings if x.index in decided]
    if len(truths) < MIN_LISTED:
        return dict(made)
    schemes: dict[Style, Counter[str]] = defaultdict(Counter)
    for line in truths:
        schemes[_style(line, styles)][_scheme(line)] += 1
    left_out = Counter(_style(x, styles) for x in headings if x.index in made)
    deepest = max(decided[x.index].level for x in truths)
    least = min(schemes)
    settled = dict(made)
    for line in headings:
        if line.index < truths[0].index or line.index in decided:
            continue
        look, scheme, level = _style(line, styles), _scheme(line), made[line.index].level
        known = schemes.get(look, Counter[str]())
        if look < least:
            level = max(level, deepest + 1)
        elif (
            styles[look] > 1
            and known
            and (scheme not in known or (not scheme and known.total() > left_out[look]))
        ):
            level = max(level, styles[look] + 1)
        settled[line.index] = replace(made[line.index], level=_bounded(level, MAX_LEVEL))
    return settled


def _scheme(line: Line) -> str:
    """The scheme of the number that a heading begins with; empty for none."""
    number = heading_number(line.text)
    return number.scheme if number else ""


def _below_the_truth(
    headings: Sequence[Line], decided: Mapping[int, Decision], made: Mapping[int, Decision]
) -> dict[int, Decision]:
    """A heading that looks lesser than the decided one before it lies below that one."""
    settled: dict[int, Decision] = {}
    over: Line | None = None
    for line in headings:
        if line.index in decided:
            over = line
            continue
        decision = made[line.index]
        if over is not None and _lesser(line, over):
            level = max(decision.level, decided[over.index].level + 1)
            decision = replace(decision, level=_bounded(level, MAX_LEVEL))
        settled[line.index] = decision
    return settled


def _lesser(line: Line, other: Line) -> bool:
    size, reference = line.size or 0.0, other.size or 0.0
    if size < reference * (1 - SAME_SIZE):
        return True
    return size <= reference * (1 + SAME_SIZE) and other.bold and not line.bold


def _number(line: Line) -> Number | None:
    """The number of a heading that was one because of its number."""
    return heading_number(line.text) if line.evidence == "numbering" else None


def _nested(numbers: Mapping[int, Number]) -> dict[int, int]:
    """Levels from the order in which the document nests its schemes.

    A document that begins in the middle of things (`5.1.3`, then `5.2`, then `6`) has the
    outer numbers open before its first one.
    """
    nesting = NumberLevels()
    depths: list[int] = []
    for number in numbers.values():
        if not number.scheme.startswith("decimal-"):
            break
        depths.append(number.depth)
    for depth in sorted(set(depths)):
        if depth < depths[0]:
            nesting.level(Number("", f"decimal-{depth}", "", depth))
    return {index: nesting.level(number) for index, number in numbers.items()}


def _learned_schemes(
    numbers: Mapping[int, Number], nested: Mapping[int, int], decided: Mapping[int, Decision]
) -> tuple[dict[str, int], int]:
    """The outline's level of each scheme, and how far it lies from the nesting of numbers."""
    by_scheme: dict[str, Counter[int]] = defaultdict(Counter)
    shifts: Counter[int] = Counter()
    for index in numbers.keys() & decided.keys():
        level = decided[index].level
        by_scheme[numbers[index].scheme][level] += 1
        shifts[level - nested[index]] += 1
    learned = {scheme: _mode(levels) for scheme, levels in by_scheme.items()}
    return learned, _mode(shifts) if shifts else 0


def _mode(levels: Counter[int]) -> int:
    """The commonest, of equals the smallest."""
    return min(levels, key=lambda level: (-levels[level], level))


def _style_levels(headings: Sequence[Line], known: Mapping[int, Decision]) -> dict[Style, int]:
    """The level of every look that occurs: that of its decided headings, else one below the
    deepest of the next size that is as large or larger."""
    looks: dict[Style, Counter[int]] = {s: Counter() for s in _styles(headings)}
    for line in headings:
        if line.index in known:
            looks[_style(line, looks)][known[line.index].level] += 1
    levels = {s: _mode(seen) for s, seen in looks.items() if seen}
    for style in sorted(looks.keys() - levels.keys(), reverse=True):
        larger = [s for s in levels if s[0] >= style[0]]
        nearest = min((size for size, _ in larger), default=0.0)
        above = max((levels[s] for s in larger if s[0] == nearest), default=0)
        levels[style] = _bounded(above + 1, max(MAX_FONT_LEVEL, above))
    return levels


def _styles(headings: Iterable[Line]) -> list[Style]:
    """The sizes that occur, near ones merged into the largest, each bold or not."""
    sizes = sorted({x.size or 0.0 for x in headings}, reverse=True)
    merged: list[float] = []
    for size in sizes:
        if not merged or size < merged[-1] * (1 - SAME_SIZE):
            merged.append(size)
    return sorted({_nearest(merged, x) for x in headings}, reverse=True)


def _style(line: Line, styles: Iterable[Style]) -> Style:
    return _nearest(sorted({size for size, _ in styles}, reverse=True), line)


def _nearest(sizes: Sequence[float], line: Line) -> Style:
    size = line.size or 0.0
    return next((s for s in sizes if size >= s * (1 - SAME_SIZE)), sizes[-1]), line.bold


def _bounded(level: int, most: int) -> int:
    return max(1, min(level, most))
