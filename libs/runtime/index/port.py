"""The search index port: lexical channels and vectors of chunks, by revision.

Tokens are made by us (`libs/runtime/index/tokenizer.py`) and are the same for every
engine. A document's revision is known here by `revn`, an integer that the catalog gave.
"""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from libs.contracts.artefacts.chunk import ChunkType

LexicalChannel = Literal["content", "path", "term"]
MAX_QUERY_TOKENS = 64
MAX_QUERY_TERMS = 16
"""Of a query with more different tokens or terms an index MUST bound its work to the so many
rarest, so that no text makes one query cost what a hundred do."""
Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class IndexDocument:
    """One chunk as the index sees it.

    `content_tokens` are of title, headings, content and summary, `path_tokens` of file
    name and section path, `term_text` the raw path and content in which substrings are
    looked for. `order` is the chunk's order in its revision.
    """

    chunk_id: str
    order: int
    type: ChunkType
    content_tokens: list[str]
    path_tokens: list[str]
    term_text: str


@dataclass(frozen=True)
class Scope:
    """What a search may return: revisions (never empty in a query), and chunk types if given."""

    namespace: str
    revns: frozenset[int]
    chunk_types: frozenset[ChunkType] | None = None


class Hit(NamedTuple):
    """A chunk found: `score` is the channel's own (BM25, count of substrings, cosine)."""

    revn: int
    order: int
    chunk_id: str
    score: float


@dataclass(frozen=True)
class Digest:
    """Parity proof of one revision: how many chunks, and `digest_ids` over their ids."""

    count: int
    digest: str


EMPTY_DIGEST = Digest(0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")


@dataclass(frozen=True)
class LexicalQuery:
    """A query for the lexical channels: `tokens` for content and path, `terms` (raw,
    case-folded strings of two characters or more) for the substring channel."""

    tokens: list[str]
    terms: list[str] = field(default_factory=list)


class SearchIndex(Protocol):
    """Written by one service, read by many.

    A write MUST be all or nothing for its revision, idempotent, and visible to every
    `search` and `digest` that starts after it returned, in any process. What a revision
    holds MUST NOT be found unless its `revn` is in the scope. No client text may ever
    reach a query parser. A store that is away MUST raise `WorldFault(STORE_AWAY)`.
    """

    async def write(
        self,
        namespace: str,
        revn: int,
        documents: list[IndexDocument],
        *,
        unseen: bool = False,
    ) -> Digest:
        """Make the revision's lexical documents exactly these; returns what `digest` says then,
        read back from the engine.

        With `unseen` nothing has the revision in scope: what it held before MAY be there
        beside these for a moment.
        """
        ...

    async def append(self, namespace: str, revn: int, documents: list[IndexDocument]) -> None:
        """Add documents of further orders to what the last `write` of the revision began.

        For revisions that are written piece by piece while nothing has them in scope, so
        that other revisions' writes come in between. Each call is a write of its own: whole
        or not at all, seen when it has returned.
        """
        ...

    async def digest(self, namespace: str, revn: int) -> Digest:
        """What the lexical channels hold for the revision; `EMPTY_DIGEST` when nothing."""
        ...

    async def revisions(self, namespace: str) -> set[int]:
        """Revisions of which any channel holds something, for who compares stores. MAY take
        time in proportion to what the namespace holds."""
        ...

    async def search(
        self, channel: LexicalChannel, query: LexicalQuery, scope: Scope, limit: int
    ) -> list[Hit]:
        """At most `limit` hits within the scope, best first, ties by (revn, order).

        MUST return `limit` hits whenever that many in scope match, however many out of
        scope rank above them.
        """
        ...

    async def write_vectors(
        self, namespace: str, revn: int, model: str, chunk_ids: list[str], vectors: Vectors
    ) -> None:
        """Make the revision's vectors of `model` exactly these: `vectors` is (n, dim) of
        unit length, row i for the chunk of order i; `chunk_ids` in the same order."""
        ...

    async def vector_digest(self, namespace: str, revn: int, model: str) -> Digest:
        """What the dense channel holds for the revision."""
        ...

    async def search_vectors(
        self, model: str, vector: Vectors, scope: Scope, limit: int
    ) -> list[Hit]:
        """The `limit` nearest chunks in scope by cosine; `vector` is (dim,) of unit length."""
        ...

    async def remove(self, namespace: str, revns: list[int]) -> int:
        """Remove revisions from all channels; returns how many lexical documents went."""
        ...

    async def purge(self) -> None:
        """Return when all that was removed before has left the engine's own files too.

        MUST change nothing that is found and MUST be safe beside writes and searches. It MAY
        take time in proportion to what shares files with the removed, so it is for the second
        sweep of an erasure, never for a request. An engine that cannot be told (a managed
        one) MUST at least make the removal durable before it returns.
        """
        ...

    async def close(self) -> None:
        """Release handles; pending writes MUST have been finished by their callers."""
        ...
