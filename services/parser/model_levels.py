"""Levels of headings that no outline, style or number decides, by a language model.

Asked in batches so small that no answer can be cut, each with the headings around it; believed
one by one, as far as a level can be right where it stands. Without an answer the plain level
stays.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, Field

from libs.contracts.artefacts.rows import Row
from libs.runtime.models.helper import DATA_ONLY, Helper, quoted
from services.parser.rowfile import read_rows, write_rows

BATCH = 40
"""Headings of one question: an answer takes some fifteen tokens for each."""
ANSWER_TOKENS = 1500
AROUND = 15
"""Headings before and after a batch that are shown with it."""
LONGEST_TITLE = 120
DEEPEST = 6
FEWEST = 3
"""Headings from which a document has a structure to find."""

SYSTEM = (
    "You see the headings of a document in order, one a line: a number, its level in brackets, "
    "the look of its type, its title. Level 1 is the highest. Where the level is ?, say which it "
    "is, so that the whole is a sound table of contents: a part under its chapter, headings of "
    "one kind on one level, no level deeper than one below the heading before it. "
    "Levels that are given are right. Answer for every line with ?, by its number. " + DATA_ONLY
)


class Level(BaseModel):
    """The level of the heading of this number."""

    id: int
    level: int


class Levels(BaseModel):
    """What is asked for."""

    levels: list[Level] = Field(max_length=4 * BATCH)


@dataclass
class Heading:
    """A heading and the row that it is; `open` while only its looks decide its level."""

    row: int
    level: int
    text: str
    size: float | None
    bold: bool
    open: bool

    def line(self, number: int) -> str:
        """How it is shown to a model."""
        looks = [f"{self.size:g} pt"] if self.size else []
        looks += ["bold"] if self.bold else []
        level = "?" if self.open else str(self.level)
        title = " ".join(self.text.split())[:LONGEST_TITLE]
        return f"{number} [{level}] ({', '.join(looks)}) {title}"


def headings_of(rows: Iterable[Row]) -> list[Heading]:
    """The headings that a reader sees, in order."""
    return [
        Heading(i, row.level or 1, row.text, row.font_size, row.bold, row.evidence == "font")
        for i, row in enumerate(rows)
        if row.kind == "heading" and not row.hidden
    ]


async def decide(headings: Sequence[Heading], helper: Helper) -> dict[int, int]:
    """Levels that the model decided, by row; marks their headings as decided."""
    decided: dict[int, int] = {}
    if len(headings) < FEWEST:
        return decided
    for batch in _batches(headings):
        first, last = max(0, batch[0] - AROUND), batch[-1] + AROUND + 1
        shown = [h.line(n) for n, h in enumerate(headings[first:last], first)]
        answer = await helper.json(
            SYSTEM, quoted("\n".join(shown)), Levels, max_tokens=ANSWER_TOKENS
        )
        if answer is None:
            continue
        believed = believable(headings, batch, answer)
        helper.refuse(len(batch) - len(believed))
        for number, level in believed.items():
            heading = headings[number]
            heading.level, heading.open = level, False
            decided[heading.row] = level
    return decided


def _batches(headings: Sequence[Heading]) -> Iterator[list[int]]:
    unresolved = [n for n, heading in enumerate(headings) if heading.open]
    for start in range(0, len(unresolved), BATCH):
        yield unresolved[start : start + BATCH]


def believable(headings: Sequence[Heading], batch: Sequence[int], answer: Levels) -> dict[int, int]:
    """The levels of the batch, by place, that can be right: asked for, said once, in bounds, and
    at most one below the heading before. None at all where most of the answer cannot be."""
    said: dict[int, set[int]] = {}
    for one in answer.levels:
        said.setdefault(one.id, set()).add(one.level)
    believed: dict[int, int] = {}
    for number in batch:
        levels = said.get(number, set())
        if len(levels) != 1:
            continue
        (level,) = levels
        before = believed.get(number - 1, headings[number - 1].level) if number else 0
        if 1 <= level <= min(DEEPEST, before + 1):
            believed[number] = level
    return believed if 2 * len(believed) >= len(batch) else {}


def rewritten(source: Path, target: Path, decided: dict[int, int]) -> None:
    """The row file with the levels that were decided, as another file."""
    write_rows(
        target, (_levelled(row, decided.get(i)) for i, row in enumerate(read_rows([source])))
    )


def _levelled(row: Row, level: int | None) -> Row:
    if level is None:
        return row
    return row.model_copy(update={"level": level, "evidence": "model"})
