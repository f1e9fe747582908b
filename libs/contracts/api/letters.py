"""Dead letters as the HTTP interface shows them."""

from typing import Any

from libs.contracts.events import DeadLetter


class LetterView(DeadLetter):
    """A letter, how long it has waited, and where its trace is shown; `message` is its body as
    it was meant, where that is JSON, in a letter that was asked for by its id."""

    age_seconds: float = 0.0
    trace_url: str | None = None
    message: Any = None
