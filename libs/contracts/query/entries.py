"""Search of a collection's entries: `query.find` to the planner, `query.match` to the retriever."""

from typing import Literal

from pydantic import Field

from libs.contracts.api.documents import Accepted
from libs.contracts.base import Contract, Request, Typed
from libs.contracts.entries import EnrichStep, EntryWeights
from libs.contracts.query.text import QueryText
from libs.contracts.tokens import Collection, Namespace

MAX_ENTRIES = 50
Wording = Literal["query", "rules", "model"]


class EntrySearch(Typed):
    """The body of a search: `category` limits it, else rules of the collection may."""

    query: QueryText
    top_k: int = Field(default=5, ge=1, le=MAX_ENTRIES)
    category: str | None = Field(default=None, max_length=128)
    milliseconds: int = Field(default=5000, ge=100, le=60_000)


class FindQuery(Contract):
    """One search of a collection."""

    namespace: Namespace
    collection: Collection
    request: EntrySearch


class EntryHit(Contract):
    """An entry found: `score` is the fused one, with what popularity adds; `similarity` is the
    one users see, 0 to 1 on one scale for every embedder; `channels` are the score's parts;
    `image` is the path at which the gateway serves its picture, empty without one."""

    id: str
    name: str
    path: str = ""
    category: str = ""
    image: str = ""
    score: float
    similarity: float
    channels: dict[str, float] = {}


class Attempt(Contract):
    """One form of the query that was searched; `quality` is what the loop compares. `by` says
    who worded it, `hyde` whether an imagined entry was embedded in its place."""

    query: str
    quality: float
    entries: int
    by: Wording = "query"
    hyde: bool = False


class FoundEntries(Contract):
    """The best attempt's entries, best first, and all attempts in order. `category` is the one
    that limited the search; `dense` says whether meanings counted or only words."""

    entries: list[EntryHit] = []
    attempts: list[Attempt] = []
    category: str | None = None
    dense: bool = True
    corpus_version: int = 0


class MatchQuery(Contract):
    """One attempt. `text` is what the dense channel embeds, `original` what sample questions
    are compared with, `said` and `words` what the lexical channel looks for: all that was said,
    and the words of it that tell, synonyms included, which so count twice. `telling` are the
    query's own words, by which entries are judged without an embedder."""

    namespace: Namespace
    collection: Collection
    text: str
    original: str
    said: str = ""
    words: str
    telling: list[str] = Field(default_factory=list, max_length=64)
    category: str | None = None
    limit: int = Field(default=5, ge=1, le=MAX_ENTRIES)
    weights: EntryWeights = Field(default_factory=EntryWeights)
    milliseconds: int | None = None


class MatchAnswer(Contract):
    """`known` says whether the collection has published entries at all."""

    known: bool
    corpus_version: int
    entries: list[EntryHit] = []
    dense: bool = True
    unfinished: list[str] = []


class CostQuery(Contract):
    """What enriching would cost: of these entries, or of all."""

    namespace: Namespace
    collection: Collection
    ids: list[str] = Field(default_factory=list, max_length=100_000)
    steps: list[EnrichStep] = Field(default=["describe", "context"])


class StepCost(Contract):
    """What one step would cost at most. `model` is None where none is configured; then nothing
    is asked, and rules write what they can. Tokens of answers are their bound."""

    step: EnrichStep
    model: str | None
    calls: int
    cached: int
    tokens_in: int
    tokens_out: int


class CostAnswer(Contract):
    """The cost by step; `known` says whether the collection has published entries at all."""

    known: bool
    entries: int = 0
    steps: list[StepCost] = []


class EnrichRequest(Request):
    """What is to be enriched: these published entries or all, by these steps. With `dry_run`
    nothing is asked of a model: the answer is the cost."""

    ids: list[str] = Field(default_factory=list, max_length=100_000)
    steps: list[EnrichStep] = Field(default=["describe", "context"], min_length=1, max_length=2)
    dry_run: bool = True


class Enriched(Contract):
    """The cost, and the job where one was begun."""

    entries: int
    steps: list[StepCost]
    job: Accepted | None = None


class ReviewAccepted(Contract):
    """The two jobs of an edited review: one for the entries, one for their sample questions."""

    entries: Accepted
    questions: Accepted
