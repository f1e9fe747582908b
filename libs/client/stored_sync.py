"""Stored parts, asynchronous: written from `stored_async.py` by `make fix`, never by hand."""

from libs.client import stored
from libs.client.parts_sync import Part
from libs.contracts.artefacts.chunk import Chunks
from libs.contracts.artefacts.diagnostics import Diagnostics


class Stored(Part):
    """A revision's parts, whole; of the active one unless another is named."""

    def chunks(self, document_id: str, revision: int | None = None) -> Chunks:
        """Every retrievable piece, in order. `section` gives them page by page."""
        space = self.connection.namespace
        return self._send(stored.chunks(space, document_id, revision))

    def diagnostics(self, document_id: str, revision: int | None = None) -> Diagnostics:
        """What was noticed while it was parsed; of records, which rows were left out."""
        space = self.connection.namespace
        return self._send(stored.diagnostics(space, document_id, revision))

    def source(self, document_id: str, revision: int | None = None) -> bytes:
        """The file as it was sent, held in memory."""
        space = self.connection.namespace
        return self._send(stored.source(space, document_id, revision))

    def asset(self, document_id: str, path: str, revision: int | None = None) -> bytes:
        """An image or table by its name in the revision, as outlines and chunks give it."""
        space = self.connection.namespace
        return self._send(stored.asset(space, document_id, path, revision))
