"""What is exported of traces that are not sampled: errors, with all that their process did."""

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, ParentBased, Sampler
from opentelemetry.trace import Tracer

from libs.runtime import sampling
from libs.runtime.readiness import _unseen
from libs.runtime.sampling import ErrorKeeper, RecordingSampler
from libs.runtime.tracing import extract, record_error

OFF, ON = ParentBased(ALWAYS_OFF), ParentBased(ALWAYS_ON)
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def made(sampler: Sampler) -> tuple[Tracer, InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(sampler=RecordingSampler(sampler))
    provider.add_span_processor(ErrorKeeper(SimpleSpanProcessor(exporter)))
    return provider.get_tracer("test"), exporter


def names(exporter: InMemorySpanExporter) -> list[str]:
    return [span.name for span in exporter.get_finished_spans()]


def test_what_goes_well_is_not_exported_unless_it_is_sampled() -> None:
    for sampler, expected in ((OFF, []), (ON, ["call", "delivery"])):
        tracer, exporter = made(sampler)
        with tracer.start_as_current_span("delivery"), tracer.start_as_current_span("call"):
            pass
        assert names(exporter) == expected


@pytest.mark.parametrize("flags", ["00", None])
def test_an_error_is_exported_with_all_that_its_process_did(flags: str | None) -> None:
    tracer, exporter = made(OFF)
    given = extract({"traceparent": f"00-{TRACE}-00f067aa0ba902b7-{flags}"}) if flags else None
    with tracer.start_as_current_span("delivery", context=given) as root:
        with tracer.start_as_current_span("before"):
            pass
        with tracer.start_as_current_span("fails", attributes={"a": 1}) as span:
            span.add_event("fault", {"code": "x"})
            record_error(span, ValueError())
        assert names(exporter) == []
    found = {span.name: span for span in exporter.get_finished_spans()}
    assert list(found) == ["before", "fails", "delivery"]
    assert found["fails"].attributes == {"a": 1, "error.type": "ValueError"}
    assert [event.name for event in found["fails"].events] == ["fault"]
    ids = root.get_span_context()
    for name in ("before", "fails"):
        assert found[name].parent.span_id == ids.span_id
        assert found[name].context.trace_id == ids.trace_id
    if flags:
        assert f"{ids.trace_id:032x}" == TRACE


def test_others_are_told_that_the_trace_is_not_sampled() -> None:
    tracer, _ = made(OFF)
    with tracer.start_as_current_span("delivery") as span:
        assert span.is_recording()
        assert not span.get_span_context().trace_flags.sampled


def test_parts_of_one_trace_at_the_same_time_are_apart() -> None:
    tracer, exporter = made(OFF)
    given = extract({"traceparent": f"00-{TRACE}-00f067aa0ba902b7-00"})
    well = tracer.start_span("well", context=given)
    badly = tracer.start_span("badly", context=given)
    for root, name in ((well, "one"), (badly, "two")):
        child = tracer.start_span(name, context=trace.set_span_in_context(root))
        if root is badly:
            record_error(child, ValueError())
        child.end()
    well.end()
    assert names(exporter) == []
    badly.end()
    assert names(exporter) == ["two", "badly"]


def test_a_span_that_outlives_its_part_is_kept_when_it_fails() -> None:
    tracer, exporter = made(OFF)
    root = tracer.start_span("root")
    late = [tracer.start_span(n, context=trace.set_span_in_context(root)) for n in ("well", "bad")]
    root.end()
    record_error(late[1], ValueError())
    for span in late:
        span.end()
    assert names(exporter) == ["bad"]


def test_questions_that_nobody_wants_to_see_are_not_even_recorded() -> None:
    tracer, exporter = made(ON)
    with _unseen(), tracer.start_as_current_span("stat") as span:
        assert not span.is_recording()
        record_error(span, ValueError())
    assert names(exporter) == []


def test_what_is_held_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "MOST_HELD", 3)
    monkeypatch.setattr(sampling, "MOST_OPEN", 4)
    tracer, exporter = made(OFF)
    with tracer.start_as_current_span("delivery"):
        for number in range(9):
            with tracer.start_as_current_span(f"call {number}") as span:
                if number == 8:
                    record_error(span, ValueError())
    assert names(exporter) == ["call 0", "call 1", "call 2", "call 8", "delivery"]
    keeper = ErrorKeeper(SimpleSpanProcessor(exporter))
    provider = TracerProvider(sampler=RecordingSampler(OFF))
    provider.add_span_processor(keeper)
    for _ in range(20):
        provider.get_tracer("test").start_span("never ended")
    assert len(keeper._part) <= 4
    assert len(keeper._held) <= 4
