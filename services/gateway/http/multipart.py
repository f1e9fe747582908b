"""multipart/form-data as a stream of parts: memory holds one network piece at a time."""

from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from services.gateway.http.errors import invalid

MAX_PARTS = 16
MAX_FIELD_BYTES = 65_536


@dataclass(frozen=True)
class PartBegin:
    """A part's headers were read. `file_name` is None for an ordinary field."""

    name: str
    file_name: str | None
    media_type: str | None


@dataclass(frozen=True)
class PartEnd:
    """The part before is complete."""


Piece = PartBegin | bytes | PartEnd


def boundary_of(content_type: str) -> bytes | None:
    """The boundary, or None when the media type is another one. 422 without a boundary."""
    kind, options = parse_options_header(content_type)
    if kind != b"multipart/form-data":
        return None
    boundary = options.get(b"boundary")
    if not boundary:
        raise invalid("the multipart body has no boundary in its Content-Type")
    return boundary


class _Collector:
    """Turns the parser's callbacks into pieces."""

    def __init__(self) -> None:
        self.pieces: deque[Piece] = deque()
        self.ended = False
        self._parts = 0
        self._headers: dict[str, str] = {}
        self._field = bytearray()
        self._value = bytearray()

    def on_part_begin(self) -> None:
        self._parts += 1
        if self._parts > MAX_PARTS:
            raise invalid(f"the form has more than {MAX_PARTS} parts")
        self._headers = {}

    def on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._field += data[start:end]

    def on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def on_header_end(self) -> None:
        name = self._field.decode("latin-1").lower()
        self._headers[name] = self._value.decode("latin-1")
        self._field.clear()
        self._value.clear()

    def on_headers_finished(self) -> None:
        _, options = parse_options_header(self._headers.get("content-disposition"))
        name = options.get(b"name")
        if name is None:
            raise invalid("a part of the form has no name")
        file_name = options.get(b"filename")
        self.pieces.append(
            PartBegin(
                name.decode("utf-8", "replace"),
                None if file_name is None else file_name.decode("utf-8", "replace"),
                self._headers.get("content-type"),
            )
        )

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        self.pieces.append(data[start:end])

    def on_part_end(self) -> None:
        self.pieces.append(PartEnd())

    def on_end(self) -> None:
        self.ended = True


async def parts(stream: AsyncIterator[bytes], boundary: bytes) -> AsyncIterator[Piece]:
    """The pieces of a form in order; 422 for a body that breaks the format or ends early."""
    collector = _Collector()
    names = ("part_begin", "header_field", "header_value", "header_end", "headers_finished",
             "part_data", "part_end", "end")  # fmt: skip
    try:
        parser = MultipartParser(
            boundary,
            {f"on_{n}": getattr(collector, f"on_{n}") for n in names},  # type: ignore[arg-type]
        )
        async for data in stream:
            parser.write(data)
            while collector.pieces:
                yield collector.pieces.popleft()
    except FormParserError:
        raise invalid("the multipart body is malformed") from None
    if not collector.ended:
        raise invalid("the multipart body ends before its last boundary")


async def part_bytes(pieces: AsyncIterator[Piece]) -> AsyncIterator[bytes]:
    """The bytes of the part that has just begun."""
    async for piece in pieces:
        if isinstance(piece, PartEnd):
            return
        if isinstance(piece, bytes):
            yield piece


async def field_text(pieces: AsyncIterator[Piece], name: str) -> str:
    """The text of an ordinary field, bounded."""
    data = bytearray()
    async for piece in part_bytes(pieces):
        data += piece
        if len(data) > MAX_FIELD_BYTES:
            raise invalid(f"{name}: may hold {MAX_FIELD_BYTES} bytes")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise invalid(f"{name}: is not valid UTF-8") from None
