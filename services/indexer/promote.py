"""The winners of a revision get their lasting keys; what lost is swept."""

import asyncio
from collections.abc import Mapping

from libs.contracts.events import ArtefactRef, DocumentChunked
from libs.contracts.faults import Code, WorldFault
from libs.runtime.artefacts import JSON_MEDIA_TYPE, reference_to
from libs.runtime.keys import MESSAGES, jobs_prefix, revision_key
from libs.runtime.objects.port import ObjectStore
from libs.runtime.work import Work

AT_ONCE = 8


async def promote(
    objects: ObjectStore, event: DocumentChunked, work: Work, read: Mapping[str, bytes]
) -> dict[str, ArtefactRef]:
    """Copy an attempt's artefacts to the keys of the revision; returns where they are now.

    `read` are the bytes of JSON files that were loaded and verified: those are stored again,
    which is one request to a server where a copy is two.

    Raises `WorldFault(STORE_AWAY)` when one is absent or not what the event named.
    """
    room = asyncio.Semaphore(AT_ONCE)

    async def copy(name: str, ref: ArtefactRef) -> ArtefactRef:
        key = revision_key(event.namespace, event.document_id, event.revision, name)
        async with room:
            work.check()
            if name in read:
                stored = objects.put(key, read[name], media_type=JSON_MEDIA_TYPE)
                return reference_to(await stored)
            return await _copy(objects, ref, key)

    names = sorted(event.artefacts)
    done = await asyncio.gather(
        *(copy(name, event.artefacts[name]) for name in names), return_exceptions=True
    )
    for result in done:
        if isinstance(result, BaseException):
            raise result
    return {n: r for n, r in zip(names, done, strict=True) if isinstance(r, ArtefactRef)}


async def _copy(objects: ObjectStore, ref: ArtefactRef, target: str) -> ArtefactRef:
    try:
        info = await objects.copy(ref.key, target)
    except KeyError:
        found = await objects.stat(target)
        if found is None:
            detail = f"artefact {ref.key} is not in the store"
            raise WorldFault(Code.STORE_AWAY, detail) from None
        info = found
    if info.sha256 != ref.sha256:
        raise WorldFault(Code.STORE_AWAY, f"artefact {target} does not match its sha256")
    return reference_to(info)


async def sweep_attempts(
    objects: ObjectStore, namespace: str, document_id: str, revision: int
) -> int:
    """Remove what attempts left beside the winners of a published revision; returns how many.

    Bodies of messages stay: somebody may still have to read one.
    """
    return await objects.delete_prefix(jobs_prefix(namespace, document_id, revision), keep=MESSAGES)
