"""Navigation's side of the retriever: sections around what was found, and those of documents
that the graph joins to it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from libs.contracts.artefacts.nav import NavSection
from libs.contracts.faults import WorldFault
from libs.contracts.query.navigate import NavigateAnswer, NavigateQuery, SectionFound
from libs.contracts.query.probe import ProbeHit
from libs.runtime.graph.port import GraphStore
from libs.runtime.index.port import LexicalQuery, Scope
from libs.runtime.index.tokenizer import tokenize
from services.retriever.basis import Basis, Kept
from services.retriever.channels import Key
from services.retriever.deadline import deadline
from services.retriever.fusion import Fused
from services.retriever.guidance import attempts, narrowed
from services.retriever.probe import Prober, Reading
from services.retriever.retrieve import Retriever
from services.retriever.scope import Corpus, is_allowed
from services.retriever.tree import Reached, Tree, Worth

TREES = 64
GRAPH_SECONDS = 1.0
"""What related documents may take: the sections that were found do not wait for a graph longer."""
OPENED_CHUNKS = 8
"""Chunks of one section that are read."""
RELATED_CHUNKS = 3
"""Chunks of one related document that are looked at."""


@dataclass(frozen=True)
class _Ground:
    """What one query stands on."""

    query: NavigateQuery
    corpus: Corpus
    basis: Basis
    scores: dict[Key, Fused]
    words: frozenset[str]


class Navigator:
    """Answers `query.navigate`, through the gate of the retriever; `prober` reads the chunks."""

    def __init__(self, retriever: Retriever, graph: GraphStore) -> None:
        self.prober = Prober(retriever)
        self._retriever = retriever
        self._graph = graph
        self._trees: Kept[int, Tree] = Kept(TREES)

    async def navigate(self, query: NavigateQuery) -> NavigateAnswer:
        """The sections; when time ends first, none, with `navigate` as unfinished."""
        limit = deadline(query.milliseconds)
        retriever = self._retriever
        try:
            async with retriever.gate.enter(limit.end), asyncio.timeout_at(limit.end):
                own = retriever.analyse(query.question).tokens
                guidance = attempts(query.analysis, own=own)[0]
                whole = await retriever.corpus(query.namespace)
                corpus = narrowed(whole.within(query.filters), guidance.filters)
                answer = NavigateAnswer(corpus_version=whole.version)
                if not corpus.revisions or not query.words:
                    return answer
                ask = retriever.ask(query.namespace, query.question, query.filters, guidance)
                depth = retriever.settings.retriever_depth
                basis = await retriever.bases.find(ask, corpus, depth, limit)
                scores = retriever.scores(basis, corpus, guidance)
                ground = _Ground(query, corpus, basis, scores, frozenset(query.words))
                answer.sections.extend(await self._beside(ground))
                try:
                    async with asyncio.timeout(GRAPH_SECONDS):
                        answer.sections.extend(await self._related(ground))
                except (WorldFault, TimeoutError):
                    answer.unfinished.append("graph")
                return answer
        except TimeoutError:
            return NavigateAnswer(corpus_version=0, unfinished=["navigate"])

    async def _beside(self, ground: _Ground) -> list[SectionFound]:
        """The sections around the starts; none is reached twice."""
        query, found, left = ground.query, [], ground.query.sections
        revns = {r.document_id: r.revn for r in ground.corpus.revisions}
        seen: set[tuple[int, str]] = set()
        for number, start in enumerate(query.starts):
            revn = revns.get(start.document_id)
            tree = await self._tree(revn) if revn is not None and left > 0 else None
            at = tree.holding.get(start.chunk_id) if tree else None
            if revn is None or tree is None or at is None:
                continue
            seen.add((revn, at.section_id))
            reached = tree.walk(
                at, _worth(ground.words), width=query.width, depth=query.depth, most=left
            )
            for one in reached:
                if (revn, one.section.section_id) in seen:
                    continue
                seen.add((revn, one.section.section_id))
                left -= one.opened
                found.append(await self._section(ground, revn, one, number))
        return found

    async def _section(
        self, ground: _Ground, revn: int, reached: Reached, start: int
    ) -> SectionFound:
        section = reached.section
        hits: list[ProbeHit] = []
        if reached.opened and section.chunk_ids:
            keys = [(revn, name) for name in section.chunk_ids[:OPENED_CHUNKS]]
            chunks = await self._retriever.catalog.chunks.named(keys)
            name = ground.corpus.by_revn[revn].file_name
            hits = self._hits(
                ground, [(revn, Reading(chunks[key], name)) for key in keys if key in chunks]
            )
        revision = ground.corpus.by_revn[revn]
        return SectionFound(
            document_id=revision.document_id,
            revision=revision.revision,
            path=section.path,
            title=section.title or revision.file_name,
            summary=section.summary,
            start=start,
            steps=reached.steps,
            opened=reached.opened,
            hits=hits,
        )

    async def _related(self, ground: _Ground) -> list[SectionFound]:
        """Of the documents that the graph joins to those of the starts, best joined first, the
        chunks that answer the question and the words best, each under its section."""
        query = ground.query
        revns = {r.document_id: r.revn for r in ground.corpus.revisions}
        begun = list(dict.fromkeys(revns[s.document_id] for s in query.starts
                                   if s.document_id in revns))  # fmt: skip
        joined: dict[int, tuple[float, int]] = {}
        for number, revn in enumerate(begun if query.related else []):
            for other in await self._graph.neighbours(query.namespace, revn, query.related):
                if other.revn in ground.corpus.by_revn and other.revn not in begun:
                    joined.setdefault(other.revn, (other.score, number))
        best = sorted(joined, key=lambda revn: (-joined[revn][0], revn))[: query.related]
        found: list[SectionFound] = []
        words = LexicalQuery([*dict.fromkeys([*query.words, *tokenize(query.question)])])
        for revn in best:
            scope = Scope(query.namespace, frozenset({revn}), None)
            hits = await self._retriever.index.search("content", words, scope, RELATED_CHUNKS)
            read = await self.prober.read({(h.revn, h.order) for h in hits}, ground.corpus)
            revision = ground.corpus.by_revn[revn]
            for hit in hits:
                reading = read.get((hit.revn, hit.order))
                held = self._hits(ground, [(revn, reading)]) if reading else []
                if reading is None or not held:
                    continue
                path = reading.chunk.path
                found.append(
                    SectionFound(
                        document_id=revision.document_id,
                        revision=revision.revision,
                        path=path,
                        title=path[-1] if path else revision.file_name,
                        summary=reading.chunk.metadata.summary,
                        via="graph",
                        start=joined[revn][1],
                        hits=held,
                    )
                )
        return found

    def _hits(self, ground: _Ground, readings: Sequence[tuple[int, Reading]]) -> list[ProbeHit]:
        """The chunks that hold some of the words and that the filters allow."""
        hits = []
        for revn, reading in readings:
            revision, key = ground.corpus.by_revn[revn], (revn, reading.chunk.order)
            covered = len(ground.words & reading.tokens) / len(ground.words)
            allowed = is_allowed(revision.document_id, reading.chunk, ground.query.filters)
            if not covered or not allowed:
                continue
            fused = ground.scores.get(key)
            hits.append(
                ProbeHit(
                    document_id=revision.document_id,
                    revision=revision.revision,
                    chunk_id=reading.chunk.chunk_id,
                    base=fused.score if fused else 0.0,
                    channels={"dense": ground.basis.dense.get(key, 0.0)},
                    covered=covered,
                )
            )
        return hits

    async def _tree(self, revn: int) -> Tree | None:
        known = self._trees.get(revn)
        if known is None:
            root = await self._retriever.catalog.chunks.sections(revn)
            if root is None:
                return None
            known = Tree(root)
            self._trees.put(revn, known)
        return known


def _worth(words: frozenset[str]) -> Worth:
    """How many of the words a section's title and summary hold, as a share."""

    def worth(section: NavSection) -> float:
        return len(words & set(tokenize(f"{section.title} {section.summary}"))) / len(words)

    return worth
