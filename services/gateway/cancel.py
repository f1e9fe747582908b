"""Stopping a job: remembered in the catalog, said on the bus, final for a flip."""

import contextlib

from libs.contracts.events import CancelJob
from libs.contracts.faults import Code, StaleFault, WorldFault
from libs.contracts.subjects import CONTROL_CANCEL
from libs.runtime.catalog.jobs import JobRecord
from services.gateway.deps import Deps
from services.gateway.ledger import outcome_of
from services.gateway.outcomes import announce_outcome
from services.gateway.release import accepted_event, release_waiting, trace_of


async def cancel_job(deps: Deps, namespace: str, job_id: str) -> JobRecord | None:
    """The job after the wish was stored; None when it is unknown.

    A job that has ended stays as it is.
    """
    job = await deps.stores.catalog.jobs.request_cancel(namespace, job_id)
    if job is None:
        return None
    if job.state == "running":
        with contextlib.suppress(WorldFault):
            await deps.bus.publish(CONTROL_CANCEL, CancelJob(job_id=job_id), job=job_id)
            await end_cancelled(deps, job)
    elif job.state == "cancelled":
        outcome = outcome_of(job)
        with contextlib.suppress(WorldFault):
            if outcome is not None:
                await announce_outcome(deps, outcome)
            await release_waiting(deps)
    return job


async def end_cancelled(deps: Deps, job: JobRecord) -> bool:
    """Say that a job with a stored wish to cancel is over; False when it won the race.

    The flip reads the wish inside its transaction, so a revision that is not published
    now never will be: nobody needs to wait for the stage that has the job.
    """
    revision = await deps.stores.catalog.documents.revision(
        job.namespace, job.document_id, job.revision
    )
    if job.source is None or (revision is not None and revision.state == "published"):
        return False
    with trace_of(job):
        await deps.bus.fail(
            accepted_event(job), StaleFault(Code.CANCELLED, "the job was cancelled")
        )
    return True
