"""What the object store says that there is: documents, and the revisions that are kept."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from libs.contracts.artefacts.document import DocumentFile, RevisionFile
from libs.contracts.faults import Code, WorldFault
from libs.runtime.keys import document_key
from libs.runtime.objects.port import ObjectStore

ALWAYS = ("chunks.json", "doc_nav.json", "manifest.json", "profile.json")
"""Artefacts that every revision has."""


@dataclass(frozen=True)
class Place:
    """A document of the store; `revisions` are the numbers of those that have objects, `filed`
    says whether it has a `document.json`."""

    namespace: str
    document_id: str
    revisions: frozenset[int] = frozenset()
    filed: bool = True


@dataclass(frozen=True)
class Kept:
    """A published revision that is kept, under the number `revn` that the catalog has for it."""

    namespace: str
    document_id: str
    revn: int
    file: RevisionFile


async def places(objects: ObjectStore) -> AsyncIterator[Place]:
    """Every document of the store, by key; one walk over all of it."""
    here, filed = ("", ""), False
    revisions: set[int] = set()
    async for info in objects.walk(""):
        parts = info.key.split("/")
        if len(parts) < 3 or parts[0].startswith("."):
            continue
        if (parts[0], parts[1]) != here:
            if filed or revisions:
                yield Place(*here, frozenset(revisions), filed)
            here, revisions, filed = (parts[0], parts[1]), set(), False
        if parts[2].isdecimal():
            revisions.add(int(parts[2]))
        filed = filed or parts[2:] == ["document.json"]
    if filed or revisions:
        yield Place(*here, frozenset(revisions), filed)


async def document_file_at(objects: ObjectStore, place: Place) -> DocumentFile:
    """The file of a document; no number is given again that has objects.

    Raises `WorldFault(STORE_AWAY)` when the file is another document's.
    """
    data = await objects.get(document_key(place.namespace, place.document_id))
    file = DocumentFile.model_validate_json(data)
    if (file.namespace, file.document_id) != (place.namespace, place.document_id):
        raise WorldFault(Code.STORE_AWAY, "its document.json is of another document")
    named = (one.revision for one in file.revisions)
    last = max([file.last_revision, *place.revisions, *named])
    return file.model_copy(update={"last_revision": last})


async def missing(objects: ObjectStore, file: RevisionFile) -> list[str]:
    """Names of artefacts and of the source that are absent, or not what the file says."""
    named = {**file.artefacts, **({"source": file.source} if file.source else {})}
    lacking = [name for name in ALWAYS if name not in named]
    for name, ref in named.items():
        info = await objects.stat(ref.key)
        if info is None or info.sha256 != ref.sha256:
            lacking.append(name)
    return sorted(lacking)
