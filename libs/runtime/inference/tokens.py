"""Counting model tokens: what chunk sizes and budgets are measured in."""

import threading
from collections.abc import Sequence
from pathlib import Path

from libs.runtime.inference.e5_cache import open_tokenizer
from libs.runtime.inference.e5_package import MAX_TOKENS
from libs.runtime.inference.e5_tokenizer import Tokenizer

PASSAGE_TOKENS = MAX_TOKENS - 2 - 2
"""The longest text, in tokens, that the embedder reads whole: two special tokens and the
two of the prefix `passage: ` stand beside it."""


class TokenCounter:
    """Counts the pieces of the packaged embedder's vocabulary, special tokens left out.

    Nothing is loaded before the first count, which then costs some tens of milliseconds
    and, on the very first start, the conversion of the tokeniser into
    `cache_root` (`<data_dir>/models`). Safe to share between threads. Raises
    `ModelUnavailable` when the model's package is missing.
    """

    def __init__(self, cache_root: Path) -> None:
        self._cache_root = cache_root
        self._lock = threading.Lock()
        self._tokenizer: Tokenizer | None = None

    def count(self, text: str) -> int:
        """Tokens of `text`; 0 for nothing or white space alone."""
        return self.count_many([text])[0]

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, in order; cheaper than one by one."""
        return [len(pieces) for pieces in self._loaded().pieces(texts)]

    def warm_up(self) -> None:
        """Load the tokeniser now, so that the first count does not wait for it."""
        self._loaded()

    def _loaded(self) -> Tokenizer:
        with self._lock:
            if self._tokenizer is None:
                self._tokenizer = open_tokenizer(self._cache_root)
            return self._tokenizer
