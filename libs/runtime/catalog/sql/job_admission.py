"""How a job begins: admission, its source, and its release to the stages."""

import hashlib
from typing import Any

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import Connection, Row, bindparam, insert, select, update

from libs.contracts.api.ingest import IngestOptions
from libs.contracts.events.base import ArtefactRef, now
from libs.contracts.faults import CallerFault, Code
from libs.contracts.tokens import DocumentId, Namespace, new_id, safe_file_name
from libs.runtime.catalog.jobs import Admission, Admitted, JobRecord
from libs.runtime.catalog.sql.keys import ensure_namespace
from libs.runtime.catalog.sql.metadata import overlaid
from libs.runtime.catalog.sql.records import (
    dump_model,
    job_record,
    load_metadata,
    load_options,
    load_ref,
)
from libs.runtime.catalog.sql.schema import (
    document,
    document_key,
    job,
    of_document,
    revision,
    same_document,
    this_document,
)

_namespaces: TypeAdapter[str] = TypeAdapter(Namespace)
_documents: TypeAdapter[str] = TypeAdapter(DocumentId)
_KNOWN = select(job).where(
    job.c.namespace == bindparam("namespace"), job.c.identity == bindparam("identity")
)
_DOCUMENT = select(document).where(this_document(document))
_ADD_DOCUMENT = insert(document)
_CHANGE_DOCUMENT = update(document).where(this_document(document))
_STORE_SOURCE = (
    update(job)
    .where(job.c.job_id == bindparam("this"), job.c.state == "waiting", job.c.source.is_(None))
    .returning(job)
)
_CHANGE_REVISION = update(revision).where(revision.c.revn == bindparam("this"))
_ADD_REVISION = insert(revision).returning(revision.c.revn)
_ADD_JOB = insert(job).returning(job)


def admit(connection: Connection, admission: Admission) -> Admitted:
    """See `JobStore.admit`."""
    document_id = _checked(admission)
    identity = None
    if admission.identity is not None:
        identity = identity_hash(admission.identity)
        before = known(connection, admission.namespace, identity)
        if before is not None:
            _refuse_hidden(_document(connection, admission.namespace, before.document_id))
            return Admitted(job_record(before), "replayed")
    ensure_namespace(connection, admission.namespace)
    number = _next_revision(connection, admission, document_id)
    return Admitted(_insert(connection, admission, document_id, number, identity), "new")


def identity_hash(identity: str) -> str:
    """What is stored of an outside identity: bounded, and empty of names."""
    return hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()


def known(connection: Connection, namespace: str, identity: str) -> Row[Any] | None:
    """The job with this identity hash."""
    return connection.execute(_KNOWN, {"namespace": namespace, "identity": identity}).first()


def _checked(admission: Admission) -> str:
    try:
        _namespaces.validate_python(admission.namespace)
        return _documents.validate_python(admission.document_id or new_id("doc"))
    except ValidationError as error:
        detail = "a namespace or document id may hold letters, digits and inner hyphens only"
        raise CallerFault(Code.INVALID, detail, 422) from error


def _document(connection: Connection, namespace: str, document_id: str) -> Row[Any] | None:
    return connection.execute(_DOCUMENT, document_key(namespace, document_id)).first()


def _refuse_hidden(row: Row[Any] | None) -> None:
    if row is not None and row.state == "erasing":
        detail = f"the document {row.document_id} is being erased: send it again once that is done"
        raise CallerFault(Code.CONFLICT, detail, 409)


def _next_revision(connection: Connection, admission: Admission, document_id: str) -> int:
    """The number for the new revision; makes the document, or begins its next life.

    A document that readers see keeps its name and collection until the flip.
    """
    moment = now()
    row = _document(connection, admission.namespace, document_id)
    _refuse_hidden(row)
    stated = admission.options.metadata
    pending = {
        "file_name": safe_file_name(admission.file_name),
        "collection": admission.options.collection,
        "state": "pending",
        "updated_at": moment,
    }
    if row is None or row.state == "erased":
        pending |= {
            "highest_published": 0,
            "last_revision": 1 if row is None else row.last_revision + 1,
            "metadata": dump_model(stated),
            "metadata_at": None,
            "inferred": "{}",
            "erasure_id": None,
            "created_at": moment,
        }
    elif row.highest_published == 0:
        merged = overlaid(load_metadata(row.metadata), stated)
        pending |= {
            "last_revision": row.last_revision + 1,
            "metadata": dump_model(merged),
        }
    else:
        pending = {"last_revision": row.last_revision + 1, "updated_at": moment}
    if row is None:
        key = {"namespace": admission.namespace, "document_id": document_id}
        connection.execute(_ADD_DOCUMENT, key | pending)
    else:
        this = document_key(admission.namespace, document_id)
        connection.execute(_CHANGE_DOCUMENT, this | pending)
    return int(str(pending["last_revision"]))


def _insert(
    connection: Connection,
    admission: Admission,
    document_id: str,
    number: int,
    identity: str | None,
) -> JobRecord:
    moment = now()
    job_id = new_id("job")
    shared = {
        "namespace": admission.namespace,
        "document_id": document_id,
        "revision": number,
        "job_id": job_id,
        "file_name": safe_file_name(admission.file_name),
        "created_at": moment,
    }
    fresh = {
        **shared,
        "state": "accepted",
        "collection": admission.options.collection,
        "format": "",
        "chunk_count": 0,
        "counts": "{}",
        "inferred": "{}",
        "artefacts": "{}",
    }
    waiting = {
        **shared,
        "revn": connection.execute(_ADD_REVISION, fresh).scalar_one(),
        "media_type": admission.media_type,
        "options": dump_model(admission.options),
        "state": "waiting",
        "stage": "gateway",
        "done": 0,
        "total": 0,
        "unit": "stage",
        "attempt": 1,
        "cancel_requested": False,
        "timings": "{}",
        "traceparent": admission.traceparent,
        "identity": identity,
        "last_sequence": 0,
        "updated_at": moment,
    }
    return job_record(connection.execute(_ADD_JOB, waiting).one())


def source_stored(connection: Connection, job_id: str, source: ArtefactRef) -> JobRecord:
    """See `JobStore.source_stored`."""
    text = dump_model(source)
    stored = connection.execute(
        _STORE_SOURCE, {"this": job_id, "source": text, "updated_at": now()}
    ).first()
    if stored is not None:
        connection.execute(_CHANGE_REVISION, {"this": stored.revn, "source": text})
        return job_record(stored)
    row = connection.execute(select(job).where(job.c.job_id == job_id)).first()
    if row is None:
        raise CallerFault(Code.NOT_FOUND, f"there is no job {job_id}", 404)
    return job_record(row)


def unchanged(
    connection: Connection, namespace: str, document_id: str, sha256: str, options: IngestOptions
) -> JobRecord | None:
    """See `JobStore.unchanged`: the newest revision is the newest whose source is known."""
    row = connection.execute(
        select(job, document.c.active_revision)
        .join(document, same_document(document, job))
        .where(
            of_document(job, namespace, document_id),
            job.c.source.is_not(None),
            document.c.state.not_in(("erasing", "erased")),
        )
        .order_by(job.c.revision.desc())
        .limit(1)
    ).first()
    if row is None or load_options(row.options) != options:
        return None
    source = load_ref(row.source)
    wanted = row.state in ("waiting", "running") or (
        row.state == "published" and row.active_revision == row.revision
    )
    equal = source is not None and source.sha256 == sha256
    return job_record(row) if wanted and equal and not row.cancel_requested else None
