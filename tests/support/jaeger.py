"""What a Jaeger server says about a trace."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

WAIT_SECONDS = 60.0


@dataclass(frozen=True)
class Span:
    """One span; `events` are (name, fields)."""

    span_id: str
    parent_id: str | None
    service: str
    name: str
    tags: dict[str, Any]
    events: list[tuple[str, dict[str, Any]]]


@dataclass(frozen=True)
class Trace:
    """The spans of one trace, as far as they have come in."""

    spans: list[Span]

    def named(self, name: str) -> list[Span]:
        """Those with this name."""
        return [span for span in self.spans if span.name == name]

    def names(self) -> set[str]:
        """The names of all."""
        return {span.name for span in self.spans}

    def services(self) -> set[str]:
        """The services, without the product's prefix."""
        return {span.service.removeprefix("groundwire-") for span in self.spans}

    def orphans(self, caller: str | None = None) -> list[str]:
        """Spans whose parent is not in the trace, but for children of the caller's own span."""
        known = {span.span_id for span in self.spans} | {caller, None}
        return [f"{s.service} {s.name}" for s in self.spans if s.parent_id not in known]

    def roots(self) -> list[Span]:
        """Spans without a parent."""
        return [span for span in self.spans if span.parent_id is None]


def wait_for_trace(query: str, trace_id: str, complete: Callable[[Trace], bool]) -> Trace:
    """The trace, once it is complete; the last state of it fails the test after a minute."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        trace = fetch(query, trace_id)
        if complete(trace):
            return trace
        told = sorted((s.service, s.name) for s in trace.spans)
        assert time.monotonic() < deadline, told
        time.sleep(0.1)


def fetch(query: str, trace_id: str) -> Trace:
    """The trace as it is now; empty where Jaeger does not know it."""
    try:
        with urlopen(f"{query}/api/traces/{trace_id}", timeout=10) as answer:
            found = json.load(answer)["data"]
    except HTTPError as error:
        if error.code != 404:
            raise
        found = []
    return Trace([_span(span, one["processes"]) for one in found for span in one["spans"]])


def _span(span: dict[str, Any], processes: dict[str, Any]) -> Span:
    parents = [r["spanID"] for r in span["references"] if r["refType"] == "CHILD_OF"]
    events = []
    for entry in span["logs"]:
        fields = {field["key"]: field["value"] for field in entry["fields"]}
        events.append((fields.pop("event", ""), fields))
    return Span(
        span["spanID"],
        parents[0] if parents else None,
        processes[span["processID"]]["serviceName"],
        span["operationName"],
        {tag["key"]: tag["value"] for tag in span["tags"]},
        events,
    )
