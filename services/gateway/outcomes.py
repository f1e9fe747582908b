"""Telling upstream systems how an ingest ended."""

from libs.contracts.events import DocumentOutcome
from libs.contracts.subjects import DOCUMENT_OUTCOME
from services.gateway.deps import Deps


async def announce_outcome(deps: Deps, outcome: DocumentOutcome, *, asked: str = "") -> None:
    """Publish how it ended; the same end twice is one message.

    `asked` marks a repeated request: who sends an event again hears the outcome again.
    """
    await deps.bus.publish(
        DOCUMENT_OUTCOME,
        outcome,
        message_id=f"outcome:{outcome.job_id}:{outcome.outcome}{asked}",
        outcome=outcome.outcome,
        namespace=outcome.namespace,
        document=outcome.document_id,
    )
