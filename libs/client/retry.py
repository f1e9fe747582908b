"""When a call is tried again, and after how long: the same for both clients."""

import random
from dataclasses import dataclass

import httpx

BUSY = frozenset({429, 502, 503, 504})


@dataclass(frozen=True)
class Retry:
    """Up to `tries` in all; delays in seconds grow by two, with jitter, to `longest`.

    A `Retry-After` of the service is obeyed as far as `longest` allows.
    """

    tries: int = 6
    first: float = 0.25
    longest: float = 30.0

    def after_answer(self, attempt: int, response: httpx.Response) -> float | None:
        """Seconds to wait before the next try, None when the answer stands. Attempts from 1."""
        if response.status_code not in BUSY or attempt >= self.tries:
            return None
        return max(self._delay(attempt), self._asked(response))

    def after_error(self, attempt: int) -> float | None:
        """The same when nobody answered; ask only where the call may be sent again."""
        return None if attempt >= self.tries else self._delay(attempt)

    def _delay(self, attempt: int) -> float:
        grown = min(self.first * 2 ** (attempt - 1), self.longest)
        return float(grown * random.uniform(0.5, 1.0))  # noqa: S311

    def _asked(self, response: httpx.Response) -> float:
        try:
            return min(max(float(response.headers.get("retry-after", "0")), 0.0), self.longest)
        except ValueError:
            return 0.0
