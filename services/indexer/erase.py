"""Erase a hidden document from every store, prove it, and keep the receipt.

What is there is counted first, into a marker that lies in the object store: so an erasure
that was killed and run again gives the same receipt, and a second sweep knows what to look
for once the document's rows are gone. A document that was sent anew meanwhile has higher
revisions; those are never touched.
"""

from collections.abc import AsyncIterator
from datetime import datetime

from libs.contracts.base import Contract
from libs.contracts.events import DocumentErased, ErasureRequested
from libs.contracts.faults import Code, StaleFault
from libs.runtime.artefacts import save_json
from libs.runtime.corpusfiles import follow_corpus, write_erasures
from libs.runtime.index.port import EMPTY_DIGEST
from libs.runtime.keys import answers_prefix, document_key, document_prefix, revision_prefix
from libs.runtime.work import Work
from services.indexer.deps import Deps

SWEEP_SECONDS = 15.0
MARKERS = ".erasures/"


class Marker(Contract):
    """What an erasure has to remove: revisions up to `highest`, with the catalog's integers
    for them, and how much of it there was."""

    event: ErasureRequested
    highest: int
    revns: list[int]
    counted: dict[str, int]
    begun_at: datetime


async def erase(deps: Deps, event: ErasureRequested, work: Work) -> DocumentErased:
    """Erase the document; returns what is to be announced. Doing it again does no harm.

    Raises `StaleFault(ERASED)` when the erasure is unknown, and `RuntimeError` when a store
    still holds something afterwards: it is tried again.
    """
    documents = deps.stores.catalog.documents
    receipt = await documents.erasure(event.namespace, event.job_id)
    if receipt is None:
        raise StaleFault(Code.ERASED, f"there is no erasure {event.job_id}")
    if receipt.state != "erased":
        marker = await _marker(deps, event)
        vectors = await sweep(deps, marker)
        async with deps.following:
            await follow_corpus(deps.corpus(), event.namespace)
        work.check()
        left = sum((await _count(deps, marker)).values())
        if left:
            raise RuntimeError(f"erasure {event.job_id}: {left} records are left in the stores")
        removed = {**marker.counted, "vectors": vectors}
        await documents.erased(event.namespace, event.job_id, removed, left)
    async with deps.following:
        await write_erasures(deps.corpus(), event.namespace)
    return DocumentErased(
        namespace=event.namespace,
        document_id=event.document_id,
        revision=event.revision,
        job_id=event.job_id,
        attempt=event.attempt,
    )


async def sweep(deps: Deps, marker: Marker) -> int:
    """Remove all that a marker names, objects last, since they are the truth; returns how many
    cached vectors no document of the namespace needs any more."""
    stores, event = deps.stores, marker.event
    if marker.revns:
        await stores.index.remove(event.namespace, marker.revns)
        await stores.graph.remove(event.namespace, marker.revns)
        await stores.catalog.chunks.remove(marker.revns)
    vectors = await stores.catalog.chunks.sweep_vectors(event.namespace)
    for prefix in sorted({prefix async for prefix, _ in _objects(deps, marker)}):
        await stores.objects.delete_prefix(prefix)
    await stores.objects.delete_prefix(answers_prefix(event.namespace, event.document_id))
    if not await _lives_again(deps, event):
        await stores.catalog.runs.remove_document(event.namespace, event.document_id)
        await stores.objects.delete([document_key(event.namespace, event.document_id)])
    return vectors


async def sweep_again(deps: Deps) -> None:
    """Sweep once more after erasures that are long enough ago for everything late to have
    come in, make what they removed leave the search engine's files, and forget their markers."""
    objects = deps.stores.objects
    keys = [info.key async for info in objects.walk(MARKERS)]
    swept: list[str] = []
    for key in keys:
        marker = Marker.model_validate_json(await objects.get(key))
        age = (deps.clock() - marker.begun_at).total_seconds()
        event = marker.event
        receipt = await deps.stores.catalog.documents.erasure(event.namespace, event.job_id)
        finished = receipt is None or receipt.state == "erased"
        if finished and age >= deps.settings.indexer_resweep_seconds:
            await sweep(deps, marker)
            swept.append(key)
    if swept:
        await deps.stores.index.purge()
        await objects.delete(swept)


async def _marker(deps: Deps, event: ErasureRequested) -> Marker:
    """The marker of this erasure, made and stored when there is none."""
    key = f"{MARKERS}{event.namespace}/{event.job_id}.json"
    try:
        return Marker.model_validate_json(await deps.stores.objects.get(key))
    except KeyError:
        pass
    documents = deps.stores.catalog.documents
    revisions = await documents.revisions(event.namespace, event.document_id)
    marker = Marker(
        event=event,
        highest=max([event.revision, *(r.revision for r in revisions)]),
        revns=sorted(r.revn for r in revisions),
        counted={},
        begun_at=deps.clock(),
    )
    marker = marker.model_copy(update={"counted": await _count(deps, marker)})
    await save_json(deps.stores.objects, key, marker)
    return marker


async def _count(deps: Deps, marker: Marker) -> dict[str, int]:
    """How much of the document each store holds."""
    stores, event = deps.stores, marker.event
    counted = {"objects": 0, "catalog": 0, "search": 0, "graph": 0}
    async for _ in _objects(deps, marker):
        counted["objects"] += 1
    if not await _lives_again(deps, event):
        own = document_key(event.namespace, event.document_id)
        counted["objects"] += await stores.objects.stat(own) is not None
        async for _ in stores.objects.walk(answers_prefix(event.namespace, event.document_id)):
            counted["objects"] += 1
    for revn in marker.revns:
        held = await stores.index.digest(event.namespace, revn)
        counted["search"] += 0 if held == EMPTY_DIGEST else held.count
        counted["catalog"] += (await stores.catalog.chunks.digest(revn)).count
        counted["graph"] += bool((await stores.graph.digest(event.namespace, revn))[1])
    counted["hits"] = len(await stores.catalog.runs.hits(event.namespace, event.document_id))
    return counted


async def _objects(deps: Deps, marker: Marker) -> AsyncIterator[tuple[str, str]]:
    """The objects of the revisions that a marker names, as (prefix of revision, key)."""
    event = marker.event
    prefix = document_prefix(event.namespace, event.document_id)
    async for info in deps.stores.objects.walk(prefix):
        number = info.key.removeprefix(prefix).split("/", 1)[0]
        if number.isdecimal() and int(number) <= marker.highest:
            yield revision_prefix(event.namespace, event.document_id, int(number)), info.key


async def _lives_again(deps: Deps, event: ErasureRequested) -> bool:
    record = await deps.stores.catalog.documents.get(event.namespace, event.document_id)
    return record is not None and record.state not in ("erasing", "erased")
