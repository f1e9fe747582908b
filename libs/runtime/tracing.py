"""W3C trace context in message headers, and how spans fail."""

import contextlib
import functools
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Literal

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

_PROPAGATOR = TraceContextTextMapPropagator()

Operation = Literal["publish", "process", "request", "answer"]
_OPERATIONS: Mapping[Operation, tuple[str, SpanKind]] = {
    "publish": ("send", SpanKind.PRODUCER),
    "process": ("process", SpanKind.CONSUMER),
    "request": ("send", SpanKind.CLIENT),
    "answer": ("process", SpanKind.SERVER),
}
"""What we do with messages, as the semantic conventions of messaging class it."""


def tracer() -> trace.Tracer:
    """Our tracer."""
    return _tracer_of(trace.get_tracer_provider())


@functools.lru_cache(maxsize=1)
def _tracer_of(provider: trace.TracerProvider) -> trace.Tracer:
    return provider.get_tracer("groundwire")


def inject(headers: dict[str, str]) -> dict[str, str]:
    """`headers` with the current trace context."""
    _PROPAGATOR.inject(headers)
    return headers


def extract(headers: Mapping[str, str] | None) -> otel_context.Context:
    """The context that a message carries; an empty one when it carries none."""
    return _PROPAGATOR.extract(dict(headers or {}), context=otel_context.Context())


@contextlib.contextmanager
def attached(headers: Mapping[str, str] | None) -> Iterator[None]:
    """Act within the trace that a message carries."""
    token = otel_context.attach(extract(headers))
    try:
        yield
    finally:
        otel_context.detach(token)


def current_traceparent() -> str | None:
    """The `traceparent` of the span in force."""
    return inject({}).get("traceparent")


def message_span(
    operation: Operation,
    name: str,
    context: otel_context.Context | None = None,
    stream: str | None = None,
) -> AbstractContextManager[Span]:
    """A span `<operation> <name>` in force, named and marked after OpenTelemetry's conventions.

    `name` is that of a durable for `process`, else of a subject without its ids; a durable's
    stream is `stream`. Errors are left to `record_error`.
    """
    kind_of_operation, kind = _OPERATIONS[operation]
    attributes = {
        "messaging.system": "nats",
        "messaging.operation.name": operation,
        "messaging.operation.type": kind_of_operation,
        "messaging.destination.name": stream or name,
    }
    if stream is not None:
        attributes["messaging.consumer.group.name"] = name
    return tracer().start_as_current_span(
        f"{operation} {name}",
        context=context,
        kind=kind,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    )


def record_error(span: Span, error: BaseException) -> None:
    """Mark a span as failed by the type of the error; its text may hold what users wrote."""
    span.set_attribute("error.type", type(error).__name__)
    span.set_status(Status(StatusCode.ERROR))
