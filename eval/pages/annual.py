"""An invented annual report of a hundred pages, and questions about its figures.

Five years of the same statements and notes, so that many pages differ in the year or segment
alone. A figure stands in one line of one table, and in the next year's beside it, unless it is
a segment's: then in one table only.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from eval.pages.paper import Paper
from eval.pages.wording import YEARS, Wording

NUMBERS = range(1_003, 99_991)
ASKED_EACH = 8
"""Questions of each kind of figure."""


@dataclass(frozen=True)
class Fact:
    """A figure as it is printed, and what asks for it: `kind` is of `Wording.asked`."""

    kind: str
    value: str
    names: dict[str, str]


@dataclass
class Report:
    """The report in one language; `facts` are filled as it is written."""

    wording: Wording
    seed: int = 11
    facts: list[Fact] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        values = self._random.sample(NUMBERS, 6_000)
        self._values: Iterator[int] = iter(values)
        w = self.wording
        self.paper = Paper(w.running, w.font, ruled=w.ruled)

    def write(self) -> Paper:
        """The whole report."""
        w = self.wording
        self.paper.heading(1, w.title)
        for text in w.letter:
            self.paper.paragraph(text)
        self._review()
        for statement in w.statements:
            self.paper.heading(1, statement.title, new_page=True)
            known: dict[str, str] = {}
            for year in YEARS:
                known = self._statement(statement.title, statement.lines, year, known)
        self.paper.heading(1, w.notes_title, new_page=True)
        for number, note in enumerate(w.notes, 1):
            self.paper.heading(2, f"{number}. {note.title}", new_page=True)
            self.paper.paragraph(note.policy)
            for year in YEARS:
                self._note(note.title, note.lines, note.columns, year)
        return self.paper

    def _review(self) -> None:
        """Each segment through the years: text, then its figures."""
        w = self.wording
        self.paper.heading(1, w.review_title, new_page=True)
        for segment in w.segments:
            self.paper.heading(2, segment.name, new_page=True)
            self.paper.paragraph(segment.about)
            for year in YEARS:
                self.paper.heading(3, w.segment_year.format(segment=segment.name, year=year))
                for text in self._random.sample(w.remarks, 3):
                    self.paper.paragraph(text.format(segment=segment.name, year=year))
                rows = [[w.item, w.fiscal.format(year=year)]]
                for line in w.segment_lines:
                    value = self._figure()
                    rows.append([line, value])
                    names = {"line": line, "segment": segment.name, "year": str(year)}
                    self.facts.append(Fact("segment", value, names))
                caption = w.segment_caption.format(segment=segment.name, year=year)
                self.paper.table(rows, caption=f"{caption} {w.unit}")

    def _statement(
        self, title: str, lines: list[str], year: int, before: dict[str, str]
    ) -> dict[str, str]:
        """One year's statement beside the year before."""
        w = self.wording
        self.paper.heading(2, w.statement_year.format(statement=title, year=year), new_page=True)
        self.paper.paragraph(w.statement_lead.format(statement=title, year=year, before=year - 1))
        rows = [[w.item, w.fiscal.format(year=year), w.fiscal.format(year=year - 1)]]
        now = {line: self._figure() for line in lines}
        for line, value in now.items():
            rows.append([line, value, before.get(line) or self._figure()])
            self.facts.append(Fact("statement", value, {"line": line, "year": str(year)}))
        self.paper.table(rows, caption=w.unit)
        return now

    def _note(self, title: str, lines: list[str], columns: list[str], year: int) -> None:
        """One year's table of a note."""
        w = self.wording
        caption = w.note_caption.format(note=title, year=year)
        rows = [[w.item, *columns]]
        for line in lines:
            values = [self._figure() for _ in columns]
            rows.append([line, *values])
            for column, value in zip(columns, values, strict=True):
                names = {"line": line, "column": column, "note": title, "year": str(year)}
                self.facts.append(Fact("note", value, names))
        self.paper.paragraph(self._random.choice(w.note_remarks).format(note=title, year=year))
        self.paper.table(rows, caption=f"{caption} {w.unit}")

    def _figure(self) -> str:
        return f"{next(self._values):,}"

    def questions(self) -> list[tuple[str, Fact]]:
        """Some facts of each kind, each asked in one of the ways that the wording has."""
        chosen = random.Random(self.seed + 1)
        asked: list[tuple[str, Fact]] = []
        for kind, ways in self.wording.asked.items():
            facts = [fact for fact in self.facts if fact.kind == kind]
            for way in ways:
                for fact in chosen.sample(facts, ASKED_EACH):
                    names = self.wording.said(fact.names)
                    asked.append((way.format(**names), fact))
        return asked
