"""The indexer's own settings."""

from pydantic import Field

from libs.runtime.settings import Settings as Shared


class Settings(Shared):
    """How many at once, how much is kept."""

    indexer_workers: int = Field(
        default=8,
        ge=1,
        description="revisions that one indexer publishes, and embeds, at the same time",
    )
    indexer_text_mb: float = Field(
        default=32.0,
        gt=0,
        description="text of revisions that are published at the same time, in megabytes of "
        "chunks.json; a larger one is published alone",
    )
    indexer_keep_revisions: int = Field(
        default=2, ge=1, description="published revisions of a document that are kept for rollback"
    )
    indexer_embed_batch: int = Field(
        default=16, ge=1, description="chunks embedded between two looks at a cancel"
    )
    indexer_resweep_seconds: float = Field(
        default=60.0,
        gt=0,
        description="how long after an erasure what came late is swept a second time",
    )
