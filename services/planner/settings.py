"""The planner's own settings."""

from pathlib import Path

from pydantic import Field

from libs.runtime.models.settings import Endpoint, endpoint
from libs.runtime.models.use import ModelUse
from libs.runtime.ranking import Ranking


class Settings(Ranking):
    """Cache, recording, and how a query is read."""

    planner_cache: bool = Field(default=True, description="answer repeated queries from the cache")
    planner_record_seconds: float = Field(
        default=0.1, gt=0, description="how long runs are gathered before one write"
    )
    planner_run_days: float = Field(
        default=30.0, gt=0, description="days after which recorded runs are removed"
    )
    planner_analysis: bool = Field(
        default=True, description="let what a query states filter and rank its results"
    )
    planner_model_seconds: float = Field(
        default=2.0, gt=0, description="the longest that a query waits for a model to read it"
    )
    context_resolution_threshold: float = Field(
        default=0.6,
        ge=0,
        le=1,
        description="least confidence at which a follow-up is resolved instead of asked back",
    )
    planner_taxonomy: Path | None = Field(
        default=None, description="file of domains and document types in place of the packaged one"
    )
    model_analyze: Endpoint = endpoint(ModelUse.ANALYZE)
    model_plan: Endpoint = endpoint(ModelUse.PLAN)
    model_rewrite: Endpoint = endpoint(ModelUse.REWRITE)
    model_hyde: Endpoint = endpoint(ModelUse.HYDE)

    def models_dir(self) -> Path:
        """Where the tokeniser is kept once it is converted."""
        return self.data_dir.absolute() / "models"
