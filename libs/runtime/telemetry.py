"""Logs, traces and metrics of one process; set up in the child, after the fork."""

import logging
import os
import sys
from importlib.metadata import version
from typing import Any
from uuid import uuid4

import structlog
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import Span
from prometheus_client import REGISTRY, Counter, Gauge, Histogram
from prometheus_client.exposition import choose_encoder

MESSAGES = Counter(
    "groundwire_messages_total",
    "Deliveries ended, by consumer and outcome (done, fail, retry, drop, park, leave, held, ended,"
    " handed_over)",
    ["consumer", "outcome"],
)
MESSAGE_SECONDS = Histogram(
    "groundwire_message_seconds",
    "Time from taking a delivery to its end, in seconds",
    ["consumer"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300),
)
IN_PROGRESS = Gauge("groundwire_messages_in_progress", "Deliveries being worked on", ["consumer"])
PUBLISHED = Counter("groundwire_published_total", "Messages published, by event", ["event"])
PUBLISH_FAILURES = Counter(
    "groundwire_publish_failures_total", "Messages that the bus did not take, by event", ["event"]
)
REQUEST_SECONDS = Histogram(
    "groundwire_request_seconds",
    "Time to answer a request on the bus, in seconds",
    ["subject"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
SHED = Counter("groundwire_requests_shed_total", "Requests refused at once, by gate", ["gate"])

STORE_SECONDS = Histogram(
    "groundwire_store_seconds",
    "Time of a call to a store, in seconds, by outcome (ok, absent, away, refused, cancelled,"
    " error)",
    ["store", "operation", "outcome"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60),
)
MODEL_SECONDS = Histogram(
    "groundwire_model_seconds",
    "Time of a call to a language model with its retries, in seconds, by use and outcome (ok,"
    " cached, or why it failed)",
    ["use", "outcome"],
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120),
)
MODEL_TOKENS = Counter(
    "groundwire_model_tokens_total",
    "Tokens that calls to language models cost, by use and direction (in, out)",
    ["use", "direction"],
)


def _trace_ids(
    _logger: Any, _name: str, event: structlog.types.EventDict
) -> structlog.types.EventDict:
    context = trace.get_current_span().get_span_context()
    if context.is_valid:
        event["trace_id"] = f"{context.trace_id:032x}"
        event["span_id"] = f"{context.span_id:016x}"
    return event


def configure_logging(service: str, level: str) -> None:
    """JSON lines on standard output, for our loggers and those of libraries alike.

    Logs may hold ids and counts, never names, queries or text of documents.
    """
    shared: list[structlog.types.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _trace_ids,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level)),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                structlog.processors.JSONRenderer(ensure_ascii=False),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("groundwire").setLevel(level)
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(service=service)


def logger(name: str) -> structlog.stdlib.BoundLogger:
    """A structured logger under `groundwire.`."""
    bound: structlog.stdlib.BoundLogger = structlog.get_logger(f"groundwire.{name}")
    return bound


def configure_tracing(service: str) -> TracerProvider:
    """The tracer provider of this process; spans leave it where `OTEL_EXPORTER_OTLP_*` says.

    Without an endpoint spans are ids and nothing else. With one, sampling follows the
    standard `OTEL_TRACES_SAMPLER`, but errors are always kept (`sampling`).
    """
    wanted = os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or os.environ.get(
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
    )
    provider = TracerProvider(
        sampler=None if wanted else ALWAYS_OFF,
        resource=Resource.create(
            {
                "service.name": f"groundwire-{service}",
                "service.namespace": "groundwire",
                "service.version": version("groundwire"),
                "service.instance.id": str(uuid4()),
            }
        ),
    )
    if wanted:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        from libs.runtime.sampling import ErrorKeeper, RecordingSampler

        provider.sampler = RecordingSampler(provider.sampler)
        exporting = BatchSpanProcessor(OTLPSpanExporter())
        provider.add_span_processor(ErrorKeeper(exporting))
    trace.set_tracer_provider(provider)
    return provider


def exemplar_of(span: Span | None) -> dict[str, str] | None:
    """What leads from a measurement to its trace, where that is kept."""
    context = None if span is None else span.get_span_context()
    if context is None or not context.trace_flags.sampled:
        return None
    return {"trace_id": f"{context.trace_id:032x}"}


def metrics_page(accept: str) -> tuple[bytes, str]:
    """All metrics of this process and their media type: OpenMetrics, which has exemplars, for
    who accepts it, else the text format of Prometheus."""
    encode, media_type = choose_encoder(accept)
    return encode(REGISTRY), media_type


def trace_id() -> str | None:
    """The trace id in force, 32 hex digits."""
    context = trace.get_current_span().get_span_context()
    return f"{context.trace_id:032x}" if context.is_valid else None
