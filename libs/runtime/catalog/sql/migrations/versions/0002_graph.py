"""The graph of keyword overlap."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Column

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

COUNTER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "graph_edge",
        Column("revn_a", COUNTER, autoincrement=False, nullable=False),
        Column("revn_b", COUNTER, autoincrement=False, nullable=False),
        Column("namespace", sa.String(), nullable=False),
        Column("score", sa.Float(), nullable=False),
        Column("shared", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("revn_a", "revn_b", "namespace", name=op.f("pk_graph_edge")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_graph_edge_revn_b"), "graph_edge", ["revn_b"])
    op.create_table(
        "graph_keyword",
        Column("namespace", sa.String(), nullable=False),
        Column("keyword", sa.String(), nullable=False),
        Column("revn", COUNTER, autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("namespace", "keyword", "revn", name=op.f("pk_graph_keyword")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "graph_node",
        Column("namespace", sa.String(), nullable=False),
        Column("revn", COUNTER, autoincrement=False, nullable=False),
        Column("document_id", sa.String(), nullable=False),
        Column("keywords", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("namespace", "revn", name=op.f("pk_graph_node")),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    for table in ("graph_node", "graph_keyword", "graph_edge"):
        op.drop_table(table)
