"""A server of language models that misbehaves as it is told, for tests: real HTTP on loopback.

    with FakeModels() as server:
        server.will(Say("hello"), Status(429, retry_after="3"), Break("half an ans"))
        model = server.model(ModelUse.SUMMARY)

Answers are given in the order told; then `server.otherwise`, which is `Say("ok")` or a function
of the request's body. What was asked is in `server.asked`. It runs in a thread of its own, so
processes and tests without an event loop can use it as well. Vectors (`/v1/embeddings`) and
ranks (`/v1/rerank`) are answered by the words that texts share.
"""

import asyncio
import hashlib
import json
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from aiohttp import web

Body = dict[str, Any]
DIMENSION = 64


@dataclass(frozen=True)
class Asked:
    """One request: its path, key and body."""

    path: str
    key: str
    body: Body

    @property
    def system(self) -> str:
        return next((m["content"] for m in self.body["messages"] if m["role"] == "system"), "")

    @property
    def user(self) -> str:
        content = next(m["content"] for m in reversed(self.body["messages"]) if m["role"] == "user")
        return content if isinstance(content, str) else content[0]["text"]

    @property
    def pictures(self) -> list[str]:
        """The addresses of the pictures in the last message."""
        content = self.body["messages"][-1]["content"]
        parts = [] if isinstance(content, str) else content
        return [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]


@dataclass(frozen=True)
class Say:
    """Answers, streamed in pieces unless asked otherwise or told `whole`."""

    text: str
    finish: str | None = "stop"
    usage: bool = True
    whole: bool = False
    """One JSON body, whatever was asked for."""
    odd: bool = False
    """Between the pieces: chunks without choices, without delta, with null content."""


@dataclass(frozen=True)
class Status:
    """Answers with an error status."""

    status: int
    retry_after: str | None = None
    message: str = "no"
    code: str | None = None
    param: str | None = None


@dataclass(frozen=True)
class Break:
    """Closes the connection after these pieces of a stream."""

    text: str = ""


@dataclass(frozen=True)
class Hang:
    """Says nothing until the server is closed, after `text` where there is one."""

    text: str = ""


@dataclass(frozen=True)
class Raw:
    """A stream of these very bytes."""

    data: bytes


Reply = Say | Status | Break | Hang | Raw


def spoken(content: Any) -> Say:
    """An answer of JSON."""
    return Say(json.dumps(content, ensure_ascii=False))


class FakeModels:
    """The server; a context manager."""

    def __init__(self) -> None:
        self.otherwise: Reply | Callable[[Asked], Reply] = Say("ok")
        self.asked: list[Asked] = []
        self._place, self._turn = "", 0
        self._replies: deque[Reply] = deque()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def will(self, *replies: Reply) -> None:
        """Give these answers next, in this order."""
        self._replies.extend(replies)

    def reset(self) -> None:
        """Forget what was told and asked, and turn away what still comes from before."""
        self._turn += 1
        self._replies.clear()
        self.asked.clear()
        self.otherwise = Say("ok")

    @property
    def url(self) -> str:
        """The base URL, another one after each `reset`."""
        return f"{self._place}/{self._turn}/v1"

    @property
    def keys(self) -> list[str]:
        """The keys of what was asked, in order."""
        return [asked.key for asked in self.asked]

    def environment(self, *uses: str, name: str = "fake", keys: str = "key-a") -> dict[str, str]:
        """Environment variables that point these uses here."""
        found: dict[str, str] = {}
        for use in uses:
            start = f"GROUNDWIRE_MODEL_{use.upper()}"
            found |= {f"{start}_URL": self.url, f"{start}_NAME": name, f"{start}_KEYS": keys}
        return found

    def __enter__(self) -> "FakeModels":
        import openai  # noqa: F401 - takes seconds, which are not to count within a test's time

        self._thread.start()
        assert self._ready.wait(60)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join(60)

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=64 * 1024**2)
        app.router.add_post("/{path:.*}", self._answer)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self._place = f"http://127.0.0.1:{runner.addresses[0][1]}"
        self._ready.set()
        await self._ended.wait()
        await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        key = request.headers.get("authorization", "").removeprefix("Bearer ")
        _, turn, path = request.path.split("/", 2)
        body = await request.json()
        if turn != str(self._turn):
            return web.Response(status=410)
        asked = Asked(f"/{path}", key or request.headers.get("api-key", ""), body)
        self.asked.append(asked)
        reply = self._replies.popleft() if self._replies else self.otherwise
        if callable(reply):
            reply = reply(asked)
        if isinstance(reply, Status):
            return _refused(reply)
        if isinstance(reply, Say) and not request.path.endswith("/chat/completions"):
            return web.json_response(_computed(asked))
        if isinstance(reply, Say) and (reply.whole or not asked.body.get("stream")):
            return web.json_response(_body(reply))
        return await self._stream(request, reply, asked.body)

    async def _stream(
        self, request: web.Request, reply: Say | Break | Hang | Raw, body: Body
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        if isinstance(reply, Raw):
            await response.write(reply.data)
            return response
        for piece in _pieces(reply, body):
            await response.write(b"data: " + json.dumps(piece).encode() + b"\n\n")
        if isinstance(reply, Break):
            assert request.transport is not None
            request.transport.abort()
        elif isinstance(reply, Hang):
            await self._ended.wait()
        else:
            await response.write(b"data: [DONE]\n\n")
        return response


def _refused(reply: Status) -> web.Response:
    headers = {} if reply.retry_after is None else {"retry-after": reply.retry_after}
    error = {"message": reply.message, "code": reply.code, "param": reply.param, "type": "error"}
    return web.json_response({"error": error}, status=reply.status, headers=headers)


def _usage(text: str) -> Body:
    return {"prompt_tokens": 11, "completion_tokens": len(text), "total_tokens": 11 + len(text)}


def _body(reply: Say) -> Body:
    message = {"role": "assistant", "content": reply.text or None}
    choices = [{"index": 0, "message": message, "finish_reason": reply.finish}]
    body = {"id": "1", "object": "chat.completion", "created": 1, "model": "fake"}
    usage = {"usage": _usage(reply.text)} if reply.usage else {}
    return {**body, "choices": choices, **usage}


def _pieces(reply: Say | Break | Hang, body: Body) -> list[Body]:
    def chunk(*choices: Body, **more: Any) -> Body:
        head = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "fake"}
        return {**head, "choices": list(choices), **more}

    def choice(delta: Body | None, finish: str | None = None) -> Body:
        return {"index": 0, "delta": delta, "finish_reason": finish}

    text = reply.text
    size = max(1, len(text) // 4)
    pieces = [chunk(choice({"content": text[i : i + size]})) for i in range(0, len(text), size)]
    if not isinstance(reply, Say):
        return pieces
    if reply.odd:
        oddities = [
            chunk(),
            chunk(choice({"content": None})),
            chunk(choice(None)),
            chunk(choice({})),
        ]
        pieces = [p for piece in pieces for p in (*oddities, piece)]
    if reply.finish:
        pieces.append(chunk(choice({}, reply.finish)))
    if reply.usage and (body.get("stream_options") or {}).get("include_usage"):
        pieces.append(chunk(usage=_usage(text)))
    return pieces


def vector(text: str) -> np.ndarray:
    """A vector by the words of a text."""
    found = np.zeros(DIMENSION, np.float32)
    found[0] = 0.1
    for word in text.lower().split():
        found[int(hashlib.sha256(word.encode()).hexdigest(), 16) % DIMENSION] += 1
    return found


def _computed(asked: Asked) -> Body:
    body = asked.body
    if asked.path.endswith("/embeddings"):
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        data = [
            {"object": "embedding", "index": i, "embedding": vector(t).tolist()}
            for i, t in enumerate(texts)
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return {"object": "list", "data": data, "model": "fake", "usage": usage}
    wanted = set(body["query"].lower().split())
    scores = [len(wanted & set(d.lower().split())) / len(wanted) for d in body["documents"]]
    ranked = sorted(range(len(scores)), key=lambda i: (-scores[i], i))[: body.get("top_n")]
    return {"results": [{"index": i, "relevance_score": scores[i]} for i in ranked]}
