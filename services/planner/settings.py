"""The planner's own settings."""

from pydantic import Field

from libs.runtime.settings import Settings as Shared


class Settings(Shared):
    """Cache and recording."""

    planner_cache: bool = Field(default=True, description="answer repeated queries from the cache")
    planner_record_seconds: float = Field(
        default=0.1, gt=0, description="how long runs are gathered before one write"
    )
    planner_run_days: float = Field(
        default=30.0, gt=0, description="days after which recorded runs are removed"
    )
