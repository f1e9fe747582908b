"""Runs, steps, hits: append-only, written in batches off the search path."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from libs.contracts.events.planner import SearchRan


@dataclass(frozen=True)
class RunRecord:
    """One stored run; only the key that ran it may read the unredacted trace."""

    run_id: str
    namespace: str
    key_id: str
    mode: str
    status: str
    cached: bool
    corpus_version: int
    latency_ms: float
    trace_id: str | None
    steps: list[dict[str, Any]]
    trace: dict[str, Any]
    created_at: datetime


class RunStore(Protocol):
    """Idempotent by run id."""

    async def append(self, runs: list[SearchRan]) -> int:
        """Store runs and count their hits; returns how many were new."""
        ...

    async def get(self, namespace: str, run_id: str) -> RunRecord | None:
        """The run, within its namespace."""
        ...

    async def hits(self, namespace: str, document_id: str) -> dict[str, int]:
        """How often each chunk of a document was returned."""
        ...

    async def remove_document(self, namespace: str, document_id: str) -> int:
        """Forget a document's hits, and every mention of it in runs and their traces."""
        ...

    async def expire(self, older_than: datetime) -> int:
        """Remove runs older than this; returns how many."""
        ...
