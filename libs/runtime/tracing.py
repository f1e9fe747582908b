"""W3C trace context in message headers, and how spans fail."""

import contextlib
import functools
from collections.abc import Iterator, Mapping

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.trace import Span, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

_PROPAGATOR = TraceContextTextMapPropagator()


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


def record_error(span: Span, error: BaseException) -> None:
    """Mark a span as failed by the type of the error; its text may hold what users wrote."""
    span.set_attribute("error.type", type(error).__name__)
    span.set_status(Status(StatusCode.ERROR))
