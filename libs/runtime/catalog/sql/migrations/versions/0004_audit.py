"""The audit log, append-only."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Column

from libs.runtime.catalog.sql.audit_schema import APPEND_ONLY
from libs.runtime.catalog.sql.types import UtcDateTime

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "audit",
        Column("audit_id", sa.String(), nullable=False),
        Column("at", UtcDateTime(), nullable=False),
        Column("key_id", sa.String(), nullable=False),
        Column("role", sa.String(), nullable=False),
        Column("namespace", sa.String()),
        Column("action", sa.String(), nullable=False),
        Column("target", sa.String(), nullable=False),
        Column("detail", sa.Text(), nullable=False),
        Column("reason", sa.Text()),
        Column("trace_id", sa.String()),
        sa.PrimaryKeyConstraint("audit_id", name=op.f("pk_audit")),
    )
    op.create_index(op.f("ix_audit_namespace_audit_id"), "audit", ["namespace", "audit_id"])
    for statement in APPEND_ONLY[op.get_bind().dialect.name]:
        op.execute(statement)


def downgrade() -> None:
    op.drop_table("audit")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION audit_append_only")
