"""`query.probe` and `query.hydrate`: what bridging asks the retriever, many searches at once."""

from pydantic import Field

from libs.contracts.api.search import RetrievedChunk, SearchFilters
from libs.contracts.base import Contract
from libs.contracts.query.analysis import QueryAnalysis
from libs.contracts.tokens import Namespace

MAX_MENTIONS = 64
MAX_REFS = 200
MAX_EQUAL = 7


class Mention(Contract):
    """A name to look for beside the words that are still open; `name` is its key
    (`libs.runtime.names.name_key`), `words` are tokens of the lexical channels."""

    name: str = Field(min_length=1, max_length=256)
    words: list[str] = Field(default_factory=list, max_length=64)


class ProbeQuery(Contract):
    """One hop: every mention is one search of the content channel, `limit` hits each.

    `question` is what hits are compared with, as `analysis` guides its classic search; it may
    take so many `milliseconds`.
    """

    namespace: Namespace
    question: str
    mentions: list[Mention] = Field(default_factory=list, max_length=MAX_MENTIONS)
    limit: int = Field(default=20, ge=1, le=100)
    filters: SearchFilters = Field(default_factory=SearchFilters)
    milliseconds: int | None = None
    analysis: QueryAnalysis | None = None


class ProbeHit(Contract):
    """A chunk that holds the mention. `base` is its classic score for the question and
    `channels` the parts of it, normalised to 0…1; `covered` the share of the mention's
    words that it holds; `titled` says that the mention is its title."""

    document_id: str
    revision: int
    chunk_id: str
    base: float
    channels: dict[str, float] = {}
    covered: float = 0.0
    titled: bool = False


class ProbeAnswer(Contract):
    """`found[i]` belongs to mention i, best first; `named` are chunks among the question's
    own candidates whose title stands in the question. All of one corpus version."""

    corpus_version: int
    found: list[list[ProbeHit]] = []
    named: list[ProbeHit] = []
    unfinished: list[str] = []


class ChunkRef(Contract):
    """A chunk of an active revision."""

    document_id: str
    chunk_id: str


class CitedRef(ChunkRef):
    """A chunk to cite, and others of equal content, which are named as its further places."""

    equal: list[ChunkRef] = Field(default_factory=list, max_length=MAX_EQUAL)


class HydrateQuery(Contract):
    """Read these chunks, in this order; what is not active or not allowed is left out."""

    namespace: Namespace
    refs: list[CitedRef] = Field(max_length=MAX_REFS)
    filters: SearchFilters = Field(default_factory=SearchFilters)
    milliseconds: int | None = None


class HydrateAnswer(Contract):
    """The chunks as far as time and one message's size allow."""

    corpus_version: int
    chunks: list[RetrievedChunk] = []
    unfinished: list[str] = []
