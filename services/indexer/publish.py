"""Publish one revision: stage everywhere, prove, promote, flip once.

Readers see nothing of it before the flip and all of it afterwards. Every step writes
what it would have written before, so a publish that was killed between two steps is
simply run again.
"""

import asyncio
from dataclasses import dataclass

from libs.contracts.artefacts.chunk import Chunks, digest_ids
from libs.contracts.artefacts.manifest import Manifest
from libs.contracts.artefacts.nav import DocNav
from libs.contracts.artefacts.profile import Profile
from libs.contracts.events import DocumentChunked, DocumentPublished, JobEvent, RevisionSuperseded
from libs.contracts.faults import Code, StaleFault
from libs.runtime.artefacts import load_json
from libs.runtime.catalog.documents import Flip, RevisionRecord
from libs.runtime.graph.port import GraphNode
from libs.runtime.index.port import Digest
from libs.runtime.keys import revision_prefix
from libs.runtime.objects.port import ObjectStore
from libs.runtime.work import Work
from services.indexer.corpus import write_document_file
from services.indexer.deps import Deps
from services.indexer.documents import index_documents
from services.indexer.embed import embed_revision
from services.indexer.linking import link
from services.indexer.parity import Held, held_chunks, prove
from services.indexer.promote import promote


@dataclass(frozen=True)
class Loaded:
    """The artefacts of a revision that are published."""

    chunks: Chunks
    nav: DocNav
    manifest: Manifest
    profile: Profile

    @property
    def digest(self) -> Digest:
        """Count and digest of the chunk ids."""
        ids = [chunk.chunk_id for chunk in self.chunks.chunks]
        return Digest(len(ids), digest_ids(ids))


async def publish(deps: Deps, event: DocumentChunked, work: Work) -> JobEvent:
    """Publish the revision of the event; returns what is to be announced.

    Raises `StaleFault` when nobody wants it any more (what was staged is removed), and
    `ParityError` when a store disagrees with `chunks.json`.
    """
    revision = await _revision(deps, event)
    if revision is None:
        raise StaleFault(Code.ERASED, f"the document {event.document_id} is not there any more")
    version = await deps.stores.catalog.documents.corpus_version(event.namespace)
    if revision.state != "published":
        try:
            outcome, version = await _stage_and_flip(deps, event, revision.revn, work)
        except StaleFault as fault:
            if fault.code is Code.CANCELLED:
                await _withdraw(deps, event, revision.revn)
            raise
        if outcome not in ("flipped", "already") and await _withdraw(deps, event, revision.revn):
            return _ended_without_flip(event, outcome)
    await write_document_file(
        deps.stores.catalog, deps.stores.objects, event.namespace, event.document_id
    )
    return DocumentPublished(
        **_identity(event),
        chunk_count=event.chunk_count,
        chunk_digest=event.chunk_digest,
        corpus_version=version,
    )


async def _stage_and_flip(
    deps: Deps, event: DocumentChunked, revn: int, work: Work
) -> tuple[str, int]:
    stores, namespace = deps.stores, event.namespace
    loaded = await _load(stores.objects, event)
    expected = Digest(event.chunk_count, event.chunk_digest)
    prove(revn, held_chunks("file chunks.json", expected, loaded.digest))
    work.check()
    await stores.catalog.chunks.stage(revn, loaded.chunks.chunks, loaded.nav.root)
    work.check()
    index = await _write_index(deps, event, revn, loaded)
    work.check()
    keywords = frozenset(loaded.manifest.keywords)
    graph = await link(stores.graph, namespace, GraphNode(revn, event.document_id, keywords))
    catalog = held_chunks("catalog", expected, await stores.catalog.chunks.digest(revn))
    prove(revn, catalog, index, graph)
    dense = None
    if event.options.wait_for_dense:
        dense = await embed_revision(deps, namespace, revn, work)
    winners = await promote(
        stores.objects, namespace, event.document_id, event.revision, event.artefacts, work
    )
    work.check()
    return await stores.catalog.documents.flip(
        Flip(
            namespace=namespace,
            document_id=event.document_id,
            revision=event.revision,
            job_id=event.job_id,
            artefacts=winners,
            counts=_counts(loaded),
            format=loaded.profile.format,
            inferred=dict(loaded.profile.inferred),
            dense_model=dense,
            expected_digest=event.chunk_digest,
        )
    )


async def _load(objects: ObjectStore, event: DocumentChunked) -> Loaded:
    refs = event.artefacts
    return Loaded(
        chunks=await load_json(objects, refs["chunks.json"], Chunks),
        nav=await load_json(objects, refs["doc_nav.json"], DocNav),
        manifest=await load_json(objects, refs["manifest.json"], Manifest),
        profile=await load_json(objects, refs["profile.json"], Profile),
    )


async def _write_index(deps: Deps, event: DocumentChunked, revn: int, loaded: Loaded) -> Held:
    """Write the lexical channels, unless a run before this one did."""
    index, expected = deps.stores.index, loaded.digest
    if await index.digest(event.namespace, revn) != expected:
        documents = await asyncio.to_thread(
            index_documents,
            loaded.chunks.chunks,
            title=loaded.nav.title,
            file_name=event.file_name,
            tokenize=deps.tokenize,
        )
        await index.write(event.namespace, revn, documents)
    found = await index.digest(event.namespace, revn)
    return held_chunks("search index", expected, found)


async def _revision(deps: Deps, event: DocumentChunked) -> RevisionRecord | None:
    documents = deps.stores.catalog.documents
    return await documents.revision(event.namespace, event.document_id, event.revision)


async def _withdraw(deps: Deps, event: DocumentChunked, revn: int) -> bool:
    """Remove what was staged, unless the revision is published after all: then False.

    Its artefacts stay until it is collected, but for those of an erased document.
    """
    revision = await _revision(deps, event)
    if revision is not None and revision.state == "published":
        return False
    stores = deps.stores
    await stores.index.remove(event.namespace, [revn])
    await stores.graph.remove(event.namespace, [revn])
    await stores.catalog.chunks.remove([revn])
    if revision is None:
        prefix = revision_prefix(event.namespace, event.document_id, event.revision)
        await stores.objects.delete_prefix(prefix)
    return True


def _ended_without_flip(event: DocumentChunked, outcome: str) -> JobEvent:
    if outcome == "superseded":
        return RevisionSuperseded(**_identity(event))
    code = Code.ERASED if outcome == "erased" else Code.CANCELLED
    raise StaleFault(code, f"the job {event.job_id} is {outcome}")


def _counts(loaded: Loaded) -> dict[str, int]:
    return {**loaded.manifest.statistics.model_dump(), "pages": loaded.profile.page_count}


def _identity(event: JobEvent) -> dict[str, object]:
    return event.model_dump(include={"namespace", "document_id", "revision", "job_id", "attempt"})
