"""What is measured and what came of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from libs.contracts.api.search import Evidence, Turn

Mode = Literal["classic", "agentic"]


@dataclass(frozen=True)
class Passage:
    """A piece of a corpus that is judged as a whole."""

    passage_id: str
    title: str
    text: str


@dataclass(frozen=True)
class Case:
    """A question; `relevant` holds the grade of each place that answers it.

    `abstain` marks a question that the corpus does not answer; `sides` are the names that a
    comparison must have evidence for.
    """

    case_id: str
    query: str
    relevant: Mapping[str, int]
    language: str
    group: str
    abstain: bool = False
    sides: tuple[str, ...] = ()
    conversation: tuple[Turn, ...] = ()


@dataclass(frozen=True)
class EvalSet:
    """A corpus and the cases that are asked of it: passages, or files where there are any.

    With files passages are what the peers rank: the files' pages, where pages are judged.
    """

    name: str
    cases: Sequence[Case]
    passages: Sequence[Passage] = ()
    files: Sequence[Path] = ()

    @property
    def by_page(self) -> bool:
        """Whether pages of files are judged."""
        return bool(self.files and self.passages)


Locate = Callable[[Evidence], Sequence[str]]
"""The places in the terms of a set's judgements where a piece of evidence stands, if any."""


@dataclass(frozen=True)
class Answered:
    """One case through one mode: places found, best first and each once; milliseconds as the
    caller waited; tokens of the evidence text."""

    case: Case
    mode: Mode
    ranking: tuple[str, ...]
    status: str
    latency_ms: float
    tokens: int
    run_id: str
    covered: Mapping[str, bool] = field(default_factory=dict)
