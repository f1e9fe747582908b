"""`query.navigate`: from chunks that were found to the sections around them, and over the graph
to sections of related documents; breadth first, within bounds."""

from typing import Literal

from pydantic import Field

from libs.contracts.api.search import SearchFilters
from libs.contracts.base import Contract
from libs.contracts.query.analysis import QueryAnalysis
from libs.contracts.query.probe import ChunkRef, ProbeHit
from libs.contracts.tokens import Namespace

MAX_STARTS = 8


class NavigateQuery(Contract):
    """Where to begin, what is looked for, and how far.

    `words` are tokens of the lexical channels that the evidence still lacks. From the section
    of each of `starts`, best first, the `width` best of those beside and below it are opened,
    then of those around each of them, at most `depth` steps away and `sections` in all.
    `related` documents of the graph are looked into. `question` is what chunks are compared
    with, as `analysis` guides its classic search.
    """

    namespace: Namespace
    question: str
    words: list[str] = Field(default_factory=list, max_length=64)
    starts: list[ChunkRef] = Field(default_factory=list, max_length=MAX_STARTS)
    width: int = Field(default=3, ge=0, le=20)
    depth: int = Field(default=2, ge=0, le=8)
    sections: int = Field(default=6, ge=0, le=50)
    related: int = Field(default=3, ge=0, le=20)
    filters: SearchFilters = Field(default_factory=SearchFilters)
    milliseconds: int | None = None
    analysis: QueryAnalysis | None = None


class SectionFound(Contract):
    """A section that was reached: `start` is the index of what led to it, `steps` how far away
    it is (a related document is one step away). An `opened` one has its `hits`, chunks that hold
    some of the words; of another only title and summary were read."""

    document_id: str
    revision: int
    path: list[str]
    title: str
    summary: str = ""
    via: Literal["section", "graph"] = "section"
    start: int = 0
    steps: int = 1
    opened: bool = True
    hits: list[ProbeHit] = []


class NavigateAnswer(Contract):
    """The sections in the order in which they were reached, all of one corpus version."""

    corpus_version: int
    sections: list[SectionFound] = []
    unfinished: list[str] = []
