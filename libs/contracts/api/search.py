"""`POST /search`: the request, and the evidence envelope that both modes return."""

from typing import Annotated, Any, Literal

from pydantic import Field

from libs.contracts.artefacts.chunk import ChunkType
from libs.contracts.artefacts.rows import Box
from libs.contracts.base import Contract, Request, Typed
from libs.contracts.query.analysis import QueryAnalysis
from libs.contracts.query.stages import Stage
from libs.contracts.query.text import MAX_QUERY_CHARS, QueryText
from libs.contracts.tokens import Collection, DocumentId, Namespace, Revision, RunId

Bounded = Annotated[int, Field(ge=-(2**53), le=2**53)]


class ExcludedSection(Typed):
    """A section, and all below it, that must not be in the evidence."""

    document_id: DocumentId
    section_path: list[str] = Field(min_length=1, max_length=32)


class SearchFilters(Typed):
    """What the evidence must satisfy; an empty field does not filter."""

    document_ids: list[DocumentId] = Field(default_factory=list, max_length=1000)
    exclude_document_ids: list[DocumentId] = Field(default_factory=list, max_length=1000)
    exclude_sections: list[ExcludedSection] = Field(default_factory=list, max_length=200)
    collections: list[Collection] = Field(default_factory=list, max_length=100)
    metadata: dict[str, str | Bounded | list[str]] = Field(default_factory=dict, max_length=16)
    chunk_types: list[ChunkType] = Field(default_factory=list, max_length=3)
    file_formats: list[str] = Field(default_factory=list, max_length=32)
    year: int | None = Field(default=None, ge=0, le=9999)


class Budget(Typed):
    """What one query may spend: model tokens with rendered evidence, and wall time."""

    tokens: int = Field(default=4000, ge=1, le=200_000)
    milliseconds: int = Field(default=5000, ge=1, le=60_000)


class Turn(Typed):
    """An earlier turn of the conversation."""

    role: Literal["user", "assistant"]
    text: str = Field(max_length=MAX_QUERY_CHARS)
    document_ids: list[DocumentId] = Field(default_factory=list, max_length=100)


class SearchRequest(Typed):
    """A query. Control characters are refused; `continue` takes the id of an earlier run."""

    query: QueryText
    mode: Literal["classic", "agentic"] = "classic"
    top_k: int = Field(default=10, ge=1, le=100)
    filters: SearchFilters = Field(default_factory=SearchFilters)
    budget: Budget = Field(default_factory=Budget)
    conversation: list[Turn] = Field(default_factory=list, max_length=50)
    continue_: RunId | None = Field(default=None, alias="continue")
    explain: bool = False


class Asset(Contract):
    """An image or table embedded in a piece of evidence; `position` is its offset there."""

    chunk_id: str
    type: Literal["image", "table"]
    href: str | None = None
    media_type: str | None = None
    html: str | None = None
    position: int = 0


class OtherPlace(Contract):
    """Another place that holds the same chunk."""

    document_id: str
    revision: int
    source_file_name: str
    section_path: list[str]


class Evidence(Contract):
    """A cited piece: everything that is needed to find and verify the quotation later."""

    document_id: str
    revision: int
    chunk_id: str
    type: ChunkType
    content: str
    source_file_name: str
    section_path: list[str]
    page_numbers: list[int] = []
    boxes: list[Box] = []
    content_hash: str
    also_in: list[OtherPlace] = []
    assets: list[Asset] = []
    score: float
    agent_score: float | None = None
    discovery_score: float | None = None
    explain: dict[str, Any] | None = None


class OutlineItem(Contract):
    """A section that was not opened: title and summary only."""

    document_id: str
    section_path: list[str]
    title: str
    summary: str


class Receipt(Contract):
    """What the budget was, what went where, and why it stopped."""

    limit: dict[str, int] = {}
    spent: dict[str, int] = {}
    steps: list[dict[str, Any]] = []
    stop_reason: str = "complete"


class SearchResponse(Contract):
    """The evidence envelope. `answer_text` is deprecated and always empty."""

    schema_version: Literal[1] = 1
    status: Literal["ok", "partial", "clarification_required", "abstained"] = "ok"
    status_reason: str = ""
    query_type: Literal["single_doc", "comparison", "follow_up", "abstention"] = "single_doc"
    claim_count: int = 0
    clarification: str | None = None
    relaxed_filters: list[str] = []
    evidence_text: str = ""
    answer_text: str = ""
    run_id: str
    trace_id: str | None = None
    corpus_version: int
    cached: bool = False
    evidence: list[Evidence] = []
    outline: list[OutlineItem] = []
    budget: Receipt = Field(default_factory=Receipt)


class PlanQuery(Contract):
    """The request on `query.plan`: who asks what, where."""

    namespace: Namespace
    key_id: str
    request: SearchRequest
    links_base: str = ""


class RetrieveQuery(Contract):
    """The request on `query.retrieve`: one retrieval step.

    It may take so many `milliseconds` from its arrival; what was found by then is the answer.
    `analysis` acts on what is found and how it is ranked; `strict` requires its must terms and
    phrases too. A corpus of at most `whole` chunks, by default `top_k`, is returned whole: who
    looks further than to what is wanted says what is wanted.
    """

    namespace: Namespace
    query: str
    top_k: int
    filters: SearchFilters = Field(default_factory=SearchFilters)
    channels: dict[str, float] | None = None
    explain: bool = False
    milliseconds: int | None = None
    analysis: QueryAnalysis | None = None
    strict: bool = False
    whole: int | None = None


class RetrievedChunk(Contract):
    """A hydrated hit, best first in its list, with the channel ranks that explain it.

    `similarity` is that to the query, 0…1 on the calibrated scale of the embedder; None where
    the dense channel did not find the chunk, or the embedder has no calibration.
    """

    document_id: str
    revision: int
    file_name: str
    chunk_id: str
    type: ChunkType
    content: str
    path: list[str]
    order: int
    page_numbers: list[int]
    boxes: list[Box]
    content_hash: str
    html: str | None = None
    file_path: str | None = None
    media_type: str | None = None
    embeds: list[Asset] = []
    also_in: list[OtherPlace] = []
    score: float
    channels: dict[str, float] = {}
    similarity: float | None = None
    summary: str = ""


class RetrieveAnswer(Contract):
    """The reply: the corpus version that it holds for, and which path answered.

    `unfinished` names what the time or size ended before: channels, `scope`, `assembly`,
    `size`. `notes` says what of a very long query was left out. `relaxed_filters` names
    what the analysis asked for and was given up, since it left nothing: `stage` is the attempt
    that answered, `tried_ms` how long each stage before it took, in milliseconds. `searched` is
    how many pieces the filters left to search, 0 where that is not known.
    """

    corpus_version: int
    strategy: Literal["small_corpus", "fusion", "empty", "nothing_published"]
    chunks: list[RetrievedChunk]
    timings_ms: dict[str, float] = {}
    unfinished: list[str] = []
    notes: list[str] = []
    relaxed_filters: list[str] = []
    stage: Stage = "strict"
    tried_ms: dict[Stage, float] = {}
    searched: int = 0


class VerifyRequest(Request):
    """Does this citation still say this?"""

    document_id: DocumentId
    revision: Revision
    chunk_id: str = Field(max_length=128)
    content_hash: str = Field(max_length=80)
    quote: str | None = Field(default=None, max_length=20_000)


class VerifyAnswer(Contract):
    """`superseded` names the active revision; `mismatch` says what differs in `detail`."""

    status: Literal["verified", "superseded", "erased", "mismatch"]
    detail: str = ""
    active_revision: int | None = None
