"""Pausing a stage: the server stops giving messages to its durables, and keeps them.

The pause lies in the server's configuration of the durables, so it outlives every service. What
a worker has in hand it finishes.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import nats.errors
import nats.js.errors
from nats.js import JetStreamContext

from libs.contracts.faults import Code, WorldFault
from libs.contracts.subjects import CONSUMERS, Consumer, Stage
from libs.runtime.routes import durable_name, stream_name

PAUSABLE = (Stage.PROFILER, Stage.PARSER, Stage.CHUNKER, Stage.INDEXER)
FOREVER = "9999-01-01T00:00:00Z"


async def pause_stage(js: JetStreamContext, prefix: str, stage: Stage, *, paused: bool) -> None:
    """Pause every durable of a stage, or let them go on; again changes nothing.

    Raises `WorldFault(BUS_AWAY)`.
    """
    with _away():
        for stream, durable in _durables(prefix, stage):
            if paused:
                await js.pause_consumer(stream, durable, FOREVER)
            else:
                await js.resume_consumer(stream, durable)


async def paused_stages(js: JetStreamContext, prefix: str) -> list[Stage]:
    """Stages of which any durable is paused. Raises `WorldFault(BUS_AWAY)`."""
    found = []
    with _away():
        for stage in PAUSABLE:
            for stream, durable in _durables(prefix, stage):
                if (await js.consumer_info(stream, durable)).paused:
                    found.append(stage)
                    break
    return found


def _durables(prefix: str, stage: Stage) -> list[tuple[str, str]]:
    own: list[Consumer] = [one for one in CONSUMERS if one.stage is stage]
    return [(stream_name(prefix, one.stream), durable_name(one)) for one in own]


@contextmanager
def _away() -> Iterator[None]:
    try:
        yield
    except (nats.errors.Error, nats.js.errors.Error, TimeoutError, OSError) as error:
        raise WorldFault(Code.BUS_AWAY, "the message bus is away", retry_after=2.0) from error
