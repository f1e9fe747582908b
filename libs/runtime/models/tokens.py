"""Estimates of what servers do not count, by the packaged vocabulary."""

import asyncio
from pathlib import Path

from libs.runtime.inference.errors import ModelUnavailable
from libs.runtime.inference.tokens import TokenCounter
from libs.runtime.models.chat import Request
from libs.runtime.models.messages import IMAGE_TOKENS, texts_of

MARGIN = 1.2
"""How much more than the estimate another model's vocabulary is taken to need."""
_MESSAGE_TOKENS = 8


class TokenEstimate:
    """Counts with the SentencePiece model of the packaged embedder, in a thread.

    Where that is not installed, three bytes are taken for a token.
    """

    def __init__(self, models_dir: Path) -> None:
        self._counter = TokenCounter(models_dir)

    async def request(self, request: Request) -> int:
        """Tokens of all messages."""
        texts, pictures = texts_of(request)
        counted = await asyncio.to_thread(self._count, texts)
        return counted + IMAGE_TOKENS * pictures + _MESSAGE_TOKENS * len(request.messages)

    async def text(self, text: str) -> int:
        """Tokens of a text."""
        return await asyncio.to_thread(self._count, [text])

    def _count(self, texts: list[str]) -> int:
        try:
            return sum(self._counter.count_many(texts))
        except ModelUnavailable:
            return sum(len(t.encode("utf-8", "replace")) for t in texts) // 3
