"""The first schema."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Column

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

COUNTER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "erasure",
        Column("erasure_id", sa.String(), nullable=False),
        Column("namespace", sa.String(), nullable=False),
        Column("document_id", sa.String(), nullable=False),
        Column("state", sa.String(), nullable=False),
        Column("highest_revision", sa.Integer(), nullable=False),
        Column("removed", sa.Text(), nullable=False),
        Column("requery_hits", sa.Integer()),
        Column("requested_at", TIME, nullable=False),
        Column("erased_at", TIME),
        sa.PrimaryKeyConstraint("erasure_id", name=op.f("pk_erasure")),
    )
    op.create_index(
        op.f("ix_erasure_namespace_document_id"), "erasure", ["namespace", "document_id"]
    )
    op.create_index(op.f("ix_erasure_state_requested_at"), "erasure", ["state", "requested_at"])
    op.create_table(
        "hit",
        Column("namespace", sa.String(), nullable=False),
        Column("document_id", sa.String(), nullable=False),
        Column("chunk_id", sa.String(), nullable=False),
        Column("count", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("namespace", "document_id", "chunk_id", name=op.f("pk_hit")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "namespace",
        Column("name", sa.String(), nullable=False),
        Column("corpus_version", COUNTER, nullable=False),
        Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_namespace")),
    )
    op.create_table(
        "run",
        Column("namespace", sa.String(), nullable=False),
        Column("run_id", sa.String(), nullable=False),
        Column("key_id", sa.String(), nullable=False),
        Column("mode", sa.String(), nullable=False),
        Column("status", sa.String(), nullable=False),
        Column("cached", sa.Boolean(), nullable=False),
        Column("corpus_version", COUNTER, nullable=False),
        Column("latency_ms", sa.Float(), nullable=False),
        Column("trace_id", sa.String()),
        Column("created_at", TIME, nullable=False),
        Column("steps", sa.Text(), nullable=False),
        Column("trace", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("namespace", "run_id", name=op.f("pk_run")),
    )
    op.create_index(op.f("ix_run_created_at"), "run", ["created_at"])
    op.create_table(
        "task_failure",
        Column("task", sa.String(), nullable=False),
        Column("kind", sa.String(), nullable=False),
        Column("count", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("task", "kind", name=op.f("pk_task_failure")),
    )
    op.create_table(
        "vector",
        Column("namespace", sa.String(), nullable=False),
        Column("model", sa.String(), nullable=False),
        Column("content_hash", sa.String(), nullable=False),
        Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("namespace", "model", "content_hash", name=op.f("pk_vector")),
    )
    op.create_table(
        "api_key",
        Column("key_id", sa.String(), nullable=False),
        Column("namespace", sa.String(), nullable=False),
        Column("role", sa.String(), nullable=False),
        Column("label", sa.String(), nullable=False),
        Column("secret_hash", sa.String(), nullable=False),
        Column("created_at", TIME, nullable=False),
        Column("revoked_at", TIME),
        sa.ForeignKeyConstraint(
            ["namespace"], ["namespace.name"], name=op.f("fk_api_key_namespace")
        ),
        sa.PrimaryKeyConstraint("key_id", name=op.f("pk_api_key")),
        sa.UniqueConstraint("secret_hash", name=op.f("uq_api_key_secret_hash")),
    )
    op.create_index(op.f("ix_api_key_namespace"), "api_key", ["namespace"])
    op.create_table(
        "document",
        Column("namespace", sa.String(), nullable=False),
        Column("document_id", sa.String(), nullable=False),
        Column("file_name", sa.String(), nullable=False),
        Column("collection", sa.String(), nullable=False),
        Column("state", sa.String(), nullable=False),
        Column("active_revision", sa.Integer()),
        Column("highest_published", sa.Integer(), nullable=False),
        Column("last_revision", sa.Integer(), nullable=False),
        Column("metadata", sa.Text(), nullable=False),
        Column("metadata_at", TIME),
        Column("inferred", sa.Text(), nullable=False),
        Column("erasure_id", sa.String()),
        Column("created_at", TIME, nullable=False),
        Column("updated_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["namespace"], ["namespace.name"], name=op.f("fk_document_namespace")
        ),
        sa.PrimaryKeyConstraint("namespace", "document_id", name=op.f("pk_document")),
    )
    op.create_table(
        "active",
        Column("namespace", sa.String(), nullable=False),
        Column("document_id", sa.String(), nullable=False),
        Column("revn", COUNTER, nullable=False),
        Column("revision", sa.Integer(), nullable=False),
        Column("file_name", sa.String(), nullable=False),
        Column("collection", sa.String(), nullable=False),
        Column("format", sa.String(), nullable=False),
        Column("metadata", sa.Text(), nullable=False),
        Column("chunk_count", sa.Integer(), nullable=False),
        Column("dense_model", sa.String()),
        sa.ForeignKeyConstraint(
            ["namespace", "document_id"],
            ["document.namespace", "document.document_id"],
            name=op.f("fk_active_namespace_document_id"),
        ),
        sa.PrimaryKeyConstraint("namespace", "document_id", name=op.f("pk_active")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "job",
        Column("job_id", sa.String(), nullable=False),
        Column("namespace", sa.String(), nullable=False),
        Column("document_id", sa.String(), nullable=False),
        Column("revision", sa.Integer(), nullable=False),
        Column("revn", COUNTER, nullable=False),
        Column("file_name", sa.String(), nullable=False),
        Column("media_type", sa.String()),
        Column("options", sa.Text(), nullable=False),
        Column("state", sa.String(), nullable=False),
        Column("stage", sa.String(), nullable=False),
        Column("source", sa.Text()),
        Column("done", sa.Integer(), nullable=False),
        Column("total", sa.Integer(), nullable=False),
        Column("unit", sa.String(), nullable=False),
        Column("attempt", sa.Integer(), nullable=False),
        Column("cancel_requested", sa.Boolean(), nullable=False),
        Column("error", sa.Text()),
        Column("timings", sa.Text(), nullable=False),
        Column("announced_subject", sa.String()),
        Column("announced_body", sa.Text()),
        Column("traceparent", sa.String()),
        Column("identity", sa.String()),
        Column("last_sequence", sa.Integer(), nullable=False),
        Column("created_at", TIME, nullable=False),
        Column("updated_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["namespace", "document_id"],
            ["document.namespace", "document.document_id"],
            name=op.f("fk_job_namespace_document_id"),
        ),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_job")),
        sa.UniqueConstraint("namespace", "identity", name=op.f("uq_job_namespace_identity")),
    )
    op.create_index(
        op.f("ix_job_namespace_document_id_revision"),
        "job",
        ["namespace", "document_id", "revision"],
    )
    op.create_index(op.f("ix_job_namespace_job_id"), "job", ["namespace", "job_id"])
    op.create_index(op.f("ix_job_state_namespace_revn"), "job", ["state", "namespace", "revn"])
    op.create_index(op.f("ix_job_state_updated_at"), "job", ["state", "updated_at"])
    op.create_table(
        "revision",
        Column("revn", COUNTER, autoincrement=True, nullable=False),
        Column("namespace", sa.String(), nullable=False),
        Column("document_id", sa.String(), nullable=False),
        Column("revision", sa.Integer(), nullable=False),
        Column("state", sa.String(), nullable=False),
        Column("job_id", sa.String(), nullable=False),
        Column("file_name", sa.String(), nullable=False),
        Column("collection", sa.String(), nullable=False),
        Column("format", sa.String(), nullable=False),
        Column("chunk_count", sa.Integer(), nullable=False),
        Column("chunk_digest", sa.String()),
        Column("dense_model", sa.String()),
        Column("stage_token", sa.String()),
        Column("stage_digest", sa.String()),
        Column("created_at", TIME, nullable=False),
        Column("published_at", TIME),
        Column("source", sa.Text()),
        Column("counts", sa.Text(), nullable=False),
        Column("inferred", sa.Text(), nullable=False),
        Column("artefacts", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["namespace", "document_id"],
            ["document.namespace", "document.document_id"],
            name=op.f("fk_revision_namespace_document_id"),
        ),
        sa.PrimaryKeyConstraint("revn", name=op.f("pk_revision")),
        sa.UniqueConstraint(
            "namespace",
            "document_id",
            "revision",
            name=op.f("uq_revision_namespace_document_id_revision"),
        ),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "chunk",
        Column("place", COUNTER, autoincrement=False, nullable=False),
        Column("revn", COUNTER, nullable=False),
        Column("chunk_id", sa.String(), nullable=False),
        Column("type", sa.String(), nullable=False),
        Column("content_hash", sa.String(), nullable=False),
        Column("embed_hash", sa.String(), nullable=False),
        Column("path", sa.Text(), nullable=False),
        Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["revn"], ["revision.revn"], name=op.f("fk_chunk_revn")),
        sa.PrimaryKeyConstraint("place", name=op.f("pk_chunk")),
        sa.UniqueConstraint("revn", "chunk_id", name=op.f("uq_chunk_revn_chunk_id")),
    )
    op.create_index(op.f("ix_chunk_embed_hash_revn"), "chunk", ["embed_hash", "revn"])
    op.create_table(
        "job_event",
        Column("job_id", sa.String(), nullable=False),
        Column("sequence", sa.Integer(), nullable=False),
        Column("event_id", sa.String(), nullable=False),
        Column("event", sa.String(), nullable=False),
        Column("occurred_at", TIME, nullable=False),
        Column("data", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["job.job_id"], name=op.f("fk_job_event_job_id")),
        sa.PrimaryKeyConstraint("job_id", "sequence", name=op.f("pk_job_event")),
        sa.UniqueConstraint("job_id", "event_id", name=op.f("uq_job_event_job_id_event_id")),
    )
    op.create_table(
        "job_shard",
        Column("job_id", sa.String(), nullable=False),
        Column("shard", sa.Integer(), nullable=False),
        Column("rows", sa.Text(), nullable=False),
        Column("details", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["job.job_id"], name=op.f("fk_job_shard_job_id")),
        sa.PrimaryKeyConstraint("job_id", "shard", name=op.f("pk_job_shard")),
    )
    op.create_table(
        "section",
        Column("revn", COUNTER, nullable=False),
        Column("ord", sa.Integer(), nullable=False),
        Column("parent", sa.Integer()),
        Column("section_id", sa.String(), nullable=False),
        Column("level", sa.Integer(), nullable=False),
        Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["revn"], ["revision.revn"], name=op.f("fk_section_revn")),
        sa.PrimaryKeyConstraint("revn", "ord", name=op.f("pk_section")),
    )


def downgrade() -> None:
    for table in (
        "section",
        "job_shard",
        "job_event",
        "chunk",
        "revision",
        "job",
        "active",
        "document",
        "api_key",
        "vector",
        "task_failure",
        "run",
        "namespace",
        "hit",
        "erasure",
    ):
        op.drop_table(table)
