"""What an annual report says, in English and Korean: all invented."""

from dataclasses import dataclass, field

YEARS = range(2019, 2024)


@dataclass(frozen=True)
class Segment:
    """A business of the company."""

    name: str
    about: str


@dataclass(frozen=True)
class Statement:
    """A financial statement and its lines."""

    title: str
    lines: list[str]


@dataclass(frozen=True)
class Note:
    """A note: what is said of it, and the lines and columns of its table."""

    title: str
    policy: str
    lines: list[str]
    columns: list[str]


@dataclass(frozen=True)
class Wording:
    """One language. `asked` holds, by kind of fact, the ways to ask for one; `other_words` what
    people say in place of a line's name; `unanswerable` what the report does not hold."""

    language: str
    font: str
    ruled: bool
    running: str
    title: str
    letter: list[str]
    unit: str
    item: str
    fiscal: str
    review_title: str
    segments: list[Segment]
    segment_year: str
    segment_caption: str
    segment_lines: list[str]
    remarks: list[str]
    statements: list[Statement]
    statement_year: str
    statement_lead: str
    notes_title: str
    notes: list[Note]
    note_caption: str
    note_remarks: list[str]
    asked: dict[str, list[str]]
    unanswerable: list[str]
    other_words: dict[str, str] = field(default_factory=dict)

    def said(self, names: dict[str, str]) -> dict[str, str]:
        """The names of a fact as people say them: `loosely` is the line in other words."""
        line = names["line"]
        return {**names, "line": line, "loosely": self.other_words.get(line, line)}
