"""Old revisions go: the last few stay for rollback, the rest is removed from every store."""

from libs.runtime.catalog.documents import RevisionRecord
from libs.runtime.keys import revision_prefix
from libs.runtime.objects.port import ObjectStore
from services.indexer.deps import Deps

LOOK_BACK = 8
"""Collected revisions that are looked at again: a run that was killed left something."""


async def collect(deps: Deps, namespace: str, document_id: str) -> list[int]:
    """Remove revisions beyond those that are kept; returns which.

    They are barred from rollback first. Objects go last, so a revision that still has some
    was not removed whole and is removed again.
    """
    documents, keep = deps.stores.catalog.documents, deps.settings.indexer_keep_revisions
    spent = await documents.collectable(namespace, document_id, keep)
    barred: set[int] = set()
    if spent:
        numbers = [revision.revision for revision in spent]
        barred = set(await documents.mark_collected(namespace, document_id, numbers))
    known = await documents.revisions(namespace, document_id)
    before = [r for r in known if r.state == "collected" and r.revision not in barred]
    left = [r for r in before[:LOOK_BACK] if await _has_objects(deps.stores.objects, r)]
    going = [*(r for r in spent if r.revision in barred), *left]
    for revision in going:
        await _remove(deps, revision)
    return [revision.revision for revision in going]


async def _remove(deps: Deps, revision: RevisionRecord) -> None:
    stores, revns = deps.stores, [revision.revn]
    await stores.index.remove(revision.namespace, revns)
    await stores.graph.remove(revision.namespace, revns)
    await stores.catalog.chunks.remove(revns)
    await stores.objects.delete_prefix(_prefix(revision))


async def _has_objects(objects: ObjectStore, revision: RevisionRecord) -> bool:
    async for _ in objects.walk(_prefix(revision)):
        return True
    return False


def _prefix(revision: RevisionRecord) -> str:
    return revision_prefix(revision.namespace, revision.document_id, revision.revision)
