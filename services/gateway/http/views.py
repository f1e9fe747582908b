"""Records of the catalog as the interface shows them."""

from libs.contracts.api.documents import DocumentView, JobView, KeyView, Progress, RevisionView
from libs.runtime.catalog.documents import DocumentRecord, RevisionRecord
from libs.runtime.catalog.jobs import JobRecord
from libs.runtime.catalog.keys import KeyRecord


def job_view(job: JobRecord) -> JobView:
    """A job."""
    return JobView(
        job_id=job.job_id,
        document_id=job.document_id,
        revision=job.revision,
        file_name=job.file_name,
        state=job.state,
        stage=job.stage,
        progress=Progress(done=job.done, total=job.total, unit=job.unit),
        error=job.error,
        timings=job.timings,
        created_at=job.created_at,
        updated_at=job.updated_at,
    )


def document_view(document: DocumentRecord, active: RevisionRecord | None) -> DocumentView:
    """A document with the counts of its active revision."""
    return DocumentView(
        document_id=document.document_id,
        file_name=document.file_name,
        collection=document.collection,
        state=document.state,
        active_revision=document.active_revision,
        metadata=document.metadata,
        inferred=document.inferred,
        counts=active.counts if active else {},
        dense_coverage=1.0 if active and active.dense_model else 0.0,
        created_at=document.created_at,
        updated_at=document.updated_at,
    )


def revision_view(revision: RevisionRecord, active: int | None) -> RevisionView:
    """A revision; a source that has not come yet has no hash and no size."""
    return RevisionView(
        revision=revision.revision,
        state=revision.state,
        active=revision.revision == active,
        job_id=revision.job_id,
        sha256=revision.source.sha256 if revision.source else "",
        size=revision.source.size if revision.source else 0,
        counts=revision.counts,
        created_at=revision.created_at,
        published_at=revision.published_at,
    )


def key_view(key: KeyRecord, secret: str | None = None) -> KeyView:
    """A key; its secret only when it was made in this request."""
    return KeyView(
        key_id=key.key_id,
        namespace=key.namespace,
        role=key.role,
        label=key.label,
        created_at=key.created_at,
        revoked_at=key.revoked_at,
        secret=secret,
    )
