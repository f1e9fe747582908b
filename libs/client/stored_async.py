"""Stored parts, asynchronous."""

from libs.client import stored
from libs.client.parts_async import AsyncPart
from libs.contracts.artefacts.chunk import Chunks
from libs.contracts.artefacts.diagnostics import Diagnostics


class AsyncStored(AsyncPart):
    """A revision's parts, whole; of the active one unless another is named."""

    async def chunks(self, document_id: str, revision: int | None = None) -> Chunks:
        """Every retrievable piece, in order. `section` gives them page by page."""
        space = self.connection.namespace
        return await self._send(stored.chunks(space, document_id, revision))

    async def diagnostics(self, document_id: str, revision: int | None = None) -> Diagnostics:
        """What was noticed while it was parsed; of records, which rows were left out."""
        space = self.connection.namespace
        return await self._send(stored.diagnostics(space, document_id, revision))

    async def source(self, document_id: str, revision: int | None = None) -> bytes:
        """The file as it was sent, held in memory."""
        space = self.connection.namespace
        return await self._send(stored.source(space, document_id, revision))

    async def asset(self, document_id: str, path: str, revision: int | None = None) -> bytes:
        """An image or table by its name in the revision, as outlines and chunks give it."""
        space = self.connection.namespace
        return await self._send(stored.asset(space, document_id, path, revision))
