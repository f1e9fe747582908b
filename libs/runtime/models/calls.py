"""One call of a model: a free key, tries in place, within a budget and a time."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from opentelemetry.trace import Span

from libs.runtime.models.budget import Budget
from libs.runtime.models.chat import Chat, Request, Said
from libs.runtime.models.failure import ModelFailed, Reason
from libs.runtime.models.keys import KeyPool
from libs.runtime.models.port import Answer
from libs.runtime.models.settings import Endpoint
from libs.runtime.models.tokens import MARGIN, TokenEstimate
from libs.runtime.models.use import ModelUse
from libs.runtime.models.watching import count_answer, watched

TRIES = 5
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.5, 8.0
TRIPS_AFTER = 3
"""Calls in a row that found no server, after which the next ones fail at once ..."""
TRIPPED_SECONDS = 15.0
"""... for so long: who waits for an answer should not wait for each of them."""
_AWAY = frozenset({Reason.TIMEOUT, Reason.UNREACHABLE})


@dataclass(frozen=True)
class Clock:
    """Time as the client sees it; tests have one of their own."""

    now: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]]


def real_clock() -> Clock:
    """The running loop's."""
    return Clock(lambda: asyncio.get_running_loop().time(), asyncio.sleep)


class Caller:
    """Calls one endpoint for one use."""

    def __init__(
        self, use: ModelUse, endpoint: Endpoint, chat: Chat, estimate: TokenEstimate, clock: Clock
    ) -> None:
        self._use, self._endpoint, self._chat = use, endpoint, chat
        self._estimate, self._clock = estimate, clock
        self._pool = KeyPool(endpoint.key_list, endpoint.rates, clock.now, clock.sleep)
        self._away, self._tripped_until = 0, float("-inf")

    async def ask(self, request: Request, until: float, budget: Budget | None) -> Answer:
        """The answer; `ModelFailed` when there is none before the clock's time `until`."""
        with watched(self._use, self._endpoint, request) as span:
            if budget is None:
                return await self._answer(request, until, span)
            tokens = request.max_tokens
            if budget.tokens_left is not None:
                tokens += round(MARGIN * await self._estimate.request(request))
            held = budget.reserve(tokens)
            spent = 0
            try:
                left = budget.seconds_left
                within = until if left is None else min(until, self._clock.now() + left)
                answer = await self._answer(request, within, span)
                spent = answer.tokens_in + answer.tokens_out
                return answer
            finally:
                budget.settle(held, spent)

    async def _answer(self, request: Request, until: float, span: Span) -> Answer:
        if self._clock.now() < self._tripped_until:
            raise ModelFailed(Reason.UNREACHABLE, "the model's server was away a moment ago")
        try:
            said, tries = await self._tried(request, until)
        except ModelFailed as failed:
            self._count_away(failed)
            raise
        self._away = 0
        tokens_in, tokens_out = said.tokens_in, said.tokens_out
        if tokens_in is None:
            tokens_in = await self._estimate.request(request)
        if tokens_out is None:
            tokens_out = await self._estimate.text(said.text)
        count_answer(span, self._use, said, (tokens_in, tokens_out), tries)
        return Answer(said.text, tokens_in, tokens_out, finish=said.finish)

    def _count_away(self, failed: ModelFailed) -> None:
        self._away = self._away + 1 if failed.reason in _AWAY else 0
        if self._away >= TRIPS_AFTER:
            self._tripped_until = self._clock.now() + TRIPPED_SECONDS

    async def _tried(self, request: Request, until: float) -> tuple[Said, int]:
        """The answer, and how many tries it took."""
        for tries in range(1, TRIES + 1):
            key = await self._pool.take(until)
            try:
                said = await self._within(self._chat.ask(key.secret, request), until)
            except ModelFailed as failed:
                self._pool.heed(key, failed)
                another_key = failed.reason is Reason.REFUSED and not self._pool.all_refused
                if tries == TRIES or not (failed.transient or another_key):
                    raise
                await self._pause(failed, tries, until)
            else:
                self._pool.heed_success(key)
                return said, tries
        raise AssertionError("the last try returns or raises")

    async def _pause(self, failed: ModelFailed, tries: int, until: float) -> None:
        """Wait a little before the next try, unless its key is what is waited for."""
        if failed.reason in (Reason.RATE_LIMITED, Reason.REFUSED):
            return
        pause = min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** (tries - 1))
        pause *= random.uniform(0.5, 1.0)  # noqa: S311
        if failed.retry_after is not None:
            pause = max(pause, failed.retry_after)
        if self._clock.now() + pause >= until:
            raise failed
        await self._clock.sleep(pause)

    async def _within(self, work: Awaitable[Said], until: float) -> Said:
        try:
            return await asyncio.wait_for(work, max(0.0, until - self._clock.now()))
        except TimeoutError:
            raise ModelFailed(Reason.TIMEOUT, "the model did not answer in time") from None
