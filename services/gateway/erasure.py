"""Deleting a document: hidden first, then erased everywhere by the indexer."""

from libs.contracts.api.documents import ErasureReceipt
from libs.contracts.events import ErasureRequested
from libs.contracts.faults import WorldFault
from libs.contracts.tokens import new_id
from libs.runtime.answers import forget_answers
from libs.runtime.deadletters import discard, list_letters
from libs.runtime.telemetry import logger
from services.gateway.deps import Deps

LETTERS = 200

log = logger("gateway.erasure")


def erasure_event(
    namespace: str, receipt: ErasureReceipt, revision: int, attempt: int = 1
) -> ErasureRequested:
    """The event of an erasure; `revision` is the document's highest."""
    return ErasureRequested(
        namespace=namespace,
        document_id=receipt.document_id,
        revision=max(revision, 1),
        job_id=receipt.erasure_id,
        attempt=attempt,
    )


async def begin_erasure(deps: Deps, namespace: str, document_id: str) -> ErasureReceipt | None:
    """Hide the document and ask for its erasure; None when there is none.

    Asking again answers the first receipt. An event that the bus did not take is
    announced by the reconciler.
    """
    documents = deps.stores.catalog.documents
    revisions = await documents.revisions(namespace, document_id)
    receipt = await documents.hide(namespace, document_id, new_id("era"))
    if receipt is None or receipt.state == "erased":
        return receipt
    highest = max((r.revision for r in revisions), default=1)
    try:
        await deps.bus.announce(erasure_event(namespace, receipt, highest))
    except WorldFault as fault:
        log.warning("left to the reconciler", erasure_id=receipt.erasure_id, code=str(fault.code))
    return receipt


async def forget(deps: Deps, namespace: str, document_id: str) -> None:
    """Remove what the bus still holds of an erased document: answers and dead letters."""
    await forget_answers(deps.bus, namespace)
    after: int | None = 0
    while after is not None:
        page = await list_letters(
            deps.bus, deps.stores.objects, namespace=namespace, after=after, limit=LETTERS
        )
        for letter in page.letters:
            if letter.document_id == document_id:
                await discard(deps.bus, letter.dead_letter_id)
        after = page.next_after
