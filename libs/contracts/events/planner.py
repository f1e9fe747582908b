"""What the planner says, off the search path."""

from typing import Any

from libs.contracts.events.base import Event
from libs.contracts.tokens import Namespace, RunId


class RunStep(Event):
    """One append-only step of a run: ids and hashes, never text."""

    kind: str
    inputs: dict[str, Any] = {}
    outputs: dict[str, Any] = {}
    latency_ms: float = 0.0
    tokens: int = 0


class SearchHit(Event):
    """One returned piece of evidence, to be counted."""

    document_id: str
    chunk_id: str


class SearchRan(Event):
    """A query was answered: one writer stores its run, steps, hits and trace in batches."""

    run_id: RunId
    namespace: Namespace
    key_id: str
    mode: str
    status: str
    cached: bool
    corpus_version: int
    latency_ms: float
    trace_id: str | None
    steps: list[RunStep]
    hits: list[SearchHit]
    trace: dict[str, Any]
