"""What operators do with documents that are published."""

from typing import Literal, TypeVar
from urllib.parse import quote

from libs.client.calls import Call, as_model, given, space
from libs.client.connection import Connection
from libs.contracts.api.documents import Accepted, Pauses
from libs.contracts.artefacts.manifest import Manifest

T = TypeVar("T")
Kind = Literal["stages", "namespaces"]


def manifest(namespace: str, document_id: str, revision: int | None) -> Call[Manifest]:
    """What a revision is made of, and by which engine."""
    path = space(namespace, "documents", document_id, "manifest")
    return Call("GET", path, as_model(Manifest), given(revision=revision))


def reprocess(namespace: str, document_id: str, engine: str | None) -> Call[Accepted]:
    """Make a document again from its kept source."""
    path = space(namespace, "documents", document_id, "reprocess")
    return Call("POST", path, as_model(Accepted), json=given(engine=engine))


def pauses() -> Call[Pauses]:
    """What is paused."""
    return Call("GET", "/v1/pauses", as_model(Pauses))


def set_paused(kind: Kind, name: str, paused: bool) -> Call[Pauses]:
    """Pause a stage or a namespace, or let it go on."""
    path = f"/v1/pauses/{kind}/{quote(name, safe='')}"
    return Call("PUT" if paused else "DELETE", path, as_model(Pauses))


class Operating:
    """Operators' calls of the synchronous client."""

    connection: Connection

    def _send(self, call: Call[T]) -> T:
        raise NotImplementedError

    def manifest(self, document_id: str, revision: int | None = None) -> Manifest:
        """What a revision is made of, and by which engine."""
        return self._send(manifest(self.connection.namespace, document_id, revision))

    def reprocess(self, document_id: str, engine: str | None = None) -> Accepted:
        """Make a document again from its kept source, as a new revision."""
        return self._send(reprocess(self.connection.namespace, document_id, engine))

    def pauses(self) -> Pauses:
        """What is paused. For the role admin."""
        return self._send(pauses())

    def set_paused(self, kind: Kind, name: str, paused: bool) -> Pauses:
        """Pause a stage or a namespace, or let it go on. For the role admin."""
        return self._send(set_paused(kind, name, paused))


class AsyncOperating:
    """Operators' calls of the asynchronous client; see `Operating`."""

    connection: Connection

    async def _send(self, call: Call[T]) -> T:
        raise NotImplementedError

    async def manifest(self, document_id: str, revision: int | None = None) -> Manifest:
        """What a revision is made of, and by which engine."""
        return await self._send(manifest(self.connection.namespace, document_id, revision))

    async def reprocess(self, document_id: str, engine: str | None = None) -> Accepted:
        """Make a document again from its kept source, as a new revision."""
        return await self._send(reprocess(self.connection.namespace, document_id, engine))

    async def pauses(self) -> Pauses:
        """What is paused. For the role admin."""
        return await self._send(pauses())

    async def set_paused(self, kind: Kind, name: str, paused: bool) -> Pauses:
        """Pause a stage or a namespace, or let it go on. For the role admin."""
        return await self._send(set_paused(kind, name, paused))
