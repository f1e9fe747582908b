"""A gateway of a few routes over real sockets, scripted by the tests."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MOMENT = "2026-01-02T03:04:05Z"


@dataclass
class Seen:
    """One request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def form(self) -> dict[str, bytes]:
        """The parts of a multipart body, by name; the file's name under `file_name`."""
        head = f"Content-Type: {self.headers['content-type']}\r\n\r\n".encode()
        found: dict[str, bytes] = {}
        for part in BytesParser(policy=HTTP).parsebytes(head + self.body).iter_parts():
            name = part.get_param("name", header="content-disposition")
            found[str(name)] = part.get_payload(decode=True)
            if part.get_filename():
                found["file_name"] = str(part.get_filename()).encode()
        return found


@dataclass
class FakeGateway:
    """Answers by `(method, path pattern)`; a list of answers is used up one by one.

    An answer is `(status, body)` or `(status, body, headers)`; `bytes` bodies go out as they are.
    """

    url: str = ""
    answers: dict[tuple[str, str], Any] = field(default_factory=dict)
    seen: list[Seen] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def on(self, method: str, pattern: str, *answers: tuple[Any, ...]) -> None:
        self.answers[method, pattern] = list(answers)

    def answer(self, seen: Seen) -> tuple[int, bytes, dict[str, str]]:
        with self.lock:
            self.seen.append(seen)
            for (method, pattern), answers in self.answers.items():
                if method == seen.method and re.fullmatch(pattern, seen.path.partition("?")[0]):
                    status, body, *rest = answers[0] if len(answers) == 1 else answers.pop(0)
                    headers = {"Content-Type": "application/json", **(rest[0] if rest else {})}
                    return (
                        status,
                        body if isinstance(body, bytes) else json.dumps(body).encode(),
                        headers,
                    )
        return 404, json.dumps(problem(404, "not_found", "nothing is here")).encode(), {}

    def bodies(self, method: str, pattern: str) -> list[Seen]:
        return [s for s in self.seen if s.method == method and re.fullmatch(pattern, s.path)]


def problem(status: int, code: str, detail: str, who: str = "caller") -> dict[str, Any]:
    return {"title": code, "status": status, "detail": detail, "code": code, "who": who}


def job(job_id: str, state: str, **extra: Any) -> dict[str, Any]:
    return {
        "job_id": job_id,
        "document_id": "doc-1",
        "revision": 1,
        "file_name": "a.md",
        "state": state,
        "stage": "indexer",
        "progress": {"done": 3, "total": 5, "unit": "stage"},
        "created_at": MOMENT,
        "updated_at": MOMENT,
        **extra,
    }


def accepted(job_id: str = "job-1", **extra: Any) -> dict[str, Any]:
    return {"document_id": "doc-1", "revision": 1, "job_id": job_id, **extra}


def stream(*views: dict[str, Any]) -> tuple[int, bytes, dict[str, str]]:
    """An answer of server-sent events: a history line with an id, then the job, for each view."""
    lines = []
    for number, view in enumerate(views, 1):
        lines += [f"id: {number}", "event: parser.parsed", 'data: {"event": "parser.parsed"}', ""]
        lines += ["event: job", f"data: {json.dumps(view)}", ""]
    return 200, ("\n".join(lines) + "\n").encode(), {"Content-Type": "text/event-stream"}


@contextmanager
def fake_gateway() -> Iterator[FakeGateway]:
    fake = FakeGateway()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def serve(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, body, out = fake.answer(
                Seen(self.command, self.path, headers, self.read_body(headers))
            )
            self.send_response(status)
            for name, value in {**out, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def read_body(self, headers: dict[str, str]) -> bytes:
            if headers.get("transfer-encoding") != "chunked":
                return self.rfile.read(int(headers.get("content-length", "0")))
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return body

        do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = serve

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    fake.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
