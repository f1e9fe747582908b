"""The asynchronous client."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from pathlib import Path
from types import TracebackType
from typing import TypeVar

import httpx

from libs.client import calls
from libs.client.calls import Call, error_of
from libs.client.connection import find_connection
from libs.client.errors import WaitTimeout
from libs.client.parts_async import (
    AsyncAdministering,
    AsyncEntries,
    AsyncFetching,
    AsyncOperating,
    AsyncReading,
)
from libs.client.retry import BUSY, Retry
from libs.client.sending import arguments, headers_for, timeouts, unreachable
from libs.client.stored_async import AsyncStored
from libs.client.upload import OnBytes, Upload
from libs.client.watch import ENDED, JobWatch
from libs.contracts.api.documents import (
    Accepted,
    DocumentView,
    ErasureReceipt,
    JobView,
    Page,
    RevisionView,
)
from libs.contracts.api.ingest import DocumentMetadata, IngestOptions
from libs.contracts.api.search import SearchRequest, SearchResponse, VerifyAnswer, VerifyRequest
from libs.contracts.artefacts import DocNav
from libs.contracts.trace import Trace
from libs.contracts.trace.redaction import Redaction

T = TypeVar("T")


class AsyncClient(
    AsyncReading, AsyncStored, AsyncFetching, AsyncOperating, AsyncAdministering, AsyncEntries
):
    """Talks to one Groundwire, about one namespace; use it as a context manager.

    What is not given is found as `libs.client.connection` says. Every method raises
    `ApiError` when the service refuses and `Unreachable` when nobody answers.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        namespace: str | None = None,
        *,
        timeout: float = 60.0,
        retry: Retry | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.connection = find_connection(url, key, namespace)
        self._retry = retry or Retry()
        self._http = httpx.AsyncClient(
            base_url=self.connection.url,
            headers=headers_for(self.connection),
            timeout=timeouts(timeout),
            transport=transport,
        )

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    @property
    def namespace(self) -> str:
        """The namespace that calls are about."""
        return self.connection.namespace

    async def ingest(
        self,
        path: Path | str,
        *,
        file_name: str | None = None,
        document_id: str | None = None,
        options: IngestOptions | None = None,
        idempotency_key: str | None = None,
        on_bytes: OnBytes | None = None,
    ) -> Accepted:
        """Send a file, streamed from disk; sending again after a fault makes no second job."""
        path = Path(path)
        upload = Upload(path, file_name or path.name, on_bytes=on_bytes)
        return await self._send(
            calls.ingest(
                self.namespace,
                upload,
                document_id=document_id,
                options=options,
                idempotency_key=idempotency_key,
            )
        )

    async def job(self, job_id: str) -> JobView:
        """One job."""
        return await self._send(calls.job(self.namespace, job_id))

    async def jobs(
        self, *, state: str | None = None, cursor: str | None = None, limit: int | None = None
    ) -> Page[JobView]:
        """Jobs, newest first."""
        return await self._send(calls.jobs(self.namespace, state=state, cursor=cursor, limit=limit))

    async def cancel(self, job_id: str) -> None:
        """Stop a job."""
        await self._send(calls.cancel(self.namespace, job_id))

    async def follow(
        self, job_id: str, seconds: float | None = None
    ) -> AsyncGenerator[JobView, None]:
        """The job's states as they change, until it ends; a broken stream is resumed.

        Raises `WaitTimeout` when `seconds` are given and it has not ended by then; it goes on.
        """
        watch = JobWatch(seconds)
        while True:
            async with contextlib.aclosing(self._states(job_id, watch)) as states:
                async for view in states:
                    yield view
                    if view.state in ENDED:
                        return
            view = await self.job(job_id)
            yield view
            if view.state in ENDED:
                return
            if watch.remaining() == 0:
                raise WaitTimeout(f"job {job_id} did not end within {seconds:g} s")
            await asyncio.sleep(watch.pause())

    async def wait(self, job_id: str, seconds: float = 600.0) -> JobView:
        """The job once it has ended. Raises `WaitTimeout`; the job goes on."""
        async with contextlib.aclosing(self.follow(job_id, seconds)) as states:
            async for view in states:
                if view.state in ENDED:
                    return view
        raise WaitTimeout(f"job {job_id} was not followed to its end")

    async def documents(
        self,
        *,
        collection: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> Page[DocumentView]:
        """Documents of the namespace."""
        return await self._send(
            calls.documents(self.namespace, collection=collection, cursor=cursor, limit=limit)
        )

    async def document(self, document_id: str) -> DocumentView:
        """One document."""
        return await self._send(calls.document(self.namespace, document_id))

    async def describe(self, document_id: str, metadata: DocumentMetadata) -> DocumentView:
        """Change a document's metadata; fields that are not set stay."""
        return await self._send(calls.describe(self.namespace, document_id, metadata))

    async def revisions(
        self, document_id: str, *, cursor: str | None = None, limit: int | None = None
    ) -> Page[RevisionView]:
        """Revisions of a document, newest first."""
        call = calls.revisions(self.namespace, document_id, cursor=cursor, limit=limit)
        return await self._send(call)

    async def activate(self, document_id: str, revision: int) -> None:
        """Roll a document back or forward to a revision."""
        await self._send(calls.activate(self.namespace, document_id, revision))

    async def outline(self, document_id: str, revision: int | None = None) -> DocNav:
        """A document's section tree."""
        return await self._send(calls.outline(self.namespace, document_id, revision))

    async def delete(self, document_id: str) -> ErasureReceipt:
        """Hide a document at once and erase it everywhere; the receipt fills up later."""
        return await self._send(calls.delete(self.namespace, document_id))

    async def erasure(self, erasure_id: str) -> ErasureReceipt:
        """The receipt of an erasure."""
        return await self._send(calls.erasure(self.namespace, erasure_id))

    async def search(self, query: str | SearchRequest) -> SearchResponse:
        """Evidence for a query."""
        request = SearchRequest(query=query) if isinstance(query, str) else query
        return await self._send(calls.search(self.namespace, request))

    async def trace(self, run_id: str, *, redact: Redaction | None = None) -> Trace:
        """What was done to answer a query, for the key that asked it; stored moments after the
        answer, until then not found."""
        return await self._send(calls.trace(self.namespace, run_id, redact))

    async def verify(self, request: VerifyRequest) -> VerifyAnswer:
        """Whether a citation still says what it said."""
        return await self._send(calls.verify(self.namespace, request))

    async def _states(self, job_id: str, watch: JobWatch) -> AsyncGenerator[JobView, None]:
        """States out of the job's event stream, until it ends, breaks or lasts too long."""
        path = calls.events_path(self.namespace, job_id)
        try:
            async with self._http.stream(
                "GET", path, headers=watch.headers(), timeout=timeouts(watch.remaining())
            ) as response:
                if response.status_code in BUSY:
                    return
                if response.is_error:
                    await response.aread()
                    raise error_of(response)
                async for line in response.aiter_lines():
                    if view := watch.feed(line):
                        yield view
                    if watch.remaining() == 0:
                        return
        except httpx.TransportError:
            return

    async def _send(self, call: Call[T]) -> T:
        attempt = 0
        while True:
            attempt += 1
            try:
                with arguments(call) as given:
                    response = await self._http.request(call.method, call.path, **given)
            except httpx.TransportError as error:
                delay = self._retry.after_error(attempt) if call.repeatable else None
                if delay is None:
                    raise unreachable(self.connection, error) from error
            else:
                delay = self._retry.after_answer(attempt, response)
                if delay is None:
                    if response.is_error:
                        raise error_of(response)
                    return call.read(response)
            await asyncio.sleep(delay)
