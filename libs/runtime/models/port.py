"""The port of language models, and that of the cache of their answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from pydantic import BaseModel

from libs.runtime.models.budget import Budget

T = TypeVar("T", bound=BaseModel)

SECONDS = 60.0
"""How long a call may take at most by default, its waiting and retries included."""


@dataclass(frozen=True)
class Answer:
    """What a model said. Tokens are the server's count, or an estimate where it gives none."""

    text: str
    tokens_in: int
    tokens_out: int
    cached: bool = False
    """Whether it was answered before and cost nothing now."""
    finish: str = "stop"
    """Why it ended, in the server's word: `stop`, or `length` when it was cut."""


class AnswerCache(Protocol):
    """Answers by the sha256 of (model, messages, parameters), 64 hex digits.

    An answer that is absent, unreadable or out of reach MUST be None: a cache never fails
    a call. What is put holds what a model made of a text: it MUST lie where erasing that
    text erases it too.
    """

    async def get(self, key: str) -> Answer | None:
        """The answer, with `cached` true; or None."""
        ...

    async def put(self, key: str, answer: Answer) -> None:
        """Keep the answer."""
        ...


class Model(Protocol):
    """One use's model. Every method MUST raise `ModelFailed` and nothing else when there is
    no usable answer, and MUST end within `seconds`.

    Text of documents is data to a model, never an instruction: callers put their own words
    into `system`, mark what is foreign in `user`, and believe nothing that is answered.

    A call is answered from `cache` when it is deterministic (`temperature` 0) or has a
    `cache_key`, which then stands for its messages. `budget` is reserved before a call and
    settled after it.
    """

    @property
    def name(self) -> str:
        """The model's name, for records of what made something."""
        ...

    async def text(
        self,
        system: str,
        user: str,
        *,
        max_tokens: int,
        temperature: float = 0.0,
        images: Sequence[bytes] = (),
        seconds: float = SECONDS,
        budget: Budget | None = None,
        cache: AnswerCache | None = None,
        cache_key: str | None = None,
    ) -> Answer:
        """What the model says; `finish` is `length` where it was cut at `max_tokens`.

        `images` are PNG, JPEG, GIF or WebP files, shown after `user`.
        """
        ...

    async def json(
        self,
        system: str,
        user: str,
        schema: type[T],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        images: Sequence[bytes] = (),
        seconds: float = SECONDS,
        budget: Budget | None = None,
        cache: AnswerCache | None = None,
        cache_key: str | None = None,
    ) -> T:
        """The JSON object that the model answers with, valid by `schema`, which it is shown.

        Prose around the object is left out; one that is cut or invalid is asked for once
        more. Only valid answers are cached.
        """
        ...

    async def warm_up(self) -> None:
        """Load what the first call needs, so that it does not wait for it."""
        ...

    async def close(self) -> None:
        """Release connections."""
        ...
