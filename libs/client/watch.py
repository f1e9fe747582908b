"""Following a job over server-sent events, and resuming where the stream broke."""

import time

from pydantic import ValidationError

from libs.contracts.api.documents import JobView

ENDED = frozenset({"published", "failed", "cancelled", "superseded"})
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 2.0
SILENCE_SECONDS = 45.0  # three heartbeats of the stream


class JobWatch:
    """The state of following one job: reads lines of the stream, remembers the last event.

    `seconds` bounds the whole; None follows without end.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self.last_event_id: str | None = None
        self._data: list[str] = []
        self._pause = FIRST_PAUSE

    def remaining(self) -> float:
        """Seconds that the stream may be silent; 0 once the time is over."""
        if self._deadline is None:
            return SILENCE_SECONDS
        return min(max(self._deadline - time.monotonic(), 0.0), SILENCE_SECONDS)

    def headers(self) -> dict[str, str]:
        """Headers of the next request for the stream."""
        headers = {"Accept": "text/event-stream"}
        if self.last_event_id is not None:
            headers["Last-Event-ID"] = self.last_event_id
        return headers

    def feed(self, line: str) -> JobView | None:
        """Take one line; the job's new state when the line ended an event that holds one."""
        if line:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "data":
                self._data.append(value)
            elif name == "id":
                self.last_event_id = value
            return None
        data, self._data = "\n".join(self._data), []
        try:
            view = JobView.model_validate_json(data)
        except ValidationError:
            return None
        self._pause = FIRST_PAUSE
        return view

    def pause(self) -> float:
        """Seconds to wait before the stream is asked for again; grows while nothing comes."""
        self._data.clear()
        pause, self._pause = self._pause, min(self._pause * 2, LONGEST_PAUSE)
        return min(pause, self.remaining())
