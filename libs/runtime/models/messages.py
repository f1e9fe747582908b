"""The messages of a call, and the key under which its answer is kept. Pure."""

import base64
import hashlib
import json
from collections.abc import Sequence
from typing import Any

from libs.runtime.models.chat import Request

IMAGE_TOKENS = 1100
"""What a picture is estimated at: servers scale it to about so many."""
_TYPES = ((b"\x89PNG", "png"), (b"\xff\xd8", "jpeg"), (b"GIF8", "gif"), (b"RIFF", "webp"))


def request_of(
    system: str,
    user: str,
    images: Sequence[bytes],
    *,
    max_tokens: int,
    temperature: float,
    json_object: bool = False,
) -> Request:
    """The request; `ValueError` for an image of no known type."""
    content: str | list[dict[str, Any]] = user
    if images:
        shown = [{"type": "image_url", "image_url": {"url": _data_url(i)}} for i in images]
        content = [{"type": "text", "text": user}, *shown]
    messages = [{"role": "user", "content": content}]
    if system:
        messages.insert(0, {"role": "system", "content": system})
    return Request(tuple(messages), max_tokens, temperature, json_object)


def corrected(request: Request, answer: str, problem: str) -> Request:
    """The same once more, with the wrong answer and what was wrong with it."""
    said = {"role": "assistant", "content": answer}
    asked = f"That was not it: {problem}. Answer again, with the JSON object alone."
    again = (*request.messages, said, {"role": "user", "content": asked})
    return Request(again, request.max_tokens, request.temperature, request.json)


def texts_of(request: Request) -> tuple[list[str], int]:
    """The texts of the messages, and how many pictures there are."""
    texts: list[str] = []
    pictures = 0
    for message in request.messages:
        content = message["content"]
        for part in [{"text": content}] if isinstance(content, str) else content:
            if "text" in part:
                texts.append(part["text"])
            else:
                pictures += 1
    return texts, pictures


def key_of(model: str, request: Request, cache_key: str | None) -> str:
    """sha256 of (model, messages, parameters), 64 hex digits.

    A given `cache_key` stands for the messages.
    """
    asked = cache_key if cache_key is not None else list(request.messages)
    parts = [model, asked, request.max_tokens, request.temperature, request.json]
    canonical = json.dumps(parts, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _data_url(image: bytes) -> str:
    kind = next((kind for head, kind in _TYPES if image.startswith(head)), None)
    if kind is None:
        raise ValueError("an image must be PNG, JPEG, GIF or WebP")
    return f"data:image/{kind};base64,{base64.b64encode(image).decode()}"
