"""Settings of the profiler alone."""

import os
from pathlib import Path

from pydantic import Field

from libs.runtime import settings
from libs.runtime.models.settings import Endpoint, endpoint
from libs.runtime.models.use import ModelUse
from libs.runtime.sandbox.limits import Limits
from services.profiler.profile import Bounds


class Settings(settings.Settings):
    """What a look at a file may use, how it is cut, and how many shards go out at once."""

    scratch_dir: Path | None = Field(
        default=None, description="folder of temporary files; below the data folder when not set"
    )
    profiler_slots: int = Field(
        default_factory=lambda: os.cpu_count() or 1, ge=1, description="files looked at in parallel"
    )
    profiler_seconds: float = Field(default=120.0, gt=0, description="longest look at one file")
    profiler_memory_mb: int = Field(default=768, ge=64, description="memory of one look, in MB")
    profiler_preload_delay: float = Field(
        default=1.0,
        ge=0,
        description="seconds after the start at which libraries are imported ahead",
    )
    shard_window: int = Field(
        default=4, ge=1, description="shards of one document that are parsed at the same time"
    )
    shard_over_pages: int = Field(default=200, ge=1, description="pages from which a PDF is cut")
    shard_pages: int = Field(default=100, ge=1, description="pages of one shard")
    shard_scanned_pages: int = Field(
        default=20, ge=1, description="pages of one shard of a PDF that is a scan"
    )
    max_pages: int = Field(default=20_000, ge=1, description="most pages of a PDF")
    max_archive_mb: int = Field(
        default=1024, ge=1, description="most that an office file or archive may hold, unpacked"
    )
    max_megapixels: int = Field(default=120, ge=1, description="largest image")
    model_classify: Endpoint = endpoint(ModelUse.CLASSIFY)

    def limits(self) -> Limits:
        """The bounds of the child that looks."""
        seconds = self.profiler_seconds
        return Limits(
            wall_seconds=seconds,
            stall_seconds=seconds,
            cpu_seconds=max(1, round(seconds)),
            memory_mb=self.profiler_memory_mb,
            file_mb=64,
        )

    def bounds(self) -> Bounds:
        """The bounds of the file."""
        return Bounds(
            self.max_pages,
            self.shard_over_pages,
            self.shard_pages,
            self.max_archive_mb,
            self.max_megapixels,
            self.shard_scanned_pages,
        )

    def scratch(self) -> Path:
        """Where the sandbox keeps its folders."""
        return (self.scratch_dir or self.data_dir / "scratch").absolute() / "profiler"
