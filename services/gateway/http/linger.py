"""Answers that come before the end of the request's body reach their client.

A connection that is closed while bytes of the request still come in is reset, and the reset
takes the answer with it. So such an answer says `Connection: close`, is sent whole, and the
rest of the body is read and dropped for a while.
"""

import asyncio
import contextlib

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LINGER_SECONDS = 10.0
LINGER_BYTES = 1 << 30
"""How long, and how much, an answered client may go on sending; then it may see a reset."""


class Linger:
    """Reads what is left of a body after an early answer; memory holds one piece at a time."""

    def __init__(self, app: ASGIApp, seconds: float = LINGER_SECONDS) -> None:
        self._app = app
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or not _announces_body(Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        body = _Body(receive, asked_for=not _waits(Headers(scope=scope)))

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start" and not body.over:
                MutableHeaders(scope=message)["Connection"] = "close"
            ends = message["type"] == "http.response.body" and not message.get("more_body")
            if ends and body.comes:
                await send({**message, "more_body": True})
                await body.drop(self._seconds)
                message = {"type": "http.response.body"}
            await send(message)

        await self._app(scope, body.receive, answer)


class _Body:
    """The request's body: `asked_for` once the client was told to send it."""

    def __init__(self, receive: Receive, *, asked_for: bool) -> None:
        self._receive = receive
        self._asked_for = asked_for
        self.over = False

    @property
    def comes(self) -> bool:
        """Whether there is more of it on its way."""
        return self._asked_for and not self.over

    async def receive(self) -> Message:
        self._asked_for = True
        message = await self._receive()
        self.over = message["type"] == "http.disconnect" or not message.get("more_body")
        return message

    async def drop(self, seconds: float) -> None:
        dropped = 0
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not self.over and dropped < LINGER_BYTES:
                    dropped += len((await self.receive()).get("body", b""))
                    await asyncio.sleep(0)  # a fast sender never lets `receive` wait


def _announces_body(headers: Headers) -> bool:
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


def _waits(headers: Headers) -> bool:
    """Whether the client sends nothing before it is told to go on."""
    return headers.get("expect", "").lower() == "100-continue"
