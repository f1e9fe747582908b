"""The one client of language models: keys in turn, retries in place, budgets, a cache."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from pydantic import BaseModel

from libs.runtime.models.budget import Budget
from libs.runtime.models.calls import Caller
from libs.runtime.models.chat import Chat, Request
from libs.runtime.models.connection import Connection
from libs.runtime.models.failure import ModelFailed, Reason
from libs.runtime.models.jsontext import instructed, read_object, without_thoughts
from libs.runtime.models.messages import corrected, key_of, request_of
from libs.runtime.models.port import SECONDS, Answer, AnswerCache
from libs.runtime.models.settings import Endpoint
from libs.runtime.models.tokens import TokenEstimate
from libs.runtime.models.tries import Clock, real_clock
from libs.runtime.models.use import ModelUse
from libs.runtime.models.watching import count_cached

T = TypeVar("T", bound=BaseModel)

MOST_TOKENS = 16_384
"""How far the room of an answer that was cut is widened."""


@dataclass(frozen=True)
class Terms:
    """The conditions of one call."""

    until: float
    budget: Budget | None
    cache: AnswerCache | None
    cache_key: str | None


class EndpointModel:
    """`Model` over one endpoint. Nothing is imported or connected before the first call."""

    def __init__(
        self, use: ModelUse, endpoint: Endpoint, estimate: TokenEstimate, clock: Clock | None = None
    ) -> None:
        self._use, self._endpoint = use, endpoint
        self._clock = clock or real_clock()
        self._connection = Connection(endpoint)
        chat = Chat(self._connection, endpoint.name)
        self._caller = Caller(use, endpoint, chat, estimate, self._clock)

    @property
    def name(self) -> str:
        """The model's name at its endpoint."""
        return self._endpoint.name

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
        """What the model says."""
        request = request_of(system, user, images, max_tokens=max_tokens, temperature=temperature)
        terms = self._terms(seconds, budget, cache, cache_key)
        known = await self._kept(request, terms)
        if known is not None:
            return known
        answer = await self._ask(request, terms)
        answer = replace(answer, text=without_thoughts(answer.text).strip())
        if not answer.text:
            reason = Reason.TRUNCATED if answer.finish == "length" else Reason.EMPTY
            raise ModelFailed(reason, "the model answered nothing beside its reasoning")
        await self._keep(request, terms, answer)
        return answer

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
        """The JSON object that the model answers with, valid by `schema`."""
        request = request_of(
            instructed(system, schema),
            user,
            images,
            max_tokens=max_tokens,
            temperature=temperature,
            json_object=True,
        )
        terms = self._terms(seconds, budget, cache, cache_key)
        known = await self._kept(request, terms)
        if known is not None:
            try:
                return read_object(known.text, schema, cut=False)
            except ModelFailed:
                known = None
        answer, value = await self._valid(request, schema, terms)
        await self._keep(request, terms, answer)
        return value

    async def _valid(self, request: Request, schema: type[T], terms: Terms) -> tuple[Answer, T]:
        """A valid answer: the first, or a second one, which has more room or is told what was
        wrong with the first."""
        said = ""
        try:
            answer = await self._ask(request, terms)
            said = answer.text
            return answer, read_object(said, schema, cut=answer.finish == "length")
        except ModelFailed as failed:
            again = _second(request, said, failed)
            if again is None:
                raise
        answer = await self._ask(again, terms)
        return answer, read_object(answer.text, schema, cut=answer.finish == "length")

    async def _ask(self, request: Request, terms: Terms) -> Answer:
        return await self._caller.ask(request, terms.until, terms.budget)

    def _terms(
        self,
        seconds: float,
        budget: Budget | None,
        cache: AnswerCache | None,
        cache_key: str | None,
    ) -> Terms:
        return Terms(self._clock.now() + seconds, budget, cache, cache_key)

    def _key(self, request: Request, terms: Terms) -> str | None:
        """Where the answer is kept; None for one that another call may answer otherwise."""
        if request.temperature > 0 and terms.cache_key is None:
            return None
        return key_of(self.name, request, terms.cache_key)

    async def _kept(self, request: Request, terms: Terms) -> Answer | None:
        key = self._key(request, terms)
        if key is None or terms.cache is None:
            return None
        known = await terms.cache.get(key)
        if known is not None:
            count_cached(self._use)
        return known

    async def _keep(self, request: Request, terms: Terms, answer: Answer) -> None:
        key = self._key(request, terms)
        if key is not None and terms.cache is not None:
            await terms.cache.put(key, answer)

    async def warm_up(self) -> None:
        """Import the library and make the clients."""
        for key in self._endpoint.key_list:
            await self._connection.client(key)

    async def close(self) -> None:
        """Release connections."""
        await self._connection.close()


def _second(request: Request, said: str, failed: ModelFailed) -> Request | None:
    """What is asked once the first answer was of no use; None where asking is of no use."""
    if failed.reason is Reason.TRUNCATED:
        room = min(MOST_TOKENS, 2 * request.max_tokens)
        return replace(request, max_tokens=room) if room > request.max_tokens else None
    if failed.reason is Reason.INVALID and said:
        return corrected(request, said, failed.detail)
    return None
