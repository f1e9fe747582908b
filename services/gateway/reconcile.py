"""Finding what nothing works on any more, and setting it going again.

One replica at a time does this. Nothing is decided from silence alone: a job whose
message still lies in the stream is left to its consumer.
"""

from libs.contracts.events import JobEvent
from libs.contracts.faults import Code, WorldFault
from libs.runtime.catalog.jobs import JobRecord
from libs.runtime.routes import decode_event
from libs.runtime.telemetry import logger
from services.gateway.cancel import end_cancelled
from services.gateway.deps import Deps
from services.gateway.erasure import erasure_event
from services.gateway.pending import Pending, pending_of
from services.gateway.release import accepted_event, release_waiting, trace_of
from services.gateway.staging import arrived_at, staging_prefix

BATCH = 100

log = logger("gateway.reconcile")


async def reconcile(deps: Deps) -> None:
    """One round: quiet jobs, sources that never came, erasures that nobody finished."""
    settings, jobs = deps.settings, deps.stores.catalog.jobs
    for job in await jobs.quiet(settings.quiet_seconds, BATCH):
        await _tend(deps, job)
    for job in await jobs.unsourced(settings.unsourced_seconds, BATCH):
        await jobs.discard(job.job_id)
        log.warning("discarded a job without a source", job_id=job.job_id)
    await _finish_erasures(deps)
    await release_waiting(deps)


async def _tend(deps: Deps, job: JobRecord) -> None:
    if job.cancel_requested and await end_cancelled(deps, job):
        return
    pending = await pending_of(deps.bus, job.job_id)
    silence = (deps.clock() - job.updated_at).total_seconds()
    if pending is Pending.WAITING:
        return
    if pending is Pending.TAKEN and silence < deps.settings.stuck_seconds:
        return
    revivals = await deps.stores.catalog.jobs.failure(f"gateway:{job.job_id}", "quiet")
    with trace_of(job):
        if revivals > deps.settings.max_revivals:
            await _give_up(deps, job, revivals - 1)
        else:
            event = last_event(deps.bus.prefix, job)
            await deps.bus.announce(event.model_copy(update={"attempt": job.attempt + 1}))
            log.warning("revived a quiet job", job_id=job.job_id, stage=job.stage)


async def _give_up(deps: Deps, job: JobRecord, revivals: int) -> None:
    detail = f"the stage {job.stage} did not go on although it was asked {revivals} times"
    await deps.bus.fail(last_event(deps.bus.prefix, job), WorldFault(Code.WORKER_LOST, detail))


def last_event(prefix: str, job: JobRecord) -> JobEvent:
    """The last event of a job that was announced; before any was, the one that starts it."""
    if job.announced is None:
        return accepted_event(job)
    subject, body = job.announced
    return decode_event(prefix, subject, body.encode())


async def _finish_erasures(deps: Deps) -> None:
    settings = deps.settings
    unfinished = await deps.stores.catalog.documents.unfinished_erasures(settings.quiet_seconds)
    for namespace, receipt, revision in unfinished[:BATCH]:
        if await pending_of(deps.bus, receipt.erasure_id) is not Pending.NONE:
            continue
        age = (deps.clock() - receipt.requested_at).total_seconds()
        attempt = 1 + max(1, int(age / settings.quiet_seconds))
        await deps.bus.announce(erasure_event(namespace, receipt, revision, attempt))
        log.warning("asked again for an erasure", erasure_id=receipt.erasure_id)


async def sweep_uploads(deps: Deps) -> None:
    """Remove staged files that nobody named as a document in time."""
    objects = deps.stores.objects
    oldest = deps.clock().timestamp() - deps.settings.upload_keep_seconds
    for namespace in await deps.stores.catalog.keys.list_namespaces():
        prefix = staging_prefix(namespace)
        stale = [
            info.key
            async for info in objects.walk(prefix)
            if (arrived_at(info.key) or 0.0) < oldest
        ]
        if stale:
            await objects.delete(stale)
            log.info("swept staged uploads", namespace=namespace, count=len(stale))
