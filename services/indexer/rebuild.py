"""Catalog, search and graph made again from the objects alone.

No service may work on the stores meanwhile. Every step writes what it would have written before,
so a rebuild that was killed is simply run again. Keys, jobs and runs are not made again; those
that the catalog still has stay.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from pydantic import ValidationError

from libs.contracts.artefacts.chunk import digest_ids
from libs.contracts.artefacts.corpus import CorpusErasures, CorpusHits
from libs.contracts.artefacts.document import DocumentFile
from libs.contracts.artefacts.manifest import Manifest
from libs.contracts.artefacts.nav import DocNav
from libs.contracts.artefacts.profile import Profile
from libs.contracts.faults import Fault
from libs.runtime.artefacts import load_chunks, load_json
from libs.runtime.catalog.corpus import RevisionFacts
from libs.runtime.corpusfiles import (
    ERASURES,
    HITS,
    follow_corpus,
    load_corpus_file,
    stored_versions,
)
from libs.runtime.index.port import EMPTY_DIGEST, Digest
from libs.runtime.work import Work
from services.indexer.deps import Deps
from services.indexer.documents import index_slices
from services.indexer.embed import embed_revision
from services.indexer.kept import Kept, Place, document_file_at, missing, places
from services.indexer.parity import ParityError, held_chunks, prove
from services.indexer.regraph import regraph
from services.indexer.strangers import forget_strangers

Target = Literal["catalog", "search", "graph"]
TARGETS: tuple[Target, ...] = ("catalog", "search", "graph")

NEEDED: dict[Target, tuple[str, ...]] = {
    "catalog": ("chunks.json", "doc_nav.json", "profile.json"),
    "search": ("chunks.json", "manifest.json"),
    "graph": ("manifest.json",),
}
"""Artefacts without which a target cannot be made; what else is lacking is only told."""

RESERVE = 1_000
"""Corpus versions that a catalog which was lost may have had beyond the last ones stored."""


class NothingToRebuildFrom(Exception):
    """The object store holds no document: it is more likely the wrong one than empty."""


@dataclass(frozen=True)
class Trouble:
    """A document, or one of its revisions, that could not be made again, and why."""

    namespace: str
    document_id: str
    detail: str
    revision: int | None = None


@dataclass
class Report:
    """What was made: revisions staged in the catalog, chunks indexed, vectors, nodes, edges."""

    documents: int = 0
    revisions: int = 0
    chunks: int = 0
    vectors: int = 0
    nodes: int = 0
    edges: int = 0
    erasures: int = 0
    hidden: int = 0
    troubles: list[Trouble] = field(default_factory=list)


Tell = Callable[[str, int, int], None]
"""Called with a step, how much of it is done, and of how much."""


async def rebuild(
    deps: Deps,
    targets: frozenset[Target],
    tell: Tell,
    begin: Callable[[], None] = lambda: None,
) -> Report:
    """Make the targets again; troubles with single documents are in the report. `begin` is
    called once it is sure that there is something to make them from.

    Raises `NothingToRebuildFrom`, and `WorldFault(STORE_AWAY)` when a store is away.
    """
    found = [place async for place in places(deps.stores.objects)]
    if not any(place.filed for place in found):
        raise NothingToRebuildFrom("the object store holds no document.json")
    begin()
    made = _Rebuild(deps, targets, tell)
    for namespace in sorted({place.namespace for place in found}):
        await made.namespace(namespace, [p for p in found if p.namespace == namespace and p.filed])
    return made.report


class _Rebuild:
    def __init__(self, deps: Deps, targets: frozenset[Target], tell: Tell) -> None:
        self._deps = deps
        self._targets = targets
        self._tell = tell
        self._work = Work("rebuild")
        self._needed = {name for target in targets for name in NEEDED[target]}
        self.report = Report()

    async def namespace(self, name: str, found: list[Place]) -> None:
        """Make what belongs to a namespace; the corpus version rises at the very end, until
        which nothing that is stored of the corpus is replaced."""
        corpus = self._deps.stores.catalog.corpus
        stored = max(await stored_versions(self._deps.stores.objects, name))
        known = (await corpus.versions()).get(name, 0)
        if "catalog" in self._targets:
            await self._erasures(name)
        if "search" in self._targets:
            await corpus.forget_dense(name)
        kept = await self._documents(name, found)
        if "search" in self._targets:
            kept = await self._search(name, kept)
        if "graph" in self._targets:
            step = f"{name}: graph"
            nodes, edges = await regraph(
                self._deps, name, kept, lambda done: self._tell(step, done, len(kept))
            )
            self._tell(step, len(kept), len(kept))
            self.report.nodes += nodes
            self.report.edges += edges
        if self._targets & {"catalog", "search"}:
            await self._dense(name, kept)
        if "catalog" in self._targets:
            hits = await load_corpus_file(self._deps.stores.objects, name, HITS, CorpusHits)
            await corpus.restore_hits(name, hits.documents if hits else [])
        await corpus.raise_version(name, stored + RESERVE if known < stored else known)
        await follow_corpus(self._deps.corpus(), name)

    async def _erasures(self, name: str) -> None:
        file = await load_corpus_file(self._deps.stores.objects, name, ERASURES, CorpusErasures)
        if file is not None:
            await self._deps.stores.catalog.corpus.restore_erasures(name, file.erasures)
            self.report.erasures += len(file.erasures)

    async def _documents(self, name: str, found: list[Place]) -> list[Kept]:
        """The kept revisions by revn, in the catalog again if that is wanted."""
        kept: list[Kept] = []
        step = f"{name}: catalog" if "catalog" in self._targets else f"{name}: documents"
        for done, place in enumerate(found):
            self._tell(step, done, len(found))
            try:
                file = await document_file_at(self._deps.stores.objects, place)
                revns = await self._revns(file)
            except (Fault, ValidationError) as error:
                self._trouble(place, _reason(error))
                continue
            if revns is None:
                self.report.hidden += 1
                continue
            self.report.documents += bool(revns)
            self.report.revisions += len(revns)
            kept += [
                Kept(name, place.document_id, revns[one.revision], one)
                for one in file.revisions
                if one.revision in revns
            ]
        self._tell(step, len(found), len(found))
        return sorted(kept, key=lambda one: one.revn)

    async def _revns(self, file: DocumentFile) -> dict[int, int] | None:
        """Revns of the file's revisions by number; None when the document is hidden."""
        objects, catalog = self._deps.stores.objects, self._deps.stores.catalog
        whole = []
        for one in file.revisions:
            lacking = await missing(objects, one)
            if lacking:
                self._trouble(file, f"the store lacks {', '.join(lacking)}", one.revision)
            if not self._needed.intersection(lacking):
                whole.append(one)
        if file.active_revision is not None and all(
            one.revision != file.active_revision for one in whole
        ):
            return {}
        file = file.model_copy(update={"revisions": whole})
        if "catalog" in self._targets:
            return await self._restore(file)
        document = await catalog.documents.get(file.namespace, file.document_id)
        if document is not None and document.state in ("erasing", "erased"):
            return None
        known = await catalog.documents.revisions(file.namespace, file.document_id)
        revns = {one.revision: one.revn for one in known if one.state == "published"}
        for one in file.revisions:
            if one.revision not in revns:
                self._trouble(file, "the catalog does not know it: rebuild that too", one.revision)
        return {
            one.revision: revns[one.revision] for one in file.revisions if one.revision in revns
        }

    async def _restore(self, file: DocumentFile) -> dict[int, int] | None:
        stores = self._deps.stores
        if not file.revisions:
            return {}
        revns = await stores.catalog.corpus.restore(file)
        if revns is None:
            return None
        facts: dict[int, RevisionFacts] = {}
        for one in file.revisions:
            refs = one.artefacts
            chunks = await load_chunks(stores.objects, refs["chunks.json"])
            root = (await load_json(stores.objects, refs["doc_nav.json"], DocNav)).root
            await stores.catalog.chunks.stage(revns[one.revision], chunks, root)
            profile = await load_json(stores.objects, refs["profile.json"], Profile)
            facts[one.revision] = RevisionFacts(profile.known_as, profile.inferred)
        gone = await stores.catalog.corpus.restored(file, facts)
        if gone:
            await stores.index.remove(file.namespace, gone)
            await stores.graph.remove(file.namespace, gone)
            await stores.catalog.chunks.remove(gone)
        return revns

    async def _search(self, name: str, kept: list[Kept]) -> list[Kept]:
        """Those whose lexical channels are made again and proved; what no revision has goes."""
        await forget_strangers(self._deps.stores.catalog, self._deps.stores.index, name)
        fine: list[Kept] = []
        for done, one in enumerate(kept):
            self._tell(f"{name}: search", done, len(kept))
            try:
                self.report.chunks += await self._index(one)
                fine.append(one)
            except (Fault, ValidationError, ParityError) as error:
                self._trouble(one, _reason(error), one.file.revision)
        self._tell(f"{name}: search", len(kept), len(kept))
        return fine

    async def _index(self, one: Kept) -> int:
        objects, index, refs = (
            self._deps.stores.objects,
            self._deps.stores.index,
            one.file.artefacts,
        )
        chunks = await load_chunks(objects, refs["chunks.json"])
        ids = await asyncio.to_thread(chunks.ids)
        manifest = await load_json(objects, refs["manifest.json"], Manifest)
        documents = index_slices(
            chunks,
            title=manifest.HIERARCHY.title,
            file_name=one.file.file_name,
            tokenize=self._deps.tokenize,
        )
        await index.write(one.namespace, one.revn, await asyncio.to_thread(next, documents, []))
        while (some := await asyncio.to_thread(next, documents, None)) is not None:
            await index.append(one.namespace, one.revn, some)
        expected = Digest(len(ids), digest_ids(ids)) if ids else EMPTY_DIGEST
        found = await index.digest(one.namespace, one.revn)
        prove(one.revn, held_chunks("search index", expected, found))
        return len(ids)

    async def _dense(self, name: str, kept: list[Kept]) -> None:
        """Give every revision its vectors, the cached ones where there are any."""
        for done, one in enumerate(kept):
            self._tell(f"{name}: vectors", done, len(kept))
            try:
                model = await embed_revision(self._deps, name, one.revn, self._work)
            except (Fault, ParityError) as error:
                self._trouble(one, _reason(error), one.file.revision)
                continue
            if model is not None:
                documents = self._deps.stores.catalog.documents
                await documents.set_dense(name, one.document_id, one.file.revision, model)
                self.report.vectors += 1
        self._tell(f"{name}: vectors", len(kept), len(kept))

    def _trouble(
        self, of: Place | DocumentFile | Kept, detail: str, revision: int | None = None
    ) -> None:
        self.report.troubles.append(Trouble(of.namespace, of.document_id, detail, revision))


def _reason(error: Exception) -> str:
    if isinstance(error, ValidationError):
        return f"{error.title} cannot be read"
    return str(error)
