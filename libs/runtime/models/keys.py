"""Several keys of one endpoint, each with its own rate limit."""

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from libs.runtime.models.failure import ModelFailed, Reason

WINDOW_SECONDS = 60.0
REFUSED_SECONDS = 600.0
"""How long a key that the server refuses is left alone."""
FIRST_REST_SECONDS, LONGEST_REST_SECONDS = 1.0, 60.0
"""How long a rate-limited key rests, doubling, where the server does not say."""


@dataclass(eq=False)
class Key:
    """One key: `rate` requests in any minute, None without a limit."""

    secret: str = field(repr=False)
    rate: float | None = None
    rests_until: float = 0.0
    refused: bool = False
    limited: int = 0
    """Answers of "too many requests" in a row."""
    used: float = float("-inf")
    starts: deque[float] = field(default_factory=deque)

    def free_at(self, now: float) -> float:
        """When it may be used again."""
        while self.starts and self.starts[0] <= now - WINDOW_SECONDS:
            self.starts.popleft()
        free = max(now, self.rests_until)
        if self.rate is None:
            return free
        if self.rate < 1:
            return max(free, self.used + WINDOW_SECONDS / self.rate)
        full = len(self.starts) >= int(self.rate)
        return max(free, self.starts[-int(self.rate)] + WINDOW_SECONDS) if full else free


class KeyPool:
    """Gives out the key that is free first, of those that are free the one unused longest.

    The limits hold for this process alone; what other processes use shows as rate-limited
    answers, after which a key rests as long as the server says.
    """

    def __init__(
        self,
        secrets: Sequence[str],
        rates: Sequence[float | None],
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        each = rates if len(rates) == len(secrets) else [rates[0]] * len(secrets)
        self._keys = [Key(s, r) for s, r in zip(secrets, each, strict=True)]
        self._clock, self._sleep = clock, sleep

    async def take(self, until: float) -> Key:
        """The next free key, waited for. `ModelFailed` when none comes free before `until`."""
        while True:
            now = self._clock()
            key = min(self._keys, key=lambda k: (k.free_at(now), k.used))
            free = key.free_at(now)
            if free <= now:
                key.used = now
                key.refused = False
                key.starts.append(now)
                return key
            if free > until:
                raise self._none_free(free - now)
            await self._sleep(free - now)

    def _none_free(self, seconds: float) -> ModelFailed:
        if all(k.refused for k in self._keys):
            return ModelFailed(Reason.REFUSED, "the model's server refuses every key")
        return ModelFailed(Reason.RATE_LIMITED, "no key of the model is free in time", seconds)

    def heed(self, key: Key, failed: ModelFailed) -> None:
        """Let the key rest where the server said so."""
        now = self._clock()
        if failed.reason is Reason.RATE_LIMITED:
            rest = min(LONGEST_REST_SECONDS, FIRST_REST_SECONDS * 2**key.limited)
            key.limited += 1
            key.rests_until = now + (rest if failed.retry_after is None else failed.retry_after)
        elif failed.reason is Reason.REFUSED:
            key.refused = True
            key.rests_until = now + REFUSED_SECONDS

    def heed_success(self, key: Key) -> None:
        """The key works."""
        key.limited = 0

    @property
    def all_refused(self) -> bool:
        """Whether no key is of use."""
        return all(k.refused for k in self._keys)
