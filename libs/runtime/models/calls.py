"""One call of a chat model, within a budget and a time, watched."""

from opentelemetry.trace import Span

from libs.runtime.models.budget import Budget
from libs.runtime.models.chat import Chat, Request
from libs.runtime.models.port import Answer
from libs.runtime.models.settings import Endpoint
from libs.runtime.models.tokens import MARGIN, TokenEstimate
from libs.runtime.models.tries import Clock, Tries
from libs.runtime.models.use import ModelUse
from libs.runtime.models.watching import count_answer, watched


class Caller:
    """Calls one endpoint for one use."""

    def __init__(
        self, use: ModelUse, endpoint: Endpoint, chat: Chat, estimate: TokenEstimate, clock: Clock
    ) -> None:
        self._use, self._endpoint, self._chat = use, endpoint, chat
        self._estimate, self._clock = estimate, clock
        self._tries = Tries(endpoint, clock)

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
        said, tries = await self._tries.of(lambda key: self._chat.ask(key, request), until)
        tokens_in, tokens_out = said.tokens_in, said.tokens_out
        if tokens_in is None:
            tokens_in = await self._estimate.request(request)
        if tokens_out is None:
            tokens_out = await self._estimate.text(said.text)
        count_answer(span, self._use, said, (tokens_in, tokens_out), tries)
        return Answer(said.text, tokens_in, tokens_out, finish=said.finish)
