"""The catalog's tables; the migrations make exactly these. Lists and objects are JSON text.

`revision.revn` is an integer that is never reused. `active` is what readers see: one row
a document with an active revision, all that the active set needs, in one narrow table.
`chunk.place` holds revision and order in one integer (see `places`), so that any handful of
chunks is found by its key alone.
"""

from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    and_,
    bindparam,
)

from libs.runtime.catalog.sql.types import Counter, UtcDateTime

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

namespace = Table(
    "namespace",
    metadata,
    Column("name", String, primary_key=True),
    Column("corpus_version", Counter, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("paused_at", UtcDateTime),
)

api_key = Table(
    "api_key",
    metadata,
    Column("key_id", String, primary_key=True),
    Column("namespace", ForeignKey("namespace.name"), nullable=False, index=True),
    Column("role", String, nullable=False),
    Column("label", String, nullable=False),
    Column("secret_hash", String, nullable=False, unique=True),
    Column("created_at", UtcDateTime, nullable=False),
    Column("revoked_at", UtcDateTime),
)

document = Table(
    "document",
    metadata,
    Column("namespace", ForeignKey("namespace.name"), primary_key=True),
    Column("document_id", String, primary_key=True),
    Column("file_name", String, nullable=False),
    Column("collection", String, nullable=False),
    Column("state", String, nullable=False),
    Column("active_revision", Integer),
    Column("highest_published", Integer, nullable=False),
    Column("last_revision", Integer, nullable=False),
    Column("metadata", Text, nullable=False),
    Column("metadata_at", UtcDateTime),
    Column("inferred", Text, nullable=False),
    Column("erasure_id", String),
    Column("created_at", UtcDateTime, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
)

active = Table(
    "active",
    metadata,
    Column("namespace", String, primary_key=True),
    Column("document_id", String, primary_key=True),
    Column("revn", Counter, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("file_name", String, nullable=False),
    Column("collection", String, nullable=False),
    Column("format", String, nullable=False),
    Column("metadata", Text, nullable=False),
    Column("chunk_count", Integer, nullable=False),
    Column("dense_model", String),
    ForeignKeyConstraint(
        ["namespace", "document_id"], ["document.namespace", "document.document_id"]
    ),
    sqlite_with_rowid=False,
)

revision = Table(
    "revision",
    metadata,
    Column("revn", Counter, primary_key=True, autoincrement=True),
    Column("namespace", String, nullable=False),
    Column("document_id", String, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("state", String, nullable=False),
    Column("job_id", String, nullable=False),
    Column("file_name", String, nullable=False),
    Column("collection", String, nullable=False),
    Column("format", String, nullable=False),
    Column("chunk_count", Integer, nullable=False),
    Column("chunk_digest", String),
    Column("dense_model", String),
    Column("stage_token", String),
    Column("stage_digest", String),
    Column("created_at", UtcDateTime, nullable=False),
    Column("published_at", UtcDateTime),
    Column("source", Text),
    Column("counts", Text, nullable=False),
    Column("inferred", Text, nullable=False),
    Column("artefacts", Text, nullable=False),
    UniqueConstraint("namespace", "document_id", "revision"),
    ForeignKeyConstraint(
        ["namespace", "document_id"], ["document.namespace", "document.document_id"]
    ),
    sqlite_autoincrement=True,
)

job = Table(
    "job",
    metadata,
    Column("job_id", String, primary_key=True),
    Column("namespace", String, nullable=False),
    Column("document_id", String, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("revn", Counter, nullable=False),
    Column("file_name", String, nullable=False),
    Column("media_type", String),
    Column("options", Text, nullable=False),
    Column("state", String, nullable=False),
    Column("stage", String, nullable=False),
    Column("source", Text),
    Column("done", Integer, nullable=False),
    Column("total", Integer, nullable=False),
    Column("unit", String, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("cancel_requested", Boolean, nullable=False),
    Column("error", Text),
    Column("timings", Text, nullable=False),
    Column("announced_subject", String),
    Column("announced_body", Text),
    Column("traceparent", String),
    Column("identity", String),
    Column("last_sequence", Integer, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
    UniqueConstraint("namespace", "identity"),
    ForeignKeyConstraint(
        ["namespace", "document_id"], ["document.namespace", "document.document_id"]
    ),
    Index(None, "namespace", "document_id", "revision"),
    Index(None, "namespace", "job_id"),
    Index(None, "state", "namespace", "revn"),
    Index(None, "state", "updated_at"),
)

job_event = Table(
    "job_event",
    metadata,
    Column("job_id", ForeignKey("job.job_id"), primary_key=True),
    Column("sequence", Integer, primary_key=True),
    Column("event_id", String, nullable=False),
    Column("event", String, nullable=False),
    Column("occurred_at", UtcDateTime, nullable=False),
    Column("data", Text, nullable=False),
    UniqueConstraint("job_id", "event_id"),
)

job_shard = Table(
    "job_shard",
    metadata,
    Column("job_id", ForeignKey("job.job_id"), primary_key=True),
    Column("shard", Integer, primary_key=True),
    Column("rows", Text, nullable=False),
    Column("details", Text, nullable=False),
)

task_failure = Table(
    "task_failure",
    metadata,
    Column("task", String, primary_key=True),
    Column("kind", String, primary_key=True),
    Column("count", Integer, nullable=False),
)

chunk = Table(
    "chunk",
    metadata,
    Column("place", Counter, primary_key=True, autoincrement=False),
    Column("revn", ForeignKey("revision.revn"), nullable=False),
    Column("chunk_id", String, nullable=False),
    Column("type", String, nullable=False),
    Column("content_hash", String, nullable=False),
    Column("embed_hash", String, nullable=False),
    Column("path", Text, nullable=False),
    Column("body", Text, nullable=False),
    UniqueConstraint("revn", "chunk_id"),
    Index(None, "embed_hash", "revn"),
)

section = Table(
    "section",
    metadata,
    Column("revn", ForeignKey("revision.revn"), primary_key=True),
    Column("ord", Integer, primary_key=True),
    Column("parent", Integer),
    Column("section_id", String, nullable=False),
    Column("level", Integer, nullable=False),
    Column("body", Text, nullable=False),
)

vector = Table(
    "vector",
    metadata,
    Column("namespace", String, primary_key=True),
    Column("model", String, primary_key=True),
    Column("content_hash", String, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)

run = Table(
    "run",
    metadata,
    Column("namespace", String, primary_key=True),
    Column("run_id", String, primary_key=True),
    Column("key_id", String, nullable=False),
    Column("mode", String, nullable=False),
    Column("status", String, nullable=False),
    Column("cached", Boolean, nullable=False),
    Column("corpus_version", Counter, nullable=False),
    Column("latency_ms", Float, nullable=False),
    Column("trace_id", String),
    Column("created_at", UtcDateTime, nullable=False, index=True),
    Column("steps", Text, nullable=False),
    Column("trace", Text, nullable=False),
)

hit = Table(
    "hit",
    metadata,
    Column("namespace", String, primary_key=True),
    Column("document_id", String, primary_key=True),
    Column("chunk_id", String, primary_key=True),
    Column("count", Integer, nullable=False),
    sqlite_with_rowid=False,
)

erasure = Table(
    "erasure",
    metadata,
    Column("erasure_id", String, primary_key=True),
    Column("namespace", String, nullable=False),
    Column("document_id", String, nullable=False),
    Column("state", String, nullable=False),
    Column("highest_revision", Integer, nullable=False),
    Column("removed", Text, nullable=False),
    Column("requery_hits", Integer),
    Column("requested_at", UtcDateTime, nullable=False),
    Column("erased_at", UtcDateTime),
    Index(None, "state", "requested_at"),
    Index(None, "namespace", "document_id"),
)


def of_document(table: Table, namespace: Any, document_id: Any) -> ColumnElement[bool]:
    """The rows of one document."""
    return and_(table.c.namespace == namespace, table.c.document_id == document_id)


def this_document(table: Table) -> ColumnElement[bool]:
    """The rows of one document in a statement that is made once: see `document_key`."""
    return of_document(table, bindparam("this_namespace"), bindparam("this_document"))


def document_key(namespace: str, document_id: str) -> dict[str, str]:
    """The parameters of `this_document`."""
    return {"this_namespace": namespace, "this_document": document_id}


def same_document(one: Table, other: Table) -> ColumnElement[bool]:
    """Joins two tables by the document their rows belong to."""
    return and_(one.c.namespace == other.c.namespace, one.c.document_id == other.c.document_id)
