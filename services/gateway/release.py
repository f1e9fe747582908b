"""Letting waiting jobs begin, a bounded number for each namespace."""

import contextlib
from collections.abc import Iterator

from libs.contracts.events import DocumentAccepted
from libs.contracts.faults import Code, Fault
from libs.runtime.catalog.jobs import JobRecord
from libs.runtime.tracing import attached
from services.gateway.deps import Deps

FORGOTTEN_SECONDS = 3.0
BATCH = 100


def accepted_event(job: JobRecord) -> DocumentAccepted:
    """The event that starts the pipeline for a job whose source is stored."""
    if job.source is None:
        raise Fault(Code.INTERNAL, f"job {job.job_id} has no source")
    return DocumentAccepted(
        namespace=job.namespace,
        document_id=job.document_id,
        revision=job.revision,
        job_id=job.job_id,
        attempt=job.attempt,
        source=job.source,
        file_name=job.file_name,
        media_type=job.media_type,
        options=job.options,
    )


@contextlib.contextmanager
def trace_of(job: JobRecord) -> Iterator[None]:
    """Act within the trace of the request that brought the job, so that a job is one trace."""
    if job.traceparent is None:
        yield
        return
    with attached({"traceparent": job.traceparent}):
        yield


async def announce_forgotten(deps: Deps) -> None:
    """Announce what was released while the bus or this process went away.

    The message id is that of the first announcement, so one that did go out is not doubled;
    what stays silent for longer is the reconciler's.
    """
    for job in await deps.stores.catalog.jobs.quiet(FORGOTTEN_SECONDS, BATCH):
        silence = (deps.clock() - job.updated_at).total_seconds()
        if job.announced is None and silence < deps.settings.quiet_seconds:
            with trace_of(job):
                await deps.bus.announce(accepted_event(job))


async def release_waiting(deps: Deps) -> None:
    """Release what may begin, and announce each.

    Called after every accept, every shard that was parsed and every end of a job, and now and
    then. A job that was released but not announced is announced later.
    """
    settings = deps.settings
    released = await deps.stores.catalog.jobs.release(
        settings.jobs_per_namespace,
        settings.release_batch,
        shards=deps.window.shards,
        shard_window=settings.shard_window,
    )
    for job in released:
        with trace_of(job):
            await deps.bus.announce(accepted_event(job))
