"""Cell adjacency: which cells of a table stand next to which.

The measure of the ICDAR 2013 table competition: Göbel, Hassan, Oro and Orsi, "A methodology
for evaluating algorithms for table understanding in PDF documents", DocEng 2012, and "ICDAR
2013 table competition", 2013. A table is the set of relations between each non-empty cell and
its nearest non-empty neighbour to the right and below.
"""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from eval.parsing.model import FoundTable
from libs.contracts.artefacts.rows import TableCell


class Relation(NamedTuple):
    """`second` is the nearest non-empty neighbour of `first` in the direction."""

    first: str
    second: str
    direction: Literal["right", "below"]


@dataclass(frozen=True)
class Match:
    """A truth table with the predicted table that shares most relations, if any does."""

    truth: int
    found: int | None
    shared: int
    expected: int

    @property
    def recall(self) -> float:
        """The share of the truth's relations that were found."""
        return self.shared / self.expected if self.expected else float(self.found is not None)


@dataclass(frozen=True)
class Adjacency:
    """The relations of one document: shared, predicted, expected, and the match of each table."""

    shared: int
    predicted: int
    expected: int
    matches: tuple[Match, ...]

    @property
    def precision(self) -> float:
        """The share of the predicted relations that are true; 0 without any."""
        return self.shared / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """The share of the true relations that were predicted; 1 when there are none."""
        return self.shared / self.expected if self.expected else 1.0


def f_score(precision: float, recall: float) -> float:
    """The harmonic mean."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def relations(cells: Sequence[TableCell]) -> Counter[Relation]:
    """The relations of a table; blank cells are skipped, a span looks out of all its rows.

    Two cells are related at most once in a direction.
    """
    filled = [(normalise(c.text), c) for c in cells]
    filled = [(text, c) for text, c in filled if text]
    grid: dict[tuple[int, int], int] = {}
    for index, (_, cell) in enumerate(filled):
        for r in range(cell.row, cell.row + cell.row_span):
            for c in range(cell.column, cell.column + cell.column_span):
                grid[r, c] = index
    pairs: set[tuple[int, int, Literal["right", "below"]]] = set()
    last_in_row: dict[int, int] = {}
    for (r, _), index in sorted(grid.items()):
        if (before := last_in_row.get(r)) is not None and before != index:
            pairs.add((before, index, "right"))
        last_in_row[r] = index
    last_in_column: dict[int, int] = {}
    for (_, c), index in sorted(grid.items()):
        if (before := last_in_column.get(c)) is not None and before != index:
            pairs.add((before, index, "below"))
        last_in_column[c] = index
    return Counter(Relation(filled[a][0], filled[b][0], where) for a, b, where in pairs)


def normalise(text: str) -> str:
    """NFKC, lower case, no white space."""
    return "".join(unicodedata.normalize("NFKC", text).lower().split())


def compare(truth: Sequence[FoundTable], found: Sequence[FoundTable]) -> Adjacency:
    """Match the tables of a document one to one and count relations.

    Only tables that share a page can match; pairs are taken in the order of the relations that
    they share, most first. All relations of a predicted table without a match are false.
    """
    expected = [relations(t.cells) for t in truth]
    predicted = [relations(t.cells) for t in found]
    pairs = sorted(
        (
            (-(expected[t] & predicted[f]).total(), t, f)
            for t in range(len(truth))
            for f in range(len(found))
            if truth[t].pages & found[f].pages
        ),
    )
    chosen: dict[int, tuple[int, int]] = {}
    used: set[int] = set()
    for negative, t, f in pairs:
        if negative and t not in chosen and f not in used:
            chosen[t] = (f, -negative)
            used.add(f)
    matches = []
    for t, wanted in enumerate(expected):
        match, shared = chosen.get(t, (None, 0))
        matches.append(Match(t, match, shared, wanted.total()))
    return Adjacency(
        shared=sum(m.shared for m in matches),
        predicted=sum(p.total() for p in predicted),
        expected=sum(e.total() for e in expected),
        matches=tuple(matches),
    )
