"""Runs and their traces: the append-only record of queries."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import JSONResponse, Response

from libs.contracts.base import Contract
from libs.contracts.trace.redaction import Redaction
from libs.contracts.trace.redaction import redact as redacted
from libs.contracts.trace.v1 import Trace
from libs.runtime.catalog.runs import RunRecord
from services.gateway.deps import Deps
from services.gateway.http.errors import not_found
from services.gateway.http.guard import Caller, GuardedRoute, Principal, needs
from services.gateway.http.params import DepsDep, Id, Namespaced, reply

router = APIRouter(prefix="/v1/namespaces/{ns}/runs", tags=["search"], route_class=GuardedRoute)
Redact = Annotated[
    Redaction | None,
    Query(description="`doc_ids` masks document ids, `all` also names and texts"),
]


class RunView(Contract):
    """One answered query: what was done, in ids and hashes. `latency_ms` in milliseconds."""

    run_id: str
    mode: str
    status: str
    cached: bool
    corpus_version: int
    latency_ms: float
    trace_id: str | None
    steps: list[dict[str, Any]]
    created_at: str


@router.get("/{run_id}", response_model=RunView, openapi_extra=needs("reader"))
async def get_run(ns: Namespaced, run_id: Id, caller: Caller, deps: DepsDep) -> Response:
    """A run, for the key that asked; another key's is not found."""
    run = await _own(deps, ns, run_id, caller)
    return reply(
        RunView(
            run_id=run.run_id,
            mode=run.mode,
            status=run.status,
            cached=run.cached,
            corpus_version=run.corpus_version,
            latency_ms=run.latency_ms,
            trace_id=run.trace_id,
            steps=run.steps,
            created_at=run.created_at.isoformat(),
        )
    )


@router.get("/{run_id}/trace", response_model=Trace, openapi_extra=needs("reader"))
async def get_trace(
    ns: Namespaced, run_id: Id, caller: Caller, deps: DepsDep, redact: Redact = None
) -> Response:
    """The trace of a run, schema version 1, for the key that asked: whole, or without the
    names, texts and document ids in it, so that it may be passed on."""
    trace = (await _own(deps, ns, run_id, caller)).trace
    return JSONResponse(trace if redact is None else redacted(trace, redact))


async def _own(deps: Deps, namespace: str, run_id: str, caller: Principal) -> RunRecord:
    run = await deps.stores.catalog.runs.get(namespace, run_id)
    if run is None or run.key_id != caller.key_id:
        raise not_found("the run")
    return run
