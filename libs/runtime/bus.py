"""The bus as services use it: announce, publish, request."""

import asyncio
import hashlib
from typing import Any, TypeVar

import nats.errors
import nats.js.errors
from faststream.nats import NatsBroker
from nats.aio.client import Client
from nats.js import JetStreamContext
from pydantic import BaseModel

from libs.contracts.api.problem import Problem
from libs.contracts.events import JobEvent, StageFailed
from libs.contracts.faults import CallerFault, Code, DocumentFault, Fault, Who, WorldFault
from libs.contracts.subjects import PIPELINE, STREAMS, Stage, Subject
from libs.runtime.keys import MESSAGES, attempt_key, message_key
from libs.runtime.objects.port import ObjectStore
from libs.runtime.routes import address, event_address, event_name, message_id, stream_name
from libs.runtime.stores import Stores
from libs.runtime.telemetry import PUBLISH_FAILURES, PUBLISHED, logger
from libs.runtime.tracing import inject, message_span, record_error

R = TypeVar("R", bound=BaseModel)

MESSAGE_ID = "Nats-Msg-Id"
BODY_KEY = "Groundwire-Body-Key"
BODY_SHA256 = "Groundwire-Body-Sha256"
PROBLEM = "Groundwire-Problem"
RETRY_AFTER = "Groundwire-Retry-After"
PUBLISH_TIMEOUT_SECONDS = 5.0
HEADER_ROOM_BYTES = 16_384

log = logger("bus")

_AWAY = (
    nats.errors.Error,
    nats.js.errors.Error,
    asyncio.TimeoutError,
    OSError,
)


class Bus:
    """One connection. A server that is away or a full stream is `WorldFault(BUS_AWAY)`."""

    def __init__(self, broker: NatsBroker, prefix: str, stores: Stores, stage: Stage) -> None:
        self._broker = broker
        self._stores = stores
        self.prefix = prefix
        self.stage = stage

    @property
    def nats(self) -> Client:
        """The connection itself, for what the bus does not cover."""
        return self._broker.connection

    @property
    def js(self) -> JetStreamContext:
        """JetStream over the same connection."""
        return self.nats.jetstream(timeout=PUBLISH_TIMEOUT_SECONDS)

    async def announce(self, event: JobEvent) -> bool:
        """Publish an event of a job; it is in its stream when this returns.

        Returns False when the server had it already: the same step announced twice.
        """
        name = event_name(event)
        wire = event_address(self.prefix, event)
        body = event.model_dump_json().encode()
        headers = {MESSAGE_ID: message_id(event)}
        if len(body) > self._payload_limit():
            key = attempt_key(event, f"{MESSAGES}/{name}-{event.shard_token or 0}.json")
            body, reference = await self._by_reference(body, key)
            headers |= reference
        duplicate = await self._publish(wire, body, headers, name, PIPELINE.name)
        if duplicate:
            log.info("announced before", subject_event=name, job_id=event.job_id)
        return not duplicate

    async def fail(
        self, event: JobEvent, fault: Fault, *, dead_letter_id: str | None = None
    ) -> None:
        """Say `<stage>.failed` for the job of `event`."""
        await self.announce(
            StageFailed(
                namespace=event.namespace,
                document_id=event.document_id,
                revision=event.revision,
                job_id=event.job_id,
                attempt=event.attempt,
                stage=self.stage,
                code=fault.code,
                who=fault.who,
                detail=fault.detail,
                dead_letter_id=dead_letter_id,
            )
        )

    async def publish(
        self,
        subject: Subject,
        body: BaseModel | bytes,
        *,
        message_id: str | None = None,
        headers: dict[str, str] | None = None,
        **tokens: str,
    ) -> None:
        """Publish on any subject of the catalogue; into its stream when it has one."""
        data = body if isinstance(body, bytes) else body.model_dump_json(by_alias=True).encode()
        out = dict(headers or {})
        if message_id is not None:
            out[MESSAGE_ID] = message_id
        if len(data) > self._payload_limit():
            digest = hashlib.sha256(data).hexdigest()
            data, reference = await self._by_reference(data, message_key(digest))
            out |= reference
        wire = address(self.prefix, subject, **tokens)
        name = ".".join(p for p in subject.pattern.split(".") if not p.startswith("{"))
        await self._publish(wire, data, out, name, _stream_of(subject))

    async def request(
        self, subject: Subject, body: BaseModel, reply: type[R], *, timeout: float
    ) -> R:
        """Ask, and wait at most `timeout` seconds.

        A fault of the other side is raised here as the same fault; nobody there, or no
        answer in time, is `WorldFault`.
        """
        wire = address(self.prefix, subject)
        with message_span("request", subject.pattern) as span:
            try:
                answer = await self.nats.request(
                    wire,
                    body.model_dump_json(by_alias=True).encode(),
                    timeout=timeout,
                    headers=inject({}),
                )
            except nats.errors.NoRespondersError as error:
                record_error(span, error)
                raise WorldFault(
                    Code.BUS_AWAY, f"no service answers {subject.pattern}", retry_after=2.0
                ) from None
            except (TimeoutError, nats.errors.TimeoutError) as error:
                record_error(span, error)
                raise WorldFault(
                    Code.TIMEOUT, f"{subject.pattern} did not answer within {timeout:g} s"
                ) from None
            except _AWAY as error:
                record_error(span, error)
                raise WorldFault(
                    Code.BUS_AWAY, "the message bus is away", retry_after=2.0
                ) from error
            if answer.headers and PROBLEM in answer.headers:
                delay = answer.headers.get(RETRY_AFTER)
                raise _fault_of(
                    Problem.model_validate_json(answer.data), float(delay) if delay else None
                )
            return reply.model_validate_json(answer.data)

    def _payload_limit(self) -> int:
        return max(int(self.nats.max_payload) - HEADER_ROOM_BYTES, 1024)

    async def _by_reference(self, body: bytes, key: str) -> tuple[bytes, dict[str, str]]:
        info = await self._stores.objects.put(key, body)
        return b"", {BODY_KEY: key, BODY_SHA256: info.sha256}

    async def _publish(
        self, wire: str, body: bytes, headers: dict[str, str], name: str, stream: str | None
    ) -> bool:
        with message_span("publish", name) as span:
            inject(headers)
            try:
                if stream is None:
                    await self._broker.publish(body, wire, headers=headers)
                    ack = None
                else:
                    ack = await self._broker.publish(
                        body,
                        wire,
                        headers=headers,
                        stream=stream_name(self.prefix, stream),
                        timeout=PUBLISH_TIMEOUT_SECONDS,
                    )
            except _AWAY as error:
                record_error(span, error)
                PUBLISH_FAILURES.labels(name).inc()
                raise WorldFault(
                    Code.BUS_AWAY, f"the message bus did not take {name}", retry_after=2.0
                ) from error
        PUBLISHED.labels(name).inc()
        return bool(ack and ack.duplicate)


async def load_body(objects: ObjectStore, headers: dict[str, str]) -> bytes:
    """The body of a message that travels by reference.

    Raises `WorldFault` when the store does not have it or has other bytes.
    """
    try:
        data = await objects.get(headers[BODY_KEY])
    except (KeyError, ValueError):
        raise WorldFault(Code.STORE_AWAY, "the body of a message is not in the store") from None
    if hashlib.sha256(data).hexdigest() != headers.get(BODY_SHA256):
        raise WorldFault(Code.STORE_AWAY, "the body of a message does not match its sha256")
    return data


def _stream_of(subject: Subject) -> str | None:
    for stream in STREAMS:
        for pattern in stream.subjects:
            parts, wanted = pattern.split("."), subject.wildcard.split(".")
            if len(parts) == len(wanted) and all(
                p in ("*", w) for p, w in zip(parts, wanted, strict=True)
            ):
                return stream.name
    return None


def _fault_of(problem: Problem, retry_after: float | None) -> Fault:
    if problem.who is Who.CALLER:
        return CallerFault(problem.code, problem.detail, problem.status, retry_after)
    if problem.who is Who.DOCUMENT:
        return DocumentFault(problem.code, problem.detail)
    if problem.who is Who.WORLD:
        return WorldFault(problem.code, problem.detail, retry_after)
    return Fault(problem.code, problem.detail)


def headers_of(message: Any) -> dict[str, str]:
    """The headers of a raw NATS message, never None."""
    return dict(message.headers or {})
