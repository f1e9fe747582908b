"""A namespace whose waiting jobs are held back."""

from alembic import op
from sqlalchemy import Column

from libs.runtime.catalog.sql.types import UtcDateTime

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("namespace", Column("paused_at", UtcDateTime()))


def downgrade() -> None:
    op.drop_column("namespace", "paused_at")
