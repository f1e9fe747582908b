"""Measurements lead to the traces in which they were made, where somebody can read that."""

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, Sampler
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.parser import text_string_to_metric_families as plain_families

from libs.runtime.telemetry import MESSAGE_SECONDS, exemplar_of, metrics_page

OPEN_METRICS = "application/openmetrics-text;version=1.0.0,text/plain;q=0.5"


def measured(sampler: Sampler, consumer: str) -> str:
    """The trace id of a span in which a delivery was measured."""
    span = TracerProvider(sampler=sampler).get_tracer("test").start_span("delivery")
    MESSAGE_SECONDS.labels(consumer).observe(0.2, exemplar_of(span))
    return f"{span.get_span_context().trace_id:032x}"


def exemplars(consumer: str) -> list[str]:
    body, media_type = metrics_page(OPEN_METRICS)
    assert media_type.startswith("application/openmetrics-text")
    return [
        sample.exemplar.labels["trace_id"]
        for family in text_string_to_metric_families(body.decode())
        for sample in family.samples
        if sample.labels.get("consumer") == consumer and sample.exemplar
    ]


def test_a_sampled_trace_is_named_where_exemplars_are_understood() -> None:
    trace_id = measured(ALWAYS_ON, "sampled")
    assert exemplars("sampled") == [trace_id]


def test_a_trace_that_nobody_keeps_is_not_named() -> None:
    measured(ALWAYS_OFF, "unsampled")
    assert exemplars("unsampled") == []


@pytest.mark.parametrize("accept", ["", "text/plain", "*/*"])
def test_others_are_given_the_plain_format(accept: str) -> None:
    body, media_type = metrics_page(accept)
    assert media_type.startswith("text/plain")
    names = {family.name for family in plain_families(body.decode())}
    assert "groundwire_message_seconds" in names
