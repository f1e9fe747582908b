"""Uvicorn's HTTP protocol with a bound on request heads.

The parser keeps a request line and headers in memory until they are whole, and uvicorn's
own limit acts on its other parser only: without this, anyone could fill the memory of a
service before showing a key.
"""

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from libs.contracts.api.problem import problem_of
from libs.contracts.faults import CallerFault, Code

MAX_HEAD_BYTES = 65_536
LINGER_SECONDS = 2.0
"""How long a refused client may go on sending, so that it reads its answer before the
connection is reset."""

_STATUS = 431


class _HeadTooLarge(Exception):
    """Leaves the parser from a callback."""


class BoundedHttp(HttpToolsProtocol):
    """Answers 431 to a request line and headers (trailers too) above `MAX_HEAD_BYTES`.

    Memory is bounded by that and one read of the socket, whatever is sent: also what the
    parser holds back of a header that never ends.
    """

    _head = 0
    _held = 0
    _refused = False

    def data_received(self, data: bytes) -> None:
        """Feed the parser, unless too much of what it was fed is held back."""
        if self._refused:
            return
        self._held += len(data)
        super().data_received(data)
        if self._held > MAX_HEAD_BYTES:
            self._refuse()

    def on_message_begin(self) -> None:
        """A new head."""
        self._head = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """A part of the request's URL."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header, or a trailer."""
        self._count(len(name) + len(value))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """What was held back has been handed over."""
        self._held = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A part of the body, which the parser does not hold back."""
        self._held = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The end of a request, and of its trailers."""
        self._held = 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """The answer to what the parser does not take."""
        if self._head > MAX_HEAD_BYTES:
            self._refuse()
        else:
            super().send_400_response(msg)

    def _count(self, size: int) -> None:
        self._head += size
        if self._head > MAX_HEAD_BYTES:
            raise _HeadTooLarge

    def _refuse(self) -> None:
        if self._refused or self.transport.is_closing():
            return
        self._refused = True
        if self.cycle is not None and not self.cycle.response_complete:
            self.transport.close()
            return
        self.transport.write(_ANSWER)
        self.transport.write_eof()
        self.loop.call_later(LINGER_SECONDS, self.transport.close)


def _answer() -> bytes:
    fault = CallerFault(
        Code.TOO_LARGE,
        f"the request line and headers have more than {MAX_HEAD_BYTES} bytes: "
        "send what is long in the body",
        _STATUS,
    )
    body = problem_of(fault, _STATUS).model_dump_json().encode()
    head = (
        f"HTTP/1.1 {_STATUS} Request Header Fields Too Large\r\n"
        "content-type: application/problem+json\r\n"
        f"content-length: {len(body)}\r\n"
        "connection: close\r\n\r\n"
    )
    return head.encode() + body


_ANSWER = _answer()
