"""Jobs: state, history as server-sent events, cancel."""

from typing import Annotated

from fastapi import APIRouter, Header, Query
from starlette.responses import Response, StreamingResponse

from libs.contracts.api.documents import JobState, JobView, Page
from libs.runtime.catalog.jobs import JobRecord
from services.gateway.cancel import cancel_job
from services.gateway.deps import Deps
from services.gateway.http.errors import not_found
from services.gateway.http.guard import GuardedRoute, needs
from services.gateway.http.params import Cursor, DepsDep, Id, Limit, Namespaced, reply
from services.gateway.http.sse import event_stream, nothing_to_say
from services.gateway.http.views import job_view

MAX_SEQUENCE = 2**63 - 1

router = APIRouter(prefix="/v1/namespaces/{ns}/jobs", tags=["jobs"], route_class=GuardedRoute)


@router.get("", response_model=Page[JobView], openapi_extra=needs("reader"))
async def list_jobs(
    ns: Namespaced,
    deps: DepsDep,
    cursor: Cursor = None,
    limit: Limit = 50,
    state: Annotated[JobState | None, Query()] = None,
) -> Response:
    """Jobs, newest first."""
    found = await deps.stores.catalog.jobs.select(ns, state=state, before=cursor, limit=limit + 1)
    more = found[limit - 1].job_id if len(found) > limit else None
    return reply(Page[JobView](items=[job_view(j) for j in found[:limit]], next_cursor=more))


@router.get("/{job_id}", response_model=JobView, openapi_extra=needs("reader"))
async def get_job(ns: Namespaced, job_id: Id, deps: DepsDep) -> Response:
    """One job: state, stage, progress, error, timings."""
    return reply(job_view(await _job(deps, ns, job_id)))


@router.get(
    "/{job_id}/events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}}},
    openapi_extra=needs("reader"),
)
async def job_events(
    ns: Namespaced,
    job_id: Id,
    deps: DepsDep,
    last_event_id: Annotated[str | None, Header(max_length=20)] = None,
) -> Response:
    """The job's history, then what happens, until it ends; resumable by Last-Event-ID."""
    job = await _job(deps, ns, job_id)
    known = bool(last_event_id and last_event_id.isdecimal())
    after = min(int(last_event_id or 0), MAX_SEQUENCE) if known else 0
    if await nothing_to_say(deps, job, after):
        return Response(status_code=204)
    return StreamingResponse(event_stream(deps, job, after), media_type="text/event-stream")


@router.post("/{job_id}/cancel", response_model=JobView, openapi_extra=needs("writer"))
async def cancel(ns: Namespaced, job_id: Id, deps: DepsDep) -> Response:
    """Stop a job: a waiting one at once, a running one within two seconds."""
    job = await cancel_job(deps, ns, job_id)
    if job is None:
        raise not_found("the job")
    return reply(job_view(job))


async def _job(deps: Deps, namespace: str, job_id: str) -> JobRecord:
    job = await deps.stores.catalog.jobs.get(namespace, job_id)
    if job is None:
        raise not_found("the job")
    return job
