"""What calls of models may cost: reserved before, settled after."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from libs.runtime.models.failure import ModelFailed, Reason


@dataclass(eq=False)
class Reservation:
    """Tokens that a call under way may cost."""

    tokens: int
    open: bool = True


class Budget:
    """Tokens in and out, calls, and seconds since it was made; None is without a limit.

    Reserved and spent together never pass a limit, in whatever order calls run; only a
    server that counts more than was reserved can, and then nothing more is let through.
    """

    def __init__(
        self,
        *,
        tokens: int | None = None,
        calls: int | None = None,
        seconds: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tokens, self._calls = tokens, calls
        self._clock = clock
        self._until = None if seconds is None else clock() + seconds
        self._held: set[Reservation] = set()
        self.tokens_spent = 0
        self.calls_spent = 0

    @property
    def seconds_left(self) -> float | None:
        """Never negative; None without a limit."""
        return None if self._until is None else max(0.0, self._until - self._clock())

    @property
    def tokens_left(self) -> int | None:
        """What can still be reserved, never negative; None without a limit."""
        if self._tokens is None:
            return None
        return max(0, self._tokens - self.tokens_spent - sum(r.tokens for r in self._held))

    @property
    def calls_left(self) -> int | None:
        """Calls that can still begin; None without a limit."""
        if self._calls is None:
            return None
        return max(0, self._calls - self.calls_spent - len(self._held))

    def reserve(self, tokens: int) -> Reservation:
        """Hold one call of `tokens`; `ModelFailed(BUDGET)` when it does not fit."""
        left = self.tokens_left
        if self.calls_left == 0 or self.seconds_left == 0 or (left is not None and tokens > left):
            raise ModelFailed(Reason.BUDGET, "the budget for model calls is used up")
        held = Reservation(tokens)
        self._held.add(held)
        return held

    def settle(self, held: Reservation, tokens: int) -> None:
        """The call has cost so many tokens, 0 where it came to no answer; it counts as a call
        either way. `ValueError` when it was settled before."""
        if not held.open:
            raise ValueError("this call is settled already")
        held.open = False
        self._held.discard(held)
        self.tokens_spent += tokens
        self.calls_spent += 1
