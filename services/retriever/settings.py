"""The retriever's own settings."""

from pydantic import Field

from libs.runtime.ranking import Ranking


class Settings(Ranking):
    """How much is searched at once, beside how results are ranked."""

    retriever_searches: int = Field(
        default=8, ge=1, le=256, description="searches that run at once; their scans are shared"
    )
    retriever_queue: int = Field(
        default=64, ge=0, le=10_000, description="searches that wait; one beyond gets a 503"
    )
