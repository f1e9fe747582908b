"""Spans around messages and store calls; W3C trace context in message headers."""

import contextlib
import functools
import inspect
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar, cast

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

S = TypeVar("S")

_PROPAGATOR = TraceContextTextMapPropagator()


def tracer() -> trace.Tracer:
    """Our tracer."""
    return trace.get_tracer("groundwire")


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


def traced(store: S, system: str) -> S:
    """`store` with a client span around each of its coroutine methods, `<system>.<method>`."""
    return cast(S, _Traced(store, system))


class _Traced:
    def __init__(self, inner: object, system: str) -> None:
        self._inner = inner
        self._system = system

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._inner, name)
        if inspect.iscoroutinefunction(member):
            member = _spanned(member, f"{self._system}.{name}", self._system)
        self.__dict__[name] = member
        return member


def _spanned(method: Any, span_name: str, system: str) -> Any:
    @functools.wraps(method)
    async def call(*args: Any, **kwargs: Any) -> Any:
        with tracer().start_as_current_span(
            span_name,
            kind=SpanKind.CLIENT,
            attributes={"groundwire.store": system},
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                return await method(*args, **kwargs)
            except Exception as error:
                if not isinstance(error, KeyError):
                    record_error(span, error)
                raise

    return call
