"""What an engine gives and what a set asks for: the words that all metrics share."""

from dataclasses import dataclass, field
from pathlib import Path

from libs.contracts.artefacts.rows import TableCell


@dataclass(frozen=True)
class FoundTable:
    """A table with the pages it stands on (from 1, empty where the format has none)."""

    pages: frozenset[int]
    cells: tuple[TableCell, ...]
    html: str


@dataclass(frozen=True)
class FoundHeading:
    """A heading; level 1 is the highest, `page` counts from 1."""

    text: str
    level: int
    page: int | None = None


@dataclass(frozen=True)
class Parsed:
    """One file as an engine reads it.

    `markdown` holds everything that the engine lets out, furniture included; `plain` is text
    that Markdown has no place for (metadata, notes), for the sets that look for strings.
    `seconds` is wall time of the call. `problem` is the fault's sentence where the engine
    gave up; everything else is empty then.
    """

    markdown: str = ""
    plain: str = ""
    tables: tuple[FoundTable, ...] = ()
    headings: tuple[FoundHeading, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
    pages: int = 0
    seconds: float = 0.0
    problem: str | None = None


@dataclass(frozen=True)
class Strings:
    """Strings that must, and must not, come out. `present_markup` are those written as HTML."""

    present: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    present_markup: tuple[str, ...] = ()


@dataclass(frozen=True)
class Truth:
    """What is known about a file; each set fills what it has."""

    markdown: str | None = None
    tables: tuple[FoundTable, ...] | None = None
    ruled: tuple[bool, ...] = ()
    strings: Strings | None = None
    outline: tuple[FoundHeading, ...] | None = None


@dataclass(frozen=True)
class Case:
    """A file to parse, and its truth. `name` is its path inside the set."""

    set_name: str
    name: str
    path: Path
    truth: Truth


@dataclass
class Score:
    """The figures of one file.

    `metrics` are means over files later, `counts` are summed; `notes` say what went wrong.
    """

    set_name: str
    name: str
    metrics: dict[str, float] = field(default_factory=dict)
    counts: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
