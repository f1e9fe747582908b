"""What the gateway hears on the bus, one short function each."""

from nats.aio.msg import Msg

from libs.contracts.events import DocumentErased, DocumentOutcome, JobEvent, ShardParsed, ShardsDone
from libs.runtime.routes import event_address
from libs.runtime.work import Work
from services.gateway import dead_letters, upload_events
from services.gateway.deps import Deps
from services.gateway.erasure import forget
from services.gateway.ledger import TERMINAL, ledger_entry, outcome_of
from services.gateway.outcomes import announce_outcome
from services.gateway.release import release_waiting


async def on_event(deps: Deps, event: JobEvent, work: Work) -> None:
    """Keep the ledger; when a job has ended, tell the world; where there is room again, let
    the next one begin."""
    if isinstance(event, DocumentErased):
        await forget(deps, event.namespace, event.document_id)
        await announce_outcome(deps, _erased(event))
    entry = ledger_entry(event_address(deps.bus.prefix, event), event)
    if entry is None:
        return
    jobs = deps.stores.catalog.jobs
    recorded = await jobs.record(entry)
    deps.news.tell(entry.job_id)
    if isinstance(event, ShardParsed | ShardsDone):
        await release_waiting(deps)
    if entry.state not in TERMINAL:
        return
    job = recorded or await jobs.get(None, entry.job_id)
    if job is not None and job.state == entry.state:
        outcome = outcome_of(job)
        if outcome is not None:
            await announce_outcome(deps, outcome)
        await release_waiting(deps)


async def on_upload_event(deps: Deps, message: Msg) -> None:
    """An upstream system asks to ingest an object: it ends in a job or a refusal."""
    await upload_events.deliver(deps, message)


async def on_advisory(deps: Deps, message: Msg) -> None:
    """The server gave a message up: park it."""
    await dead_letters.on_advisory(deps, message)


def _erased(event: DocumentErased) -> DocumentOutcome:
    return DocumentOutcome(
        outcome="erased",
        namespace=event.namespace,
        document_id=event.document_id,
        revision=event.revision,
        job_id=event.job_id,
    )
