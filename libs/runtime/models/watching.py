"""Spans and measurements of model calls: counts alone, never a prompt, an answer or a key."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from urllib.parse import urlsplit

from opentelemetry.trace import Span, SpanKind

from libs.runtime.models.chat import Request, Said
from libs.runtime.models.failure import ModelFailed
from libs.runtime.models.settings import Endpoint
from libs.runtime.models.use import ModelUse
from libs.runtime.telemetry import MODEL_SECONDS, MODEL_TOKENS
from libs.runtime.tracing import record_error, tracer


@contextmanager
def watched(use: ModelUse, endpoint: Endpoint, request: Request) -> Iterator[Span]:
    """One call with its retries, as OpenTelemetry's conventions for generative AI name it."""
    place = urlsplit(endpoint.url)
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "azure.ai.openai" if "api-version" in place.query else "openai",
        "gen_ai.request.model": endpoint.name,
        "gen_ai.request.max_tokens": request.max_tokens,
        "gen_ai.request.temperature": request.temperature,
        "server.address": place.hostname or "",
        "groundwire.model.use": use.value,
    }
    began, outcome = perf_counter(), "error"
    span = tracer().start_span(f"chat {endpoint.name}", kind=SpanKind.CLIENT, attributes=attributes)
    try:
        yield span
        outcome = "ok"
    except ModelFailed as failed:
        outcome = failed.reason.value
        record_error(span, failed)
        span.set_attribute("error.type", outcome)
        raise
    finally:
        span.end()
        MODEL_SECONDS.labels(use.value, outcome).observe(perf_counter() - began)


def count_answer(span: Span, use: ModelUse, said: Said, spent: tuple[int, int], tries: int) -> None:
    """What an answer cost, in the span and the metrics."""
    span.set_attributes(
        {
            "gen_ai.usage.input_tokens": spent[0],
            "gen_ai.usage.output_tokens": spent[1],
            "gen_ai.response.finish_reasons": [said.finish],
            "groundwire.model.tries": tries,
        }
    )
    MODEL_TOKENS.labels(use.value, "in").inc(spent[0])
    MODEL_TOKENS.labels(use.value, "out").inc(spent[1])


def count_cached(use: ModelUse) -> None:
    """An answer that cost nothing."""
    MODEL_SECONDS.labels(use.value, "cached").observe(0.0)
