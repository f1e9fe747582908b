"""Settings of the chunker alone."""

from pathlib import Path

from pydantic import Field

from libs.runtime import settings
from libs.runtime.models.settings import Endpoint, endpoint
from libs.runtime.models.use import ModelUse
from services.chunker.cut import Sizes


class Settings(settings.Settings):
    """Chunk sizes are in tokens of the packaged embedder, whose window is 512."""

    chunk_target_tokens: int = Field(
        default=300, ge=16, description="size that text chunks aim at, in model tokens"
    )
    chunk_max_tokens: int = Field(
        default=512, ge=32, description="size that no chunk exceeds with its heading path"
    )
    chunker_workers: int = Field(
        default=2, ge=1, description="documents that one chunker cuts at the same time"
    )
    model_summary: Endpoint = endpoint(ModelUse.SUMMARY)
    model_describe: Endpoint = endpoint(ModelUse.DESCRIBE)
    model_context: Endpoint = endpoint(ModelUse.CONTEXT)
    document_model_calls: int = Field(
        default=200, ge=1, description="model calls of one use for one document"
    )
    document_model_tokens: int = Field(
        default=500_000, ge=1000, description="model tokens of one use for one document"
    )
    chunker_models_at_once: int = Field(
        default=4, ge=1, description="calls of models that one chunker has under way"
    )

    def sizes(self) -> Sizes:
        """The chunk sizes; `ValueError` when the target is over the maximum."""
        return Sizes(self.chunk_target_tokens, self.chunk_max_tokens)

    def models_dir(self) -> Path:
        """Where the tokeniser is kept once it is converted."""
        return self.data_dir.absolute() / "models"
