"""Rows of the catalog as the port's records, and back to JSON."""

from typing import Any

import orjson
from pydantic import BaseModel
from sqlalchemy import Row

from libs.contracts.api.documents import ErasureReceipt
from libs.contracts.api.ingest import DocumentMetadata, IngestOptions
from libs.contracts.api.problem import Problem
from libs.contracts.base import STORED
from libs.contracts.events.base import ArtefactRef
from libs.runtime.catalog.documents import DocumentRecord, RevisionRecord
from libs.runtime.catalog.jobs import JobRecord


def dump(value: Any) -> str:
    """JSON of plain data, keys sorted."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def dump_model(value: BaseModel | None) -> str | None:
    """JSON of a contract; None stays None."""
    return None if value is None else value.model_dump_json()


def load_options(text: str) -> IngestOptions:
    """Options as stored, also by another version that knew more of them or forbade less."""
    return IngestOptions.model_validate_json(text, extra="ignore", context=STORED)


def load_metadata(text: str) -> DocumentMetadata:
    """Metadata as stored, also by another version that knew more of it or forbade less."""
    return DocumentMetadata.model_validate_json(text, extra="ignore", context=STORED)


def load_ref(text: str | None) -> ArtefactRef | None:
    """An artefact as stored."""
    return None if text is None else ArtefactRef.model_validate_json(text)


def dump_refs(refs: dict[str, ArtefactRef]) -> str:
    """Named artefacts as JSON."""
    return dump({name: ref.model_dump() for name, ref in refs.items()})


def job_record(row: Row[Any]) -> JobRecord:
    """A row of `job`."""
    announced = None
    if row.announced_subject is not None:
        announced = (row.announced_subject, row.announced_body)
    return JobRecord(
        job_id=row.job_id,
        namespace=row.namespace,
        document_id=row.document_id,
        revision=row.revision,
        revn=row.revn,
        file_name=row.file_name,
        media_type=row.media_type,
        options=load_options(row.options),
        state=row.state,
        stage=row.stage,
        source=load_ref(row.source),
        done=row.done,
        total=row.total,
        unit=row.unit,
        attempt=row.attempt,
        cancel_requested=row.cancel_requested,
        error=None if row.error is None else Problem.model_validate_json(row.error),
        timings=orjson.loads(row.timings),
        announced=announced,
        traceparent=row.traceparent,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def document_record(row: Row[Any]) -> DocumentRecord:
    """A row of `document`."""
    return DocumentRecord(
        namespace=row.namespace,
        document_id=row.document_id,
        file_name=row.file_name,
        collection=row.collection,
        state=row.state,
        active_revision=row.active_revision,
        highest_published=row.highest_published,
        metadata=load_metadata(row.metadata),
        inferred=orjson.loads(row.inferred),
        created_at=row.created_at,
        updated_at=row.updated_at,
        last_revision=row.last_revision,
        metadata_at=row.metadata_at,
    )


def revision_record(row: Row[Any]) -> RevisionRecord:
    """A row of `revision`."""
    artefacts: dict[str, Any] = orjson.loads(row.artefacts)
    return RevisionRecord(
        namespace=row.namespace,
        document_id=row.document_id,
        revision=row.revision,
        revn=row.revn,
        state=row.state,
        job_id=row.job_id,
        file_name=row.file_name,
        source=load_ref(row.source),
        artefacts={name: ArtefactRef.model_validate(ref) for name, ref in artefacts.items()},
        counts=orjson.loads(row.counts),
        dense_model=row.dense_model,
        created_at=row.created_at,
        published_at=row.published_at,
        collection=row.collection,
    )


def receipt(row: Row[Any]) -> ErasureReceipt:
    """A row of `erasure`."""
    return ErasureReceipt(
        erasure_id=row.erasure_id,
        document_id=row.document_id,
        state=row.state,
        removed=orjson.loads(row.removed),
        requery_hits=row.requery_hits,
        requested_at=row.requested_at,
        erased_at=row.erased_at,
    )
