"""JSON bodies: bounded in size and depth before anything interprets them."""

import re

import orjson
from fastapi import Request
from starlette.types import Message

from libs.contracts.faults import CallerFault, Code
from services.gateway.http.errors import invalid

MAX_BODY_BYTES = 1 << 20
MAX_DEPTH = 32

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)
"""A string, also one that nothing closes, is read once."""
_OPENING = b"[{"
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def depth_of(data: bytes) -> int:
    """How deeply brackets nest in JSON text, those inside strings left out; no deeper than one
    beyond `MAX_DEPTH` is looked."""
    depth = deepest = 0
    for bracket in _STRING.sub(b"", data).translate(None, _NO_BRACKETS):
        depth += 1 if bracket in _OPENING else -1
        deepest = max(deepest, depth)
        if deepest > MAX_DEPTH:
            break
    return deepest


async def read_limited(request: Request, limit: int) -> bytes:
    """The body; 413 as soon as it is longer than `limit` bytes."""
    data = bytearray()
    async for piece in request.stream():
        data += piece
        if len(data) > limit:
            raise CallerFault(Code.TOO_LARGE, f"the body of this call may hold {limit} bytes", 413)
    return bytes(data)


def check_json(request: Request, data: bytes) -> None:
    """Raise 415 for another media type, and 422 for text that is no JSON or nests too deeply."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise invalid("send the body as Content-Type: application/json", 415)
    if depth_of(data) > MAX_DEPTH:
        raise invalid(f"the body nests deeper than {MAX_DEPTH} levels")
    try:
        orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise invalid(f"the body is not valid JSON (near character {error.pos})") from None


def has_key(data: bytes, name: str) -> bool:
    """Whether JSON text that was checked is an object with this key."""
    value = orjson.loads(data)
    return isinstance(value, dict) and name in value


async def bounded(request: Request, limit: int) -> Request:
    """The same request with its whole body read and checked."""
    data = await read_limited(request, limit)
    if data:
        check_json(request, data)
    sent = False

    async def replay() -> Message:
        nonlocal sent
        if sent:
            return await request.receive()
        sent = True
        return {"type": "http.request", "body": data, "more_body": False}

    return Request(request.scope, replay)
