"""Bridging's side of the retriever: many searches of one hop at once, and chosen chunks.

A hit is compared with the question (its classic score, its dense one) and with the name
that was looked for; what chunks hold is read once and kept, since a revision never changes.
"""

import asyncio
from dataclasses import dataclass
from functools import cached_property

from libs.contracts.artefacts import Chunk
from libs.contracts.query.probe import (
    HydrateAnswer,
    HydrateQuery,
    Mention,
    ProbeAnswer,
    ProbeHit,
    ProbeQuery,
)
from libs.runtime.index.port import LexicalQuery, Scope
from libs.runtime.index.tokenizer import tokenize
from libs.runtime.names import contains, name_key, names, title_key
from services.retriever.assemble import MAX_BYTES, size_of
from services.retriever.basis import Kept
from services.retriever.channels import Key
from services.retriever.deadline import Deadline, deadline, those_in_time
from services.retriever.fusion import Fused
from services.retriever.guidance import Guidance, attempts, narrowed
from services.retriever.hydrate import embedded_assets, other_place, retrieved, targets_of
from services.retriever.retrieve import Retriever
from services.retriever.scope import Corpus, is_allowed

READINGS = 4096
SAME_TITLE = 3
"""A title that more candidates stand under than this names a kind of section, or one so large
that being in it tells nothing."""


@dataclass(frozen=True)
class Reading:
    """What a chunk holds, as names and words are compared."""

    chunk: Chunk
    file_name: str

    @property
    def _text(self) -> str:
        return " ".join([*self.chunk.path, self.chunk.content])

    @cached_property
    def key(self) -> str:
        """Its words."""
        return name_key(self._text)

    @cached_property
    def tokens(self) -> frozenset[str]:
        """Its lexical tokens."""
        return frozenset(tokenize(self._text))

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """The keys of its headings from the outermost, without any of its file's name without
        the ending."""
        return tuple(map(title_key, self.chunk.path or [self.file_name.rsplit(".", 1)[0]]))

    @property
    def title(self) -> str:
        """The innermost of them."""
        return self.titles[-1]


class Prober:
    """Answers `query.probe` and `query.hydrate`, through the gate of the retriever."""

    def __init__(self, retriever: Retriever) -> None:
        self.retriever = retriever
        self._readings: Kept[Key, Reading] = Kept(READINGS)

    async def probe(self, query: ProbeQuery) -> ProbeAnswer:
        """All mentions' hits; when time ends first, empty, with `probe` as unfinished."""
        limit = deadline(query.milliseconds)
        try:
            async with self.retriever.gate.enter(limit.end), asyncio.timeout_at(limit.end):
                whole = await self.retriever.corpus(query.namespace)
                own = self.retriever.analyse(query.question).tokens
                guidance = attempts(query.analysis, own=own)[0]
                corpus = narrowed(whole.within(query.filters), guidance.filters)
                if not corpus.revisions:
                    return ProbeAnswer(corpus_version=whole.version)
                return await self._probe(query, corpus, guidance, limit)
        except TimeoutError:
            return ProbeAnswer(corpus_version=0, unfinished=["probe"])

    async def hydrate(self, query: HydrateQuery) -> HydrateAnswer:
        """The chunks; when time or size ends first, those that were read."""
        limit = deadline(query.milliseconds)
        try:
            async with self.retriever.gate.enter(limit.end), asyncio.timeout_at(limit.end):
                corpus = await self.retriever.corpus(query.namespace)
                return await self._hydrate(query, corpus.within(query.filters), corpus.version)
        except TimeoutError:
            return HydrateAnswer(corpus_version=0, unfinished=["assembly"])

    async def _probe(
        self, query: ProbeQuery, corpus: Corpus, guidance: Guidance, limit: Deadline
    ) -> ProbeAnswer:
        retriever = self.retriever
        ask = retriever.ask(query.namespace, query.question, query.filters, guidance)
        depth = retriever.settings.retriever_depth
        basis = await retriever.bases.find(ask, corpus, depth, limit)
        scores = retriever.scores(basis, corpus, guidance)
        found: dict[int, list[Key]] = {}
        chunk_ids = dict(basis.found.chunk_ids)
        scope = Scope(query.namespace, corpus.revns, ask.types)

        async def search(place: int, mention: Mention) -> None:
            words = LexicalQuery([*tokenize(mention.name), *mention.words])
            hits = await retriever.index.search("content", words, scope, query.limit)
            found[place] = [(h.revn, h.order) for h in hits]
            chunk_ids.update({(h.revn, h.order): h.chunk_id for h in hits})

        work = {str(i): search(i, mention) for i, mention in enumerate(query.mentions)}
        late = await those_in_time(work, limit.search) if work else []
        readings = await self.read(
            {*scores, *(key for keys in found.values() for key in keys)}, corpus
        )
        readings = {
            key: reading
            for key, reading in readings.items()
            if is_allowed(corpus.by_revn[key[0]].document_id, reading.chunk, query.filters)
        }

        def hit(key: Key, *, words: list[str], titled: bool) -> ProbeHit:
            revision, fused = corpus.by_revn[key[0]], scores.get(key)
            held = sum(word in readings[key].tokens for word in words) if words else 0
            return ProbeHit(
                document_id=revision.document_id,
                revision=revision.revision,
                chunk_id=chunk_ids[key],
                base=fused.score if fused else 0.0,
                channels={"dense": basis.dense.get(key, 0.0)},
                covered=held / len(words) if words else 0.0,
                titled=titled,
            )

        answered: list[list[ProbeHit]] = []
        for place, mention in enumerate(query.mentions):
            words = list(dict.fromkeys(mention.words))
            answered.append(
                [
                    hit(key, words=words, titled=readings[key].title == mention.name)
                    for key in found.get(place, [])
                    if key in readings and contains(readings[key].key, mention.name)
                ]
            )
        named = [
            hit(key, words=[], titled=True) for key in named_by(query.question, scores, readings)
        ]
        unfinished = [*basis.found.unfinished, *(["probe"] if late else [])]
        return ProbeAnswer(
            corpus_version=corpus.version, found=answered, named=named, unfinished=unfinished
        )

    async def read(self, keys: set[Key], corpus: Corpus) -> dict[Key, Reading]:
        """What these chunks hold; those that are gone are left out."""
        known = {key: reading for key in keys if (reading := self._readings.get(key))}
        missing = sorted(key for key in keys if key not in known)
        fetched = await self.retriever.catalog.chunks.fetch(missing)
        for key, chunk in fetched.items():
            known[key] = Reading(chunk, corpus.by_revn[key[0]].file_name)
            self._readings.put(key, known[key])
        return known

    async def _hydrate(self, query: HydrateQuery, corpus: Corpus, version: int) -> HydrateAnswer:
        store = self.retriever.catalog.chunks
        revns = {r.document_id: r.revn for r in corpus.revisions}
        groups = [
            [
                (revns[place.document_id], place.chunk_id)
                for place in (ref, *ref.equal)
                if place.document_id in revns
            ]
            for ref in query.refs
        ]
        chunks = await store.named(sorted({key for keys in groups for key in keys}))
        kept = [
            [
                (corpus.by_revn[key[0]], chunks[key])
                for key in keys
                if key in chunks
                and is_allowed(corpus.by_revn[key[0]].document_id, chunks[key], query.filters)
            ]
            for keys in groups
        ]
        cited_first = [places for places in kept if places]
        targets = await targets_of(store, (places[0] for places in cited_first))
        answer = HydrateAnswer(corpus_version=version)
        size = 0
        for (revision, chunk), *others in cited_first:
            embeds = embedded_assets(query.namespace, revision, chunk, targets)
            also_in = [other_place(*other) for other in others]
            cited = retrieved(query.namespace, revision, chunk, Fused(0.0, {}), embeds, also_in)
            size += size_of(cited)
            if answer.chunks and size > MAX_BYTES:
                answer.unfinished.append("size")
                break
            answer.chunks.append(cited)
        return answer


def named_by(
    question: str, candidates: dict[Key, Fused], readings: dict[Key, Reading]
) -> list[Key]:
    """Candidates under a title that stands in the question, best first: a title of one word
    only where the question writes it as a name. What stands deeper below it counts as what
    stands there directly: a section's first words tell no more of it than its tables do."""
    words, said = name_key(question), set(names(question, 64))
    by_title: dict[str, list[Key]] = {}
    for key in sorted(candidates, key=lambda key: (-candidates[key].score, key)):
        for title in dict.fromkeys(readings[key].titles if key in readings else ()):
            if title and contains(words, title) and (" " in title or title in said):
                by_title.setdefault(title, []).append(key)
    few = (key for keys in by_title.values() if len(keys) <= SAME_TITLE for key in keys)
    return list(dict.fromkeys(few))
