"""A change of the embedder: vectors of the new model are made beside those of the old one, in
the background, and a namespace is switched to them whole, in one change of what readers see."""

import time
from collections.abc import Callable, Sequence

from libs.contracts.faults import Fault
from libs.runtime.catalog.documents import ActiveRevision
from libs.runtime.inference.errors import ModelUnavailable
from libs.runtime.telemetry import logger
from libs.runtime.work import Work
from services.indexer.deps import Deps
from services.indexer.embed import embed_revision
from services.indexer.parity import ParityError

LOOK_SECONDS = 30.0
PATIENCE_SECONDS = 600.0
"""How long a revision without any vectors is left to its own event, which is to embed it."""

log = logger("indexer.reembed")


class Reembedding:
    """Looks for active revisions whose vectors are of another model than the configured one.

    Several indexers may look at once: vectors are cached by text, and the switch is the same.
    """

    def __init__(self, deps: Deps, clock: Callable[[], float] = time.monotonic) -> None:
        self._deps, self._clock = deps, clock
        self._work = Work("reembed")
        self._bare: dict[int, float] = {}

    async def look(self) -> None:
        """Bring every namespace that is behind to the configured model."""
        stores = self._deps.stores
        if stores.embedder is None:
            return
        for namespace in await stores.catalog.keys.list_namespaces():
            active = await stores.catalog.documents.active_set(namespace)
            behind = self._behind(active.revisions, stores.embedder.model)
            if behind:
                await self._follow(namespace, behind, stores.embedder.model)

    def _behind(self, revisions: Sequence[ActiveRevision], model: str) -> list[int]:
        """Revisions with vectors of another model, or for long with none."""
        now = self._clock()
        bare = {r.revn for r in revisions if r.dense_model is None and r.chunk_count}
        for revn in bare:
            self._bare.setdefault(revn, now)
        waited = {revn for revn in bare if now - self._bare[revn] >= PATIENCE_SECONDS}
        other = {r.revn for r in revisions if r.dense_model not in (None, model)}
        return sorted(other | waited)

    async def _follow(self, namespace: str, revns: list[int], model: str) -> None:
        """Make the vectors of all of them, then switch; nothing is switched while one lacks."""
        log.info("embedding anew", namespace=namespace, revisions=len(revns), model=model)
        try:
            for revn in revns:
                await embed_revision(self._deps, namespace, revn, self._work)
        except (Fault, ParityError, ModelUnavailable) as error:
            log.warning("not embedded anew yet", namespace=namespace, error=type(error).__name__)
            return
        version = await self._deps.stores.catalog.documents.switch_dense(namespace, revns, model)
        for revn in revns:
            self._bare.pop(revn, None)
        log.info("switched to other vectors", namespace=namespace, corpus_version=version)
