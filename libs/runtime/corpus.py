"""`document.json`: identity and winners of a document, beside its revisions.

Catalog, search and graph can be rebuilt from these files and the artefacts they name.
"""

from libs.contracts.artefacts.document import DocumentFile, RevisionFile
from libs.runtime.artefacts import canonical_json, save_json
from libs.runtime.catalog.documents import DocumentRecord, RevisionRecord
from libs.runtime.catalog.port import Catalog
from libs.runtime.keys import document_key
from libs.runtime.objects.port import ObjectStore


async def write_document_file(
    catalog: Catalog, objects: ObjectStore, namespace: str, document_id: str
) -> None:
    """Store what the catalog knows of a document now; nothing when it is hidden or unknown."""
    made = await _file_now(catalog, namespace, document_id)
    if made is not None:
        await save_json(objects, document_key(namespace, document_id), made)


async def follow_document(
    catalog: Catalog, objects: ObjectStore, namespace: str, document_id: str
) -> bool:
    """Write the file of a document unless it says what the catalog knows; whether it was
    written."""
    made = await _file_now(catalog, namespace, document_id)
    if made is None:
        return False
    key = document_key(namespace, document_id)
    try:
        if await objects.get(key) == canonical_json(made):
            return False
    except KeyError:
        pass
    await save_json(objects, key, made)
    return True


async def _file_now(catalog: Catalog, namespace: str, document_id: str) -> DocumentFile | None:
    record = await catalog.documents.get(namespace, document_id)
    if record is None or record.state in ("erasing", "erased"):
        return None
    return document_file(record, await catalog.documents.revisions(namespace, document_id))


def document_file(record: DocumentRecord, revisions: list[RevisionRecord]) -> DocumentFile:
    """The file of a document: its published revisions that are kept, newest first."""
    return DocumentFile(
        namespace=record.namespace,
        document_id=record.document_id,
        file_name=record.file_name,
        collection=record.collection,
        active_revision=record.active_revision,
        highest_published=record.highest_published,
        metadata=record.metadata,
        created_at=record.created_at,
        revisions=[_revision(r) for r in revisions if r.state == "published"],
        last_revision=record.last_revision,
        metadata_at=record.metadata_at,
        updated_at=record.updated_at,
    )


def _revision(record: RevisionRecord) -> RevisionFile:
    return RevisionFile(
        revision=record.revision,
        job_id=record.job_id,
        file_name=record.file_name,
        source=record.source,
        artefacts=record.artefacts,
        counts=record.counts,
        created_at=record.created_at,
        published_at=record.published_at,
        revn=record.revn,
        collection=record.collection,
    )
