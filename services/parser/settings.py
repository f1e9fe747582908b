"""Settings of the parser alone."""

import os
from pathlib import Path

from pydantic import Field

from libs.runtime import settings
from libs.runtime.models.settings import Endpoint, endpoint
from libs.runtime.models.use import ModelUse
from libs.runtime.sandbox.limits import Limits


class Settings(settings.Settings):
    """What parsing one shard of an untrusted file may use, and how many are parsed at once."""

    scratch_dir: Path | None = Field(
        default=None, description="folder of temporary files; below the data folder when not set"
    )
    parser_slots: int = Field(
        default_factory=lambda: os.cpu_count() or 1, ge=1, description="shards parsed in parallel"
    )
    parser_picture_slots: int = Field(default=2, ge=1, description="pages drawn in parallel")
    parser_seconds: float = Field(default=900.0, gt=0, description="longest parse of one shard")
    parser_stall_seconds: float = Field(
        default=120.0, gt=0, description="longest parse of one page"
    )
    parser_memory_mb: int = Field(default=1024, ge=128, description="memory of one parse, in MB")
    parser_file_mb: int = Field(
        default=1024, ge=1, description="largest temporary file of one parse, in MB"
    )
    parser_preload_delay: float = Field(
        default=2.0,
        ge=0,
        description="seconds after the start at which libraries are imported ahead",
    )
    document_model_calls: int = Field(
        default=200, ge=1, description="model calls of one use for one document"
    )
    document_model_tokens: int = Field(
        default=500_000, ge=1000, description="model tokens of one use for one document"
    )
    model_hierarchy: Endpoint = endpoint(ModelUse.HIERARCHY)
    model_image: Endpoint = endpoint(ModelUse.IMAGE)
    model_ocr: Endpoint = endpoint(ModelUse.OCR)

    def limits(self) -> Limits:
        """The bounds of a child."""
        return Limits(
            wall_seconds=self.parser_seconds,
            stall_seconds=self.parser_stall_seconds,
            cpu_seconds=max(1, round(self.parser_seconds * (os.cpu_count() or 1))),
            memory_mb=self.parser_memory_mb,
            file_mb=self.parser_file_mb,
        )

    def scratch(self) -> Path:
        """Where the sandbox keeps its folders."""
        return (self.scratch_dir or self.data_dir / "scratch").absolute() / "parser"
