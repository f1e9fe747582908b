"""Answering requests on the bus: a fault travels back as the same fault."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from faststream.nats.annotations import NatsMessage
from pydantic import BaseModel, ValidationError

from libs.contracts.api.problem import problem_of
from libs.contracts.faults import CallerFault, Code, Fault, Who
from libs.contracts.subjects import Subject
from libs.runtime.bus import PROBLEM, Bus
from libs.runtime.telemetry import REQUEST_SECONDS, logger
from libs.runtime.tracing import extract, record_error, tracer

Q = TypeVar("Q", bound=BaseModel)

log = logger("requests")


def answering(
    bus: Bus, subject: Subject, model: type[Q], handler: Callable[[Q], Awaitable[BaseModel]]
) -> Callable[[NatsMessage], Awaitable[None]]:
    """A subscriber's function that answers each request with the handler's model.

    A fault is answered as its problem document, anything else as `internal`.
    """

    async def on_request(message: NatsMessage) -> None:
        raw = message.raw_message
        with (
            REQUEST_SECONDS.labels(subject.pattern).time(),
            tracer().start_as_current_span(
                f"{subject.pattern} answer",
                context=extract(raw.headers),
                record_exception=False,
                set_status_on_exception=False,
            ) as span,
        ):
            headers = None
            try:
                body = (await handler(model.model_validate_json(raw.data))).model_dump_json(
                    by_alias=True
                )
            except Exception as error:
                record_error(span, error)
                body, headers = _problem(error), {PROBLEM: "1"}
            await bus.nats.publish(raw.reply, body.encode(), headers=headers)

    return on_request


def _problem(error: Exception) -> str:
    if isinstance(error, ValidationError):
        error = CallerFault(Code.INVALID, "the request breaks its contract", 422)
    if not isinstance(error, Fault):
        log.error("request failed", error=type(error).__name__, exc_info=error)
        error = Fault(Code.INTERNAL, f"unexpected {type(error).__name__}")
    status = 503 if error.who is Who.WORLD else 500
    if isinstance(error, CallerFault):
        status = error.status
    return problem_of(error, status).model_dump_json()
