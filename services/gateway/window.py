"""How much of one namespace's work may stand before the parser: as much as keeps it busy.

A stream is a queue for all, so what stands in it makes everybody wait. What waits in the catalog
makes nobody wait: there every namespace has its turn. So jobs are released as the parsers take
them, and only some shards stand ready (`GROUNDWIRE_READY_SHARDS` for each place to parse one).
"""

import math
from collections import deque

from libs.contracts.subjects import PARSE
from libs.runtime.bus import Bus
from libs.runtime.routes import durable_name, stream_name

FEWEST = 3
LOOKS = 3
"""A worker between two messages is not seen, so the most of several looks is taken."""


class Window:
    """Follows how many shards the parsers of all replicas can have in hand."""

    def __init__(self, ready: float) -> None:
        self._ready = ready
        self._seen: deque[int] = deque(maxlen=LOOKS)

    @property
    def shards(self) -> int | None:
        """How many shards of a namespace may be on their way to the parser's end; None before
        the first look."""
        if not self._seen:
            return None
        slots = max(self._seen)
        return max(FEWEST, slots + math.ceil(slots * self._ready))

    async def look(self, bus: Bus) -> None:
        """Ask the server who works and who waits for work."""
        stream = stream_name(bus.prefix, PARSE.stream)
        info = await bus.js.consumer_info(stream, durable_name(PARSE))
        self._seen.append((info.num_ack_pending or 0) + (info.num_waiting or 0))
