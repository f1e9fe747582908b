"""A collector for tests: takes OTLP over HTTP and keeps the spans."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)


@dataclass(frozen=True)
class Seen:
    """One exported span."""

    service: str
    name: str
    trace_id: str
    span_id: str
    parent_id: str
    attributes: dict[str, str]


@dataclass
class Collector:
    """Every span that arrived."""

    url: str = ""
    spans: list[Seen] = field(default_factory=list)

    def of_trace(self, trace_id: str) -> list[Seen]:
        return [s for s in self.spans if s.trace_id == trace_id]


@contextmanager
def collector() -> Iterator[Collector]:
    """Listen on a free loopback port while the block runs."""
    kept = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            kept.spans.extend(_spans(body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    kept.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield kept
    finally:
        server.shutdown()
        server.server_close()


def _spans(body: bytes) -> Iterator[Seen]:
    request = ExportTraceServiceRequest.FromString(body)
    for resource in request.resource_spans:
        service = next(
            a.value.string_value for a in resource.resource.attributes if a.key == "service.name"
        )
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield Seen(
                    service,
                    span.name,
                    span.trace_id.hex(),
                    span.span_id.hex(),
                    span.parent_span_id.hex(),
                    {a.key: a.value.string_value for a in span.attributes},
                )
