"""One request to a chat endpoint, streamed, and what it came back with."""

import contextlib
from dataclasses import dataclass
from typing import Any

from libs.runtime.models.connection import Connection, UnsupportedParameter, our_words
from libs.runtime.models.failure import ModelFailed, Reason

Message = dict[str, Any]
OVERSIZE = 16
"""Characters a token at which an answer is taken to run on for ever."""


@dataclass(frozen=True)
class Request:
    """What is asked; `json` wants a JSON object."""

    messages: tuple[Message, ...]
    max_tokens: int
    temperature: float
    json: bool = False


@dataclass(frozen=True)
class Said:
    """An answer; tokens are None where the server does not count them."""

    text: str
    finish: str
    tokens_in: int | None = None
    tokens_out: int | None = None


class Chat:
    """Asks an endpoint, and learns from its refusals which parameters it does not know."""

    def __init__(self, connection: Connection, model: str) -> None:
        self._connection = connection
        self._model = model
        self._unknown: set[str] = set()

    async def ask(self, key: str, request: Request) -> Said:
        """The answer; `ModelFailed` otherwise."""
        client = await self._connection.client(key)
        while True:
            try:
                with our_words():
                    return await self._asked(client, request)
            except UnsupportedParameter as refused:
                self._learn(refused.text)

    def _learn(self, text: str) -> None:
        """Leave out, from now on, the parameter that the server's refusal names."""
        named = (
            ("max_tokens", "max_tokens" in text and "max_completion_tokens" in text),
            ("stream_options", "stream_options" in text),
            ("response_format", "response_format" in text or "json_object" in text),
            ("temperature", "temperature" in text),
            ("stream", "stream" in text and "stream_options" not in text),
        )
        for name, matches in named:
            if matches and name not in self._unknown:
                self._unknown.add(name)
                return
        raise ModelFailed(Reason.INVALID, "the model's server refuses the request")

    def _parameters(self, request: Request) -> dict[str, Any]:
        known: dict[str, Any] = {
            "temperature": request.temperature,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.json:
            known["response_format"] = {"type": "json_object"}
        for name in self._unknown:
            known.pop(name, None)
        if "stream" not in known:
            known.pop("stream_options", None)
        limit = "max_completion_tokens" if "max_tokens" in self._unknown else "max_tokens"
        return {**known, limit: request.max_tokens}

    async def _asked(self, client: Any, request: Request) -> Said:
        parameters = self._parameters(request)
        answer = await client.chat.completions.create(
            model=self._model, messages=list(request.messages), **parameters
        )
        if "stream" not in parameters:
            return _checked(_whole(answer))
        async with contextlib.aclosing(answer) as stream:
            said, pieces = await _streamed(stream, OVERSIZE * request.max_tokens + 1000)
        if not pieces:
            self._unknown.add("stream")
            raise ModelFailed(Reason.BROKEN, "the model's server does not stream")
        return _checked(said)


async def _streamed(stream: Any, most: int) -> tuple[Said, int]:
    """The answer in a stream of at most `most` characters, and the number of its pieces."""
    text, size, count, finish, usage = [], 0, 0, "", None
    async for piece in stream:
        count += 1
        usage = getattr(piece, "usage", None) or usage
        for choice in (getattr(piece, "choices", None) or [])[:1]:
            delta = getattr(choice, "delta", None)
            if isinstance(content := getattr(delta, "content", None), str):
                text.append(content)
                size += len(content)
            finish = getattr(choice, "finish_reason", None) or finish
        if size > most:
            finish = "length"
            break
    return Said("".join(text), finish, *_counts(usage)), count


def _whole(answer: Any) -> Said:
    """The answer in one body."""
    choices = getattr(answer, "choices", None) or []
    usage = _counts(getattr(answer, "usage", None))
    if not choices:
        return Said("", "stop", *usage)
    message = getattr(choices[0], "message", None)
    content = getattr(message, "content", None)
    finish = getattr(choices[0], "finish_reason", None) or "stop"
    return Said(content if isinstance(content, str) else "", finish, *usage)


def _counts(usage: Any) -> tuple[int | None, int | None]:
    counts = (getattr(usage, n, None) for n in ("prompt_tokens", "completion_tokens"))
    first, second = (n if isinstance(n, int) and n >= 0 else None for n in counts)
    return first, second


def _checked(said: Said) -> Said:
    """`said` where it is a whole answer; why it is none otherwise."""
    if said.finish == "content_filter":
        raise ModelFailed(Reason.FILTERED, "the model's filter ended the answer")
    if said.text.strip():
        if not said.finish:
            raise ModelFailed(Reason.BROKEN, "the model's answer broke off")
        return said
    if said.finish == "length":
        raise ModelFailed(Reason.TRUNCATED, "the model's answer was cut before its first word")
    raise ModelFailed(Reason.EMPTY, "the model answered nothing")
