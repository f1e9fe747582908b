"""Publish one revision: stage everywhere, prove, promote, flip once.

Readers see nothing of it before the flip and all of it afterwards. Every step writes
what it would have written before, so a publish that was killed between two steps is
simply run again.
"""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TypeVar

from libs.contracts.artefacts.chunk import Chunks, digest_ids
from libs.contracts.artefacts.manifest import Manifest
from libs.contracts.artefacts.nav import DocNav
from libs.contracts.artefacts.profile import Profile
from libs.contracts.events import DocumentChunked, DocumentPublished, JobEvent, RevisionSuperseded
from libs.contracts.faults import Code, StaleFault
from libs.runtime.artefacts import load_json
from libs.runtime.catalog.documents import Flip, RevisionRecord
from libs.runtime.corpus import write_document_file
from libs.runtime.graph.port import GraphNode
from libs.runtime.index.port import Digest
from libs.runtime.keys import revision_prefix
from libs.runtime.objects.port import ObjectStore
from libs.runtime.work import Work
from services.indexer.deps import Deps
from services.indexer.documents import index_documents
from services.indexer.embed import embed_revision
from services.indexer.linking import link
from services.indexer.parity import Held, held_chunks, prove
from services.indexer.promote import promote

A = TypeVar("A")
B = TypeVar("B")


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
    if revision.state == "published":
        version = await deps.stores.catalog.documents.corpus_version(event.namespace)
    else:
        try:
            outcome, version = await _stage_and_flip(deps, event, revision.revn, work)
        except (StaleFault, asyncio.CancelledError):
            if work.cancelled.is_set():
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
    stores = deps.stores
    loaded = await _load(stores.objects, event)
    expected = Digest(event.chunk_count, event.chunk_digest)
    prove(revn, held_chunks("file chunks.json", expected, loaded.digest))
    work.check()
    await stores.catalog.chunks.stage(revn, loaded.chunks.chunks, loaded.nav.root)
    work.check()
    held, winners = await _both(
        _index_and_link(deps, event, revn, loaded), promote(stores.objects, event, work)
    )
    catalog = held_chunks("catalog", expected, await stores.catalog.chunks.digest(revn))
    prove(revn, catalog, *held)
    dense = None
    if event.options.wait_for_dense:
        dense = await embed_revision(deps, event.namespace, revn, work)
    work.check()
    return await stores.catalog.documents.flip(
        Flip(
            namespace=event.namespace,
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


async def _both(one: Awaitable[A], other: Awaitable[B]) -> tuple[A, B]:
    """Both results; neither goes on alone when the other fails, or what is withdrawn after a
    failure could be written again."""
    first, second = await asyncio.gather(one, other, return_exceptions=True)
    if isinstance(first, BaseException):
        raise first
    if isinstance(second, BaseException):
        raise second
    return first, second


async def _load(objects: ObjectStore, event: DocumentChunked) -> Loaded:
    refs = event.artefacts
    chunks, nav, manifest, profile = await asyncio.gather(
        load_json(objects, refs["chunks.json"], Chunks),
        load_json(objects, refs["doc_nav.json"], DocNav),
        load_json(objects, refs["manifest.json"], Manifest),
        load_json(objects, refs["profile.json"], Profile),
    )
    return Loaded(chunks, nav, manifest, profile)


async def _index_and_link(
    deps: Deps, event: DocumentChunked, revn: int, loaded: Loaded
) -> tuple[Held, Held]:
    """Write the lexical channels, unless a run before this one did, then the graph."""
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
    node = GraphNode(revn, event.document_id, frozenset(loaded.manifest.keywords))
    graph = await link(deps.stores.graph, event.namespace, node)
    return held_chunks("search index", expected, found), graph


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
