"""Every call of the HTTP interface as data: how to ask, and how to read the answer.

The synchronous and the asynchronous client differ only in how they send these.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel, ValidationError

from libs.client.errors import ApiError
from libs.client.upload import Upload
from libs.contracts.api.documents import (
    Accepted,
    DocumentView,
    ErasureReceipt,
    JobView,
    Page,
    RevisionView,
)
from libs.contracts.api.ingest import DocumentMetadata, IngestOptions
from libs.contracts.api.problem import Problem
from libs.contracts.api.search import (
    SearchRequest,
    SearchResponse,
    VerifyAnswer,
    VerifyRequest,
)
from libs.contracts.artefacts import DocNav
from libs.contracts.faults import Code, Who
from libs.contracts.trace import Trace
from libs.contracts.trace.redaction import Redaction

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class Call(Generic[T]):
    """One request. `repeatable` calls are sent again when nobody answered."""

    method: str
    path: str
    read: Callable[[httpx.Response], T]
    params: dict[str, Any] = field(default_factory=dict)
    json: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    upload: Upload | None = None
    repeatable: bool = True


def as_model(model: type[M]) -> Callable[[httpx.Response], M]:
    """Read an answer as this model."""
    return lambda response: model.model_validate_json(response.content)


def nothing(_response: httpx.Response) -> None:
    """Read nothing of an answer."""


def given(**params: Any) -> dict[str, Any]:
    """The parameters that were given."""
    return {name: value for name, value in params.items() if value is not None}


def space(namespace: str, *parts: str | int) -> str:
    """A path below a namespace, every part quoted."""
    return "/".join(("/v1/namespaces", *(quote(str(p), safe="") for p in (namespace, *parts))))


def error_of(response: httpx.Response) -> ApiError:
    """The error of an answer that is not a success, whoever wrote it."""
    try:
        return ApiError(Problem.model_validate_json(response.content))
    except ValidationError:
        who = Who.CALLER if response.status_code < 500 else Who.US
        return ApiError(
            Problem(
                title=response.reason_phrase or "error",
                status=response.status_code,
                detail=f"{response.request.method} {response.request.url.path} answered "
                f"{response.status_code} without a problem document",
                code=Code.INVALID if who is Who.CALLER else Code.INTERNAL,
                who=who,
            )
        )


def ingest(
    namespace: str,
    upload: Upload,
    *,
    document_id: str | None,
    options: IngestOptions | None,
    idempotency_key: str | None,
) -> Call[Accepted]:
    """Send a document; the idempotency key makes it safe to send again."""
    fields = given(
        document_id=document_id,
        options=options.model_dump_json(exclude_defaults=True) if options else None,
    )
    return Call(
        "POST",
        space(namespace, "documents"),
        as_model(Accepted),
        headers={"Idempotency-Key": idempotency_key or uuid.uuid4().hex},
        upload=Upload(upload.path, upload.file_name, fields, upload.on_bytes),
    )


def job(namespace: str, job_id: str) -> Call[JobView]:
    """One job."""
    return Call("GET", space(namespace, "jobs", job_id), as_model(JobView))


def jobs(
    namespace: str, *, state: str | None, cursor: str | None, limit: int | None
) -> Call[Page[JobView]]:
    """Jobs, newest first."""
    params = given(state=state, cursor=cursor, limit=limit)
    return Call("GET", space(namespace, "jobs"), as_model(Page[JobView]), params)


def cancel(namespace: str, job_id: str) -> Call[JobView]:
    """Stop a job."""
    return Call("POST", space(namespace, "jobs", job_id, "cancel"), as_model(JobView))


def events_path(namespace: str, job_id: str) -> str:
    """Where a job's progress is streamed."""
    return space(namespace, "jobs", job_id, "events")


def documents(
    namespace: str, *, collection: str | None, cursor: str | None, limit: int | None
) -> Call[Page[DocumentView]]:
    """Documents of a namespace."""
    params = given(collection=collection, cursor=cursor, limit=limit)
    return Call("GET", space(namespace, "documents"), as_model(Page[DocumentView]), params)


def document(namespace: str, document_id: str) -> Call[DocumentView]:
    """One document."""
    return Call("GET", space(namespace, "documents", document_id), as_model(DocumentView))


def describe(namespace: str, document_id: str, metadata: DocumentMetadata) -> Call[DocumentView]:
    """Change a document's metadata."""
    return Call(
        "PATCH",
        space(namespace, "documents", document_id),
        as_model(DocumentView),
        json=metadata.model_dump(mode="json", exclude_unset=True),
    )


def revisions(
    namespace: str, document_id: str, *, cursor: str | None, limit: int | None
) -> Call[Page[RevisionView]]:
    """Revisions of a document, newest first."""
    path = space(namespace, "documents", document_id, "revisions")
    return Call("GET", path, as_model(Page[RevisionView]), given(cursor=cursor, limit=limit))


def activate(namespace: str, document_id: str, revision: int) -> Call[DocumentView]:
    """Roll a document back or forward to a revision."""
    path = space(namespace, "documents", document_id, "revisions", revision, "activate")
    return Call("POST", path, as_model(DocumentView))


def outline(namespace: str, document_id: str, revision: int | None) -> Call[DocNav]:
    """A document's section tree."""
    path = space(namespace, "documents", document_id, "outline")
    return Call("GET", path, as_model(DocNav), given(revision=revision))


def delete(namespace: str, document_id: str) -> Call[ErasureReceipt]:
    """Hide a document at once and erase it everywhere."""
    return Call("DELETE", space(namespace, "documents", document_id), as_model(ErasureReceipt))


def erasure(namespace: str, erasure_id: str) -> Call[ErasureReceipt]:
    """The receipt of an erasure."""
    return Call("GET", space(namespace, "erasures", erasure_id), as_model(ErasureReceipt))


def search(namespace: str, request: SearchRequest) -> Call[SearchResponse]:
    """Evidence for a query."""
    body = request.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return Call("POST", space(namespace, "search"), as_model(SearchResponse), json=body)


def trace(namespace: str, run_id: str, redact: Redaction | None) -> Call[Trace]:
    """What was done to answer a query."""
    path = space(namespace, "runs", run_id, "trace")
    return Call("GET", path, as_model(Trace), given(redact=redact))


def verify(namespace: str, request: VerifyRequest) -> Call[VerifyAnswer]:
    """Whether a citation still says what it said."""
    body = request.model_dump(mode="json", exclude_none=True)
    return Call("POST", space(namespace, "verify"), as_model(VerifyAnswer), json=body)
