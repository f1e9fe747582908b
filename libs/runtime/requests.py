"""Answering requests on the bus: a fault travels back as the same fault."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from faststream.nats.message import NatsMessage
from pydantic import BaseModel, ValidationError

from libs.contracts.api.problem import problem_of
from libs.contracts.faults import CallerFault, Code, Fault, Who
from libs.contracts.subjects import Subject
from libs.runtime.bus import HEADER_ROOM_BYTES, PROBLEM, RETRY_AFTER, Bus
from libs.runtime.telemetry import REQUEST_SECONDS, logger
from libs.runtime.tracing import extract, message_span, record_error

Q = TypeVar("Q", bound=BaseModel)

log = logger("requests")


def answering(
    bus: Bus, subject: Subject, model: type[Q], handler: Callable[[Q], Awaitable[BaseModel]]
) -> Callable[[NatsMessage], Awaitable[None]]:
    """A subscriber's function that answers each request with the handler's model.

    A fault is answered as its problem document with its delay, anything else as `internal`;
    an answer that the bus cannot carry is the fault `too_large`, never silence.
    """

    async def on_request(message: NatsMessage) -> None:
        raw = message.raw_message
        with (
            REQUEST_SECONDS.labels(subject.pattern).time(),
            message_span("answer", subject.pattern, extract(raw.headers)) as span,
        ):
            headers = None
            try:
                answer = await handler(model.model_validate_json(raw.data))
                body = answer.model_dump_json(by_alias=True).encode()
                if len(body) + HEADER_ROOM_BYTES > bus.nats.max_payload:
                    raise CallerFault(
                        Code.TOO_LARGE, "the answer is too large for the bus: ask for less", 413
                    )
            except Exception as error:
                fault = _fault(error)
                if not isinstance(fault, CallerFault):
                    record_error(span, error)
                body, headers = _problem(fault), _headers(fault)
            await bus.nats.publish(raw.reply, body, headers=headers)

    return on_request


def _fault(error: Exception) -> Fault:
    if isinstance(error, Fault):
        return error
    if isinstance(error, ValidationError):
        return CallerFault(Code.INVALID, "the request breaks its contract", 422)
    log.error("request failed", error=type(error).__name__, exc_info=error)
    return Fault(Code.INTERNAL, f"unexpected {type(error).__name__}")


def _headers(fault: Fault) -> dict[str, str]:
    retry_after = getattr(fault, "retry_after", None)
    return {PROBLEM: "1"} | ({} if retry_after is None else {RETRY_AFTER: f"{retry_after:g}"})


def _problem(fault: Fault) -> bytes:
    status = 503 if fault.who is Who.WORLD else 500
    if isinstance(fault, CallerFault):
        status = fault.status
    return problem_of(fault, status).model_dump_json().encode()
