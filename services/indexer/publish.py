"""Publish one revision: stage everywhere, prove, promote, flip once.

Readers see nothing of it before the flip and all of it afterwards. Every step writes
what it would have written before, so a publish that was killed between two steps is
simply run again.
"""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from libs.contracts.artefacts.chunk import digest_ids
from libs.contracts.artefacts.manifest import Manifest
from libs.contracts.artefacts.nav import DocNav, NavSection
from libs.contracts.artefacts.profile import Profile
from libs.contracts.events import DocumentChunked, DocumentPublished, JobEvent, RevisionSuperseded
from libs.contracts.faults import Code, StaleFault
from libs.runtime.artefacts import load_bytes
from libs.runtime.catalog.documents import Flip, RevisionRecord
from libs.runtime.chunkfile import ChunkFile
from libs.runtime.graph.port import GraphNode
from libs.runtime.index.port import Digest
from libs.runtime.keys import revision_prefix
from libs.runtime.objects.port import ObjectStore
from libs.runtime.work import Work
from services.indexer.deps import Deps
from services.indexer.documents import SLICE, index_slices
from services.indexer.embed import embed_revision
from services.indexer.parity import Held, held_chunks, prove
from services.indexer.promote import promote

NAV = "doc_nav.json"
SMALL_BYTES = 1 << 20
"""Artefacts up to this size are kept in memory until they are published."""

A = TypeVar("A")
B = TypeVar("B")


@dataclass(frozen=True)
class Loaded:
    """What is needed of a revision's artefacts until it is published; `digest` is over the
    chunk ids. The trees of a long document are large, so they are not among it. `read` are the
    bytes of files that are not large."""

    chunks: ChunkFile
    digest: Digest
    title: str
    keywords: frozenset[str]
    counts: dict[str, int]
    format: str
    inferred: dict[str, str | int]
    read: dict[str, bytes]


async def publish(deps: Deps, event: DocumentChunked, work: Work) -> JobEvent:
    """Publish the revision of the event; returns what is to be announced.

    Raises `StaleFault` when nobody wants it any more (what was staged is removed), and
    `ParityError` when a store disagrees with `chunks.json`.
    """
    revision = await _revision(deps, event)
    if revision is None:
        raise StaleFault(Code.ERASED, f"the document {event.document_id} is not there any more")
    if revision.state == "collected":
        raise StaleFault(Code.SUPERSEDED, f"revision {event.revision} is published and collected")
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
    sections = await _sections(stores.objects, event, loaded)
    await stores.catalog.chunks.stage(revn, loaded.chunks, sections, work.check)
    del sections
    work.check()
    winners, held = await _all(
        promote(stores.objects, event, work, loaded.read),
        _all(
            _staged(deps, revn, expected),
            _indexed(deps, event, revn, loaded, work),
            _linked(deps, event, revn, loaded),
        ),
    )
    prove(revn, *held)
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
            counts=loaded.counts,
            format=loaded.format,
            inferred=loaded.inferred,
            dense_model=dense,
            expected_digest=event.chunk_digest,
        )
    )


@overload
async def _all(one: Awaitable[A], other: Awaitable[B], /) -> tuple[A, B]: ...
@overload
async def _all(*these: Awaitable[A]) -> tuple[A, ...]: ...
async def _all(*these: Awaitable[Any]) -> tuple[Any, ...]:
    """All results; none goes on alone when another fails, or what is withdrawn after a failure
    could be written again."""
    done = await asyncio.gather(*these, return_exceptions=True)
    for result in done:
        if isinstance(result, BaseException):
            raise result
    return tuple(done)


async def _load(objects: ObjectStore, event: DocumentChunked) -> Loaded:
    refs = event.artefacts
    named = [NAV] if refs[NAV].size <= SMALL_BYTES else []
    names = ["chunks.json", "manifest.json", "profile.json", *named]
    data = dict(
        zip(
            names,
            await asyncio.gather(*(load_bytes(objects, refs[name]) for name in names)),
            strict=True,
        )
    )
    manifest = Manifest.model_validate_json(data["manifest.json"])
    profile = Profile.model_validate_json(data["profile.json"])
    chunks = ChunkFile(data["chunks.json"])
    ids = await asyncio.to_thread(chunks.ids)
    return Loaded(
        chunks=chunks,
        digest=Digest(len(ids), digest_ids(ids)),
        title=manifest.HIERARCHY.title,
        keywords=frozenset(manifest.keywords),
        counts={**manifest.statistics.model_dump(), "pages": profile.page_count},
        format=profile.known_as,
        inferred=dict(profile.inferred),
        read={name: body for name, body in data.items() if len(body) <= SMALL_BYTES},
    )


async def _sections(objects: ObjectStore, event: DocumentChunked, loaded: Loaded) -> NavSection:
    data = loaded.read.get(NAV) or await load_bytes(objects, event.artefacts[NAV])
    return DocNav.model_validate_json(data).root


async def _staged(deps: Deps, revn: int, expected: Digest) -> Held:
    return held_chunks("catalog", expected, await deps.stores.catalog.chunks.digest(revn))


async def _indexed(
    deps: Deps, event: DocumentChunked, revn: int, loaded: Loaded, work: Work
) -> Held:
    """Write the lexical channels, unless a delivery before this one did."""
    index, expected = deps.stores.index, loaded.digest
    found = None if work.deliveries == 1 else await index.digest(event.namespace, revn)
    if found != expected:
        found = await _write_index(deps, event, revn, loaded, work)
    return held_chunks("search index", expected, found)


async def _linked(deps: Deps, event: DocumentChunked, revn: int, loaded: Loaded) -> Held:
    node = GraphNode(revn, event.document_id, loaded.keywords)
    return await deps.link.whole((event.namespace, node))


async def _write_index(
    deps: Deps, event: DocumentChunked, revn: int, loaded: Loaded, work: Work
) -> Digest:
    """A slice at a time, so that a long document holds up nobody; what the index holds then."""
    documents = index_slices(
        loaded.chunks, title=loaded.title, file_name=event.file_name, tokenize=deps.tokenize
    )
    index, of = deps.stores.index, (event.namespace, revn)
    begun = await index.write(*of, await asyncio.to_thread(next, documents, []), unseen=True)
    if loaded.digest.count <= SLICE:
        return begun
    while (some := await asyncio.to_thread(next, documents, None)) is not None:
        work.check()
        await index.append(*of, some)
    return await index.digest(*of)


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


def _identity(event: JobEvent) -> dict[str, object]:
    return event.model_dump(include={"namespace", "document_id", "revision", "job_id", "attempt"})
