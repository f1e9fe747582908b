"""Head sampling that keeps errors.

Whether a trace is sampled is decided where it begins, and told to every service after that
(`OTEL_TRACES_SAMPLER`). Of a trace that is not, each process records its own part all the same: the
spans below one delivery, request or answer. When that part has ended without an error it is
forgotten; when any span of it failed, all of it is exported. So the trace of an error shows the
whole work that failed, and of the services around it those that failed as well.
"""

import threading
from collections.abc import Sequence

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.sdk.trace.sampling import Decision, Sampler, SamplingResult
from opentelemetry.trace import Link, SpanContext, SpanKind, StatusCode, TraceFlags, TraceState
from opentelemetry.util.types import Attributes

MOST_HELD = 512
"""Spans of one part that wait for its end; of later ones only the failed."""
MOST_OPEN = 20_000
"""Spans that have begun and not ended; when there are more, all parts are forgotten."""


class RecordingSampler(Sampler):
    """Samples as `inner` does, and records what it drops, but for what is below a local span that
    is not recorded either: nobody wants that."""

    def __init__(self, inner: Sampler) -> None:
        self._inner = inner

    def should_sample(
        self,
        parent_context: Context | None,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        attributes: Attributes = None,
        links: Sequence[Link] | None = None,
        trace_state: TraceState | None = None,
    ) -> SamplingResult:
        """The decision for a span that begins."""
        result = self._inner.should_sample(
            parent_context, trace_id, name, kind, attributes, links, trace_state
        )
        if result.decision is not Decision.DROP:
            return result
        parent = trace.get_current_span(parent_context)
        context = parent.get_span_context()
        if context.is_valid and not context.is_remote and not parent.is_recording():
            return result
        return SamplingResult(Decision.RECORD_ONLY, attributes, result.trace_state)

    def get_description(self) -> str:
        """Its name for people."""
        return f"RecordingSampler({self._inner.get_description()})"


class ErrorKeeper(SpanProcessor):
    """Hands sampled spans to `exporting`, and the parts of other traces in which a span failed."""

    def __init__(self, exporting: SpanProcessor) -> None:
        self._exporting = exporting
        self._lock = threading.Lock()
        self._part: dict[int, int] = {}
        self._held: dict[int, list[ReadableSpan]] = {}

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Note to which part a span belongs that is not sampled."""
        context, parent = span.get_span_context(), span.parent
        if context.trace_flags.sampled:
            self._exporting.on_start(span, parent_context)
            return
        with self._lock:
            if len(self._part) >= MOST_OPEN:
                self._part.clear()
                self._held.clear()
            local = parent is not None and not parent.is_remote
            first = self._part.get(parent.span_id) if parent is not None and local else None
            self._part[context.span_id] = context.span_id if first is None else first
            if first is None:
                self._held[context.span_id] = []

    def on_end(self, span: ReadableSpan) -> None:
        """Export the part that ends with a span, where it has an error."""
        context = span.get_span_context()
        if context is None or context.trace_flags.sampled:
            self._exporting.on_end(span)
            return
        for kept in self._ended(span, context.span_id):
            self._exporting.on_end(_sampled(kept))

    def _ended(self, span: ReadableSpan, span_id: int) -> list[ReadableSpan]:
        """What has to be exported now."""
        with self._lock:
            first = self._part.pop(span_id, span_id)
            held = self._held.get(first)
            if held is None:  # its part has ended before it
                return [span] if _failed(span) else []
            if len(held) < MOST_HELD or _failed(span) or first == span_id:
                held.append(span)
            if first != span_id:
                return []
            del self._held[first]
        return held if any(map(_failed, held)) else []

    def shutdown(self) -> None:
        """Export what waits; nothing after that."""
        self._exporting.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Export what waits."""
        return self._exporting.force_flush(timeout_millis)


def _failed(span: ReadableSpan) -> bool:
    return span.status.status_code is StatusCode.ERROR


def _sampled(span: ReadableSpan) -> ReadableSpan:
    """The same span with the flag without which no exporter takes it."""
    context = span.get_span_context()
    assert context is not None
    flagged = SpanContext(
        context.trace_id,
        context.span_id,
        context.is_remote,
        TraceFlags(context.trace_flags | TraceFlags.SAMPLED),
        context.trace_state,
    )
    return ReadableSpan(
        name=span.name,
        context=flagged,
        parent=span.parent,
        resource=span.resource,
        attributes=span.attributes,
        events=span.events,
        links=span.links,
        kind=span.kind,
        status=span.status,
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )
