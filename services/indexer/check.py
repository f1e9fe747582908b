"""Do the stores agree? The objects are the truth; every other store is held against them, document
by document, by counts and digests. Reads only, and may run beside the services: what seems to
differ is looked at a second time, since it may just have been changing."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from libs.contracts.artefacts.chunk import digest_ids
from libs.contracts.artefacts.corpus import CorpusGraph
from libs.contracts.artefacts.document import DocumentFile, RevisionFile
from libs.contracts.faults import Fault
from libs.runtime.artefacts import load_chunks
from libs.runtime.catalog.documents import DocumentRecord, RevisionRecord
from libs.runtime.corpus import document_file
from libs.runtime.corpusfiles import GRAPH, PAGE, Corpus, load_corpus_file
from libs.runtime.graph.port import graph_digest
from libs.runtime.index.port import EMPTY_DIGEST, Digest, SearchIndex
from services.indexer.kept import Place, document_file_at, missing, places
from services.indexer.strangers import strangers

SECOND_LOOK_SECONDS = 1.0
_HIDDEN = ("erasing", "erased")
_FOLLOWS = {"last_revision", "updated_at", "revisions"}
"""Fields of `document.json` that an upload changes in the catalog alone, and those looked at
one by one."""

Tell = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Drift:
    """A store that holds something else of a document than the objects say, or something of no
    document; counts with digests where there are any."""

    namespace: str
    document_id: str | None
    revision: int | None
    store: str
    detail: str
    expected: str = ""
    found: str = ""


@dataclass
class Report:
    """What was compared, and where stores disagree."""

    documents: int = 0
    revisions: int = 0
    drift: list[Drift] = field(default_factory=list)


async def check(
    corpus: Corpus, index: SearchIndex, tell: Tell, pause: float = SECOND_LOOK_SECONDS
) -> Report:
    """Compare all stores. Raises `WorldFault(STORE_AWAY)` when one is away."""
    report = Report()
    known: dict[str, dict[str, Place]] = {
        name: {} for name in await corpus.catalog.corpus.versions()
    }
    async for place in places(corpus.objects):
        known.setdefault(place.namespace, {})[place.document_id] = place
    for name in sorted(known):
        ids = sorted(known[name].keys() | set(await _catalogued(corpus, name)))
        documents = [known[name].get(one, Place(name, one, filed=False)) for one in ids]
        found = await _Namespace.look(corpus, index, name)
        suspects: list[Place] = []
        for done, place in enumerate(documents):
            tell(name, done, len(ids))
            if await _Document(corpus, found, place).compared():
                suspects.append(place)
        tell(name, len(ids), len(ids))
        report.documents += len(ids)
        report.revisions += found.revisions
        strange = await strangers(corpus, index, name)
        if suspects or strange:
            await asyncio.sleep(pause)
        report.drift += await _again(corpus, index, suspects)
        report.drift += await _still(corpus, index, name, strange)
    return report


async def _catalogued(corpus: Corpus, name: str) -> list[str]:
    found: list[str] = []
    after: str | None = None
    while page := await corpus.catalog.documents.select(name, after=after, limit=PAGE):
        after = page[-1].document_id
        found += [one.document_id for one in page]
    return found


async def _still(
    corpus: Corpus, index: SearchIndex, name: str, strange: set[tuple[str, int]]
) -> list[Drift]:
    """What stores still hold of strangers at a second look."""
    if strange:
        strange &= await strangers(corpus, index, name)
    return [
        Drift(name, None, None, store, f"holds something of {revn}, no revision that is kept")
        for store, revn in sorted(strange)
    ]


async def _again(corpus: Corpus, index: SearchIndex, suspects: list[Place]) -> list[Drift]:
    """What still differs at a second look at the documents of a namespace."""
    if not suspects:
        return []
    found = await _Namespace.look(corpus, index, suspects[0].namespace)
    drift: list[Drift] = []
    for place in suspects:
        drift += await _Document(corpus, found, place).compared()
    return drift


@dataclass
class _Namespace:
    """What documents of a namespace are held against; `edges` by node, None where `graph.json`
    is not of the present corpus version, so that only nodes can be compared."""

    index: SearchIndex
    edges: dict[int, list[str]] | None
    revisions: int = 0

    @classmethod
    async def look(cls, corpus: Corpus, index: SearchIndex, name: str) -> "_Namespace":
        file = await load_corpus_file(corpus.objects, name, GRAPH, CorpusGraph)
        version = await corpus.catalog.documents.corpus_version(name)
        if file is None or file.corpus_version != version:
            return cls(index, None)
        edges: dict[int, list[str]] = {node.revn: [] for node in file.nodes}
        for node in file.nodes:
            for edge in node.edges:
                for end in (node.revn, edge.revn):
                    edges.setdefault(end, []).append(f"{node.revn}:{edge.revn}")
        return cls(index, edges)


class _Document:
    def __init__(self, corpus: Corpus, namespace: _Namespace, place: Place) -> None:
        self._corpus = corpus
        self._namespace = namespace
        self._place = place
        self._drift: list[Drift] = []

    async def compared(self) -> list[Drift]:
        """How the stores differ on the document."""
        documents, place = self._corpus.catalog.documents, self._place
        record = await documents.get(place.namespace, place.document_id)
        if record is not None and record.state in _HIDDEN:
            if record.state == "erased" and place.revisions:
                self._add(None, "objects", "objects of an erased document are left")
            return self._drift
        file = await self._file()
        if record is None:
            if file is not None and file.revisions:
                self._add(None, "catalog", "the document is not in the catalog")
            return self._drift
        known = await documents.revisions(place.namespace, place.document_id)
        kept = {one.revision: one for one in known if one.state == "published"}
        for old in known:
            if old.state == "collected" and old.revision in place.revisions:
                self._add(old.revision, "objects", "objects of a collected revision are left")
        if file is None:
            if kept and not self._drift:
                self._add(None, "objects", "document.json is not there")
            return self._drift
        self._compare_identity(file, record, known)
        for one in file.revisions:
            self._namespace.revisions += 1
            await self._compare_revision(one, kept.pop(one.revision, None))
        for number in kept:
            self._add(number, "objects", "document.json does not name the revision")
        return self._drift

    async def _file(self) -> DocumentFile | None:
        if not self._place.filed:
            return None
        try:
            return await document_file_at(self._corpus.objects, self._place)
        except (KeyError, Fault, ValidationError):
            self._add(None, "objects", "document.json cannot be read")
            return None

    def _compare_identity(
        self, file: DocumentFile, record: DocumentRecord, known: list[RevisionRecord]
    ) -> None:
        expected = file.model_dump(mode="json", exclude=_FOLLOWS)
        found = document_file(record, known).model_dump(mode="json", exclude=_FOLLOWS)
        for name, value in expected.items():
            if found[name] != value:
                self._add(None, "catalog", f"{name} differs", _short(value), _short(found[name]))

    async def _compare_revision(self, file: RevisionFile, record: RevisionRecord | None) -> None:
        number = file.revision
        lacking = await missing(self._corpus.objects, file)
        if lacking:
            self._add(number, "objects", f"lacks {', '.join(lacking)}")
        if record is None:
            self._add(number, "catalog", "the revision is not published")
            return
        if file.revn is not None and file.revn != record.revn:
            self._add(number, "catalog", "revn differs", str(file.revn), str(record.revn))
        if record.artefacts != file.artefacts or record.source != file.source:
            self._add(number, "catalog", "names other artefacts than document.json")
        if "chunks.json" not in lacking:
            await self._compare_chunks(file, record)
        await self._compare_graph(number, record.revn)

    async def _compare_chunks(self, file: RevisionFile, record: RevisionRecord) -> None:
        chunks = await load_chunks(self._corpus.objects, file.artefacts["chunks.json"])
        ids = await asyncio.to_thread(chunks.ids)
        expected = Digest(len(ids), digest_ids(ids)) if ids else EMPTY_DIGEST
        index, name, revn = self._namespace.index, record.namespace, record.revn
        held = {
            "catalog": await self._corpus.catalog.chunks.digest(revn),
            "search": await index.digest(name, revn),
        }
        if record.dense_model is not None:
            held["vectors"] = await index.vector_digest(name, revn, record.dense_model)
        for store, found in held.items():
            if found != expected:
                said = [_counted(one.count, one.digest, "chunks") for one in (expected, found)]
                self._add(file.revision, store, "holds other chunks", *said)

    async def _compare_graph(self, number: int, revn: int) -> None:
        found = await self._corpus.graph.digest(self._place.namespace, revn)
        edges = self._namespace.edges
        if not found[1]:
            self._add(number, "graph", "the node is not there")
        elif edges is not None:
            expected = graph_digest(revn, edges.get(revn, []))
            if found != expected:
                said = [_counted(*one, "edges") for one in (expected, found)]
                self._add(number, "graph", "holds other edges", *said)

    def _add(
        self, revision: int | None, store: str, detail: str, expected: str = "", found: str = ""
    ) -> None:
        place = self._place
        self._drift.append(
            Drift(place.namespace, place.document_id, revision, store, detail, expected, found)
        )


def _counted(count: int, digest: str, unit: str) -> str:
    return f"{count} {unit} {digest[:12]}".rstrip()


def _short(value: Any) -> str:
    return str(value)[:80]
