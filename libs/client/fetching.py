"""Documents that the service fetches itself, from hosts that its operator allows."""

import uuid
from typing import TypeVar

from libs.client.calls import Call, as_model, given, space
from libs.client.connection import Connection
from libs.contracts.api.documents import Accepted
from libs.contracts.api.ingest import IngestOptions

T = TypeVar("T")


def ingest_url(
    namespace: str,
    url: str,
    *,
    file_name: str | None,
    document_id: str | None,
    options: IngestOptions | None,
) -> Call[Accepted]:
    """Have a document fetched and taken."""
    body = given(
        url=url,
        file_name=file_name,
        document_id=document_id,
        options=options.model_dump(mode="json", exclude_defaults=True) if options else None,
    )
    return Call(
        "POST",
        space(namespace, "documents"),
        as_model(Accepted),
        json=body,
        headers={"Idempotency-Key": uuid.uuid4().hex},
    )


class Fetching:
    """Fetching calls of the synchronous client."""

    connection: Connection

    def _send(self, call: Call[T]) -> T:
        raise NotImplementedError

    def ingest_url(
        self,
        url: str,
        *,
        file_name: str | None = None,
        document_id: str | None = None,
        options: IngestOptions | None = None,
    ) -> Accepted:
        """Have the service fetch a document; refused (403) unless its host is allowed there."""
        space = self.connection.namespace
        return self._send(
            ingest_url(space, url, file_name=file_name, document_id=document_id, options=options)
        )


class AsyncFetching:
    """Fetching calls of the asynchronous client; see `Fetching`."""

    connection: Connection

    async def _send(self, call: Call[T]) -> T:
        raise NotImplementedError

    async def ingest_url(
        self,
        url: str,
        *,
        file_name: str | None = None,
        document_id: str | None = None,
        options: IngestOptions | None = None,
    ) -> Accepted:
        """Have the service fetch a document; refused (403) unless its host is allowed there."""
        space = self.connection.namespace
        return await self._send(
            ingest_url(space, url, file_name=file_name, document_id=document_id, options=options)
        )
