"""Runs the channels of one query over the index, within a scope and its time."""

from collections.abc import Awaitable, Iterable
from dataclasses import dataclass, field

from libs.contracts.artefacts.chunk import ChunkType
from libs.runtime.index.port import Hit, LexicalChannel, LexicalQuery, Scope, SearchIndex
from libs.runtime.inference.errors import ModelUnavailable
from libs.runtime.inference.port import Embedder
from libs.runtime.telemetry import logger
from services.retriever.deadline import Deadline, those_in_time
from services.retriever.scope import Corpus

Key = tuple[int, int]
log = logger("retriever")

CHANNELS: tuple[LexicalChannel, ...] = ("content", "path", "term")


@dataclass(frozen=True)
class Wider:
    """Tokens beside the query's own, and how much they count (0…1) against those."""

    tokens: tuple[str, ...]
    weight: float


@dataclass(frozen=True)
class Ask:
    """What the channels are asked: the text for the dense one, its words for the others, and
    single terms of which at most `named_limit` chunks each are wanted.

    `wider` adds to the content channel: BM25 is a sum over terms, so that further tokens are
    a search of their own whose scores are added, times their weight.
    """

    namespace: str
    text: str
    words: LexicalQuery
    types: frozenset[ChunkType] | None
    named: tuple[str, ...] = ()
    named_limit: int = 0
    wider: tuple[Wider, ...] = ()


@dataclass(frozen=True)
class Weighed:
    """The lexical channels that count beside a dense one that finds something, and those that
    count without; beside a dense one substrings are looked for of these terms alone."""

    with_dense: frozenset[LexicalChannel]
    without: frozenset[LexicalChannel]
    terms: tuple[str, ...] = ()


@dataclass
class Found:
    """Ranked lists of (revn, order) with the channel's own scores, each key's chunk id, what
    holds each named term, the channels that had no time, and whether the model was away."""

    lists: dict[str, list[tuple[Key, float]]] = field(default_factory=dict)
    chunk_ids: dict[Key, str] = field(default_factory=dict)
    named: dict[str, frozenset[Key]] = field(default_factory=dict)
    unfinished: list[str] = field(default_factory=list)
    model_away: bool = False

    def add(self, channel: str, hits: list[Hit]) -> None:
        """Remember a channel's hits."""
        self.lists[channel] = [((h.revn, h.order), h.score) for h in hits]
        self.chunk_ids.update({(h.revn, h.order): h.chunk_id for h in hits})

    def add_to(self, channel: str, hits: Iterable[Hit], weight: float) -> None:
        """Add the hits' scores, times `weight`, to those of a channel."""
        scores = dict(self.lists.get(channel, []))
        for hit in hits:
            key = (hit.revn, hit.order)
            scores[key] = scores.get(key, 0.0) + weight * hit.score
            self.chunk_ids[key] = hit.chunk_id
        self.lists[channel] = sorted(scores.items(), key=lambda one: (-one[1], one[0]))


async def search_channels(
    index: SearchIndex,
    embedder: Embedder | None,
    ask: Ask,
    corpus: Corpus,
    weighed: Weighed,
    depth: int,
    limit: Deadline,
) -> Found:
    """All channels that count at once; the dense one only over revisions whose vectors are
    complete, and where it finds nothing, after it those that count without it.

    Without its model the dense channel is empty and the lexical ones answer alone. What has
    not ended in time is left out.
    """
    found = Found()

    async def lexical(channel: LexicalChannel, words: LexicalQuery) -> None:
        scope = Scope(ask.namespace, corpus.revns, ask.types)
        found.add(channel, await index.search(channel, words, scope, depth))

    async def by_vector(model: Embedder) -> None:
        try:
            vector = await model.embed_query(ask.text)
        except ModelUnavailable as error:
            log.warning("dense channel off", reason=str(error))
            found.model_away = True
            return
        covered = Scope(ask.namespace, corpus.dense, ask.types)
        found.add("dense", await index.search_vectors(model.model, vector, covered, depth))

    further: list[tuple[Wider, list[Hit]]] = []

    async def by_further(wider: Wider) -> None:
        scope = Scope(ask.namespace, corpus.revns, ask.types)
        words = LexicalQuery(list(wider.tokens))
        further.append((wider, await index.search("content", words, scope, depth)))

    async def by_name(term: str) -> None:
        scope = Scope(ask.namespace, corpus.revns, ask.types)
        hits = await index.search("term", LexicalQuery([], [term]), scope, ask.named_limit)
        found.named[term] = frozenset((h.revn, h.order) for h in hits)
        found.chunk_ids.update({(h.revn, h.order): h.chunk_id for h in hits})

    def over(channels: Iterable[LexicalChannel], words: LexicalQuery) -> dict[str, Awaitable[None]]:
        return {channel: lexical(channel, words) for channel in sorted(channels)}

    dense = embedder is not None and bool(corpus.dense) and bool(weighed.with_dense)
    fewer = LexicalQuery(ask.words.tokens, list(weighed.terms))
    work = over(weighed.with_dense, fewer) if dense else over(weighed.without, ask.words)
    if dense and embedder is not None:
        work["dense"] = by_vector(embedder)
    work |= {f"named {number}": by_name(term) for number, term in enumerate(ask.named)}
    if "content" in work:
        work |= {f"wider {number}": by_further(one) for number, one in enumerate(ask.wider)}
    found.unfinished = await those_in_time(work, limit.search)
    for wider, hits in further:
        found.add_to("content", hits, wider.weight)
    alone = weighed.without - work.keys()
    if dense and "term" in weighed.without and fewer.terms != ask.words.terms:
        alone |= {"term"}
    if alone and not found.lists.get("dense"):
        found.unfinished += await those_in_time(over(alone, ask.words), limit.late)
    return found
