"""Request heads are bounded before anything of ours has seen them."""

import asyncio
import json
import tracemalloc
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from libs.runtime.heads import MAX_HEAD_BYTES
from libs.runtime.probes import http_server
from tests.support.waiting import PATIENCE

BIG = MAX_HEAD_BYTES + 1
FITS = MAX_HEAD_BYTES - 200
MEGABYTE = 1_000_000


async def body_length(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Answers with the count of the body's bytes."""
    size, more = 0, True
    while more:
        message = await receive()
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    body = str(size).encode()
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    server, bound = http_server(body_length, "127.0.0.1", 0)
    running = asyncio.create_task(server.serve(sockets=[bound]))
    try:
        async with asyncio.timeout(PATIENCE):
            reader, writer = await asyncio.open_connection("127.0.0.1", bound.getsockname()[1])
            yield reader, writer
            writer.close()
    finally:
        server.should_exit = True
        await running


def get(target: str = "/", *headers: str) -> bytes:
    return "\r\n".join([f"GET {target} HTTP/1.1", "Host: a", *headers, "", ""]).encode()


@pytest.mark.parametrize(
    "request_bytes",
    [
        get("/" + "x" * BIG),
        get("/", "X-Long: " + "x" * BIG),
        get("/", "x" * BIG + ": long"),
        get("/", *(f"X-{number}: y" for number in range(BIG // 4))),
        get("/" + "x" * (BIG // 2), "X-Long: " + "x" * (BIG // 2)),
        b"GET /" + b"x" * 3 * MEGABYTE,
        b"GET / HTTP/1.1\r\nX-Endless: " + b"x" * 3 * MEGABYTE,
    ],
    ids=["target", "value", "name", "many", "together", "endless target", "endless header"],
)
async def test_a_head_that_is_too_large_is_answered_431(request_bytes: bytes) -> None:
    async with connected() as (reader, writer):
        writer.write(request_bytes)
        answer = await reader.read()
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 431 ")
    assert b"connection: close" in head
    problem = json.loads(body)
    assert (problem["status"], problem["code"]) == (431, "too_large")
    assert "65536 bytes" in problem["detail"]


async def test_a_large_head_that_fits_is_served_again_and_again() -> None:
    async with connected() as (reader, writer):
        for _ in range(3):
            writer.write(get("/", "X-Long: " + "x" * FITS))
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
            assert await reader.readexactly(1) == b"0"


@pytest.mark.parametrize("chunked", [False, True])
async def test_bodies_are_no_heads(chunked: bool) -> None:
    length = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {3 * MEGABYTE}"
    async with connected() as (reader, writer):
        writer.write(get("/", length))
        for _ in range(300):
            if chunked:
                writer.write(b"2710\r\n")
            writer.write(b"x" * 10_000)
            if chunked:
                writer.write(b"\r\n")
            await writer.drain()
        if chunked:
            writer.write(b"0\r\nX-Trailer: small\r\n\r\n")
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
        assert await reader.readexactly(7) == b"3000000"


@pytest.fixture
def traced() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


@pytest.mark.parametrize(
    "start",
    [
        b"GET /",
        b"GET / HTTP/1.1\r\nX-Endless: ",
        b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Trailer: ",
    ],
    ids=["target", "header", "trailer"],
)
async def test_what_never_ends_takes_no_memory(start: bytes, traced: None) -> None:
    piece = b"x" * 100_000
    async with connected() as (_, writer):
        writer.write(start)
        await writer.drain()
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        try:
            for _ in range(300):
                writer.write(piece)
                await writer.drain()
        except ConnectionError:
            pass
        _, peak = tracemalloc.get_traced_memory()
    assert peak - before < 2 * MEGABYTE
