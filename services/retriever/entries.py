"""Search of a collection's entries: three channels, asked beside each other."""

import asyncio

from libs.contracts.entries import Entry, RecordKind, records_document
from libs.contracts.query.entries import EntryHit, MatchAnswer, MatchQuery
from libs.runtime.catalog.documents import ActiveRevision
from libs.runtime.index.port import LexicalQuery, Scope
from libs.runtime.index.tokenizer import tokenize
from libs.runtime.inference.errors import ModelUnavailable
from libs.runtime.inference.rerank import Reranker
from libs.runtime.telemetry import logger
from services.retriever.basis import Kept
from services.retriever.deadline import Deadline, deadline, those_in_time
from services.retriever.entry_ranking import Channels, Table, coverage, ranked, summed
from services.retriever.entry_reranking import READ, reranked
from services.retriever.hydrate import asset_href
from services.retriever.retrieve import Retriever
from services.retriever.scope import Corpus
from services.retriever.similarity import calibration_of

log = logger("retriever.entries")

DEPTH = 200
NARROW_DEPTH = 2_000
"""Hits taken when a category is to be left of them."""
QUESTIONS = 50
BESIDE_MEANING = 0.75
"""What it says of an entry that it holds all words of the query, beside an embedder that finds it
far away: enough to be kept, not to be good."""
MAX_ENTRIES = 100_000
TABLES = 16
TRIES = 2
RERANK_SHARE = 0.7
"""How much of the time that is left a reranker may take."""
UNHURRIED_SECONDS = 10.0


class EntryFinder:
    """Answers `query.match`, through the gate of the retriever; keeps the tables it read last."""

    def __init__(self, retriever: Retriever, reranker: Reranker | None = None) -> None:
        self._retriever = retriever
        self._reranker = reranker
        self._tables: Kept[int, Table] = Kept(TABLES)

    async def match(self, query: MatchQuery) -> MatchAnswer:
        """One attempt; what does not end in time is left out and named."""
        limit = deadline(query.milliseconds)
        retriever = self._retriever
        try:
            async with retriever.gate.enter(limit.end), asyncio.timeout_at(limit.end):
                for _ in range(TRIES):
                    corpus = await retriever.corpus(query.namespace)
                    answer = await self._match(query, corpus, limit)
                    version = await retriever.catalog.documents.corpus_version(query.namespace)
                    if version == corpus.version:
                        break
                return answer
        except TimeoutError:
            return MatchAnswer(known=True, corpus_version=0, unfinished=["scope"])

    async def _match(self, query: MatchQuery, corpus: Corpus, limit: Deadline) -> MatchAnswer:
        entries = _revision(corpus, "entries", query.collection)
        if entries is None:
            return MatchAnswer(known=False, corpus_version=corpus.version)
        table = await self._table(entries)
        channels = Channels()
        work = {}
        if query.weights.lexical > 0:
            work["lexical"] = self._lexical(query, entries, channels)
        if self._retriever.embedder is not None and entries.dense_model == corpus.model:
            work["dense"] = self._dense(query, entries, channels)
            questions = _revision(corpus, "questions", query.collection)
            asked = questions is not None and questions.dense_model == corpus.model
            if questions is not None and asked and query.weights.questions > 0:
                work["questions"] = self._questions(query, questions, table, channels)
        unfinished = await those_in_time(work, limit.search) if work else []
        share = BESIDE_MEANING if channels.dense else 1.0
        for place, _ in channels.lists.get("lexical", []):
            channels.saw(place, share * coverage(table.words(place), query.telling))
        reranker = self._reranker if query.weights.rerank else None
        hits = ranked(
            channels, table, query.weights, limit=max(query.limit, READ if reranker else 0),
            allowed=_of_category(table, query.category),
            tokens=tokenize(" ".join(query.telling)),
        )  # fmt: skip
        if reranker is not None:
            texts = {hit.id: " ".join(table.entries[table.by_id[hit.id]].texts()) for hit in hits}
            left = UNHURRIED_SECONDS
            if limit.end is not None:
                left = RERANK_SHARE * (limit.end - asyncio.get_running_loop().time())
            hits = await reranked(reranker, query.original, hits, texts, left)
        return MatchAnswer(
            known=True,
            corpus_version=corpus.version,
            entries=[_shown(hit, query.namespace, entries) for hit in hits[: query.limit]],
            dense=channels.dense,
            unfinished=unfinished,
        )

    async def _lexical(
        self, query: MatchQuery, revision: ActiveRevision, channels: Channels
    ) -> None:
        """The sum of two BM25: of all that was said, and of the words of it that tell. An engine
        counts a word once a query, and endings that are left off are lost to bigrams."""
        scope = Scope(query.namespace, frozenset({revision.revn}))
        search = self._retriever.index.search
        both = await asyncio.gather(
            *(
                search("content", LexicalQuery(tokenize(text)), scope, _depth(query))
                for text in filter(None, (query.said, query.words))
            )
        )
        channels.lists["lexical"] = summed([[(h.order, h.score) for h in hits] for hits in both])

    async def _dense(self, query: MatchQuery, revision: ActiveRevision, channels: Channels) -> None:
        found = await self._nearest(query.text, query.namespace, revision, _depth(query))
        if found is None:
            return
        model, hits = found
        scale = calibration_of(model).entries
        channels.dense = True
        if query.weights.dense > 0:
            channels.lists["dense"] = hits
        for place, cosine in hits:
            channels.saw(place, scale.similarity(cosine))

    async def _questions(
        self, query: MatchQuery, revision: ActiveRevision, table: Table, channels: Channels
    ) -> None:
        """Only sample questions at the floor or above count, each entry by its nearest."""
        asked = await self._table(revision)
        found = await self._nearest(query.original, query.namespace, revision, QUESTIONS)
        if found is None:
            return
        model, hits = found
        scale = calibration_of(model).questions
        best: dict[int, float] = {}
        for place, cosine in hits:
            similarity = scale.similarity(cosine)
            entry = table.by_id.get(asked.entries[place].id)
            if entry is not None and similarity >= query.weights.question_floor:
                best.setdefault(entry, similarity)
        channels.lists["questions"] = list(best.items())
        for place, similarity in best.items():
            channels.saw(place, similarity)

    async def _nearest(
        self, text: str, namespace: str, revision: ActiveRevision, depth: int
    ) -> tuple[str, list[tuple[int, float]]] | None:
        embedder = self._retriever.embedder
        if embedder is None:
            return None
        try:
            vector = await embedder.embed_query(text)
        except ModelUnavailable as error:
            log.warning("dense channel off", reason=str(error))
            return None
        scope = Scope(namespace, frozenset({revision.revn}))
        hits = await self._retriever.index.search_vectors(embedder.model, vector, scope, depth)
        return embedder.model, [(hit.order, hit.score) for hit in hits]

    async def _table(self, revision: ActiveRevision) -> Table:
        known = self._tables.get(revision.revn)
        if known is None:
            whole = await self._retriever.catalog.chunks.whole([revision.revn], MAX_ENTRIES)
            unknown = Entry(id="", name="")
            known = Table([chunk.metadata.entry or unknown for _, chunk in whole])
            self._tables.put(revision.revn, known)
        return known


def _shown(hit: EntryHit, namespace: str, revision: ActiveRevision) -> EntryHit:
    """The hit, its picture at the address where it is served."""
    if not hit.image:
        return hit
    return hit.model_copy(update={"image": asset_href(namespace, revision, hit.image)})


def _depth(query: MatchQuery) -> int:
    return DEPTH if query.category is None else NARROW_DEPTH


def _of_category(table: Table, category: str | None) -> set[int] | None:
    if category is None:
        return None
    wanted = category.casefold()
    return {n for n, e in enumerate(table.entries) if e.category.casefold() == wanted}


def _revision(corpus: Corpus, kind: RecordKind, collection: str) -> ActiveRevision | None:
    wanted = (records_document(kind, collection), collection)
    return next((r for r in corpus.records if (r.document_id, r.collection) == wanted), None)
