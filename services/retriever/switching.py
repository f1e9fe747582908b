"""A change of the embedder, as readers see it: while vectors of the new model are made, the one
before it goes on answering; once no namespace is left to it, all queries are the new one's."""

from dataclasses import dataclass

from libs.runtime.inference.factory import open_embedder
from libs.runtime.inference.port import Embedder
from libs.runtime.service import Service
from libs.runtime.settings import Settings
from libs.runtime.telemetry import logger
from services.retriever.retrieve import Retriever

LOOK_SECONDS = 5.0

log = logger("retriever")


@dataclass(frozen=True)
class Switching:
    """Uses `before` in a retriever until no active revision has its vectors any more."""

    retriever: Retriever
    before: Embedder
    following: Embedder | None

    async def begin(self) -> None:
        """Answer by the model before, where it is still needed, and load what is used."""
        self.retriever.use(self.before)
        await self.look()
        await self.retriever.warm_up()

    async def look(self) -> None:
        """Change over once nothing needs the model before; the corpus versions rise, since what
        was answered until then was answered by it, or by words alone."""
        if self.retriever.embedder is not self.before or await self._needed():
            return
        self.retriever.use(self.following)
        catalog = self.retriever.catalog
        for namespace in await catalog.keys.list_namespaces():
            await catalog.corpus.raise_version(namespace, 0)
        log.info("queries use the new embedder")

    async def _needed(self) -> bool:
        catalog = self.retriever.catalog
        for namespace in await catalog.keys.list_namespaces():
            active = await catalog.documents.active_set(namespace)
            if any(one.dense_model == self.before.model for one in active.revisions):
                return True
        return False


def warm_up(service: Service, settings: Settings, retriever: Retriever) -> None:
    """Load the embedder beside the start, or the one before it while that is needed."""
    name = settings.embedder_before
    before = open_embedder(settings, name) if name else None
    if before is None:
        service.soon(retriever.warm_up, "load the embedder")
        return
    switching = Switching(retriever, before, retriever.embedder)
    service.soon(switching.begin, "load the embedder that answers until its successor can")
    service.every(LOOK_SECONDS, switching.look, "change of the embedder")
    service.on_end(before.close)
