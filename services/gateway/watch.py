"""What operators watch of the bus, as metrics: messages that wait, dead letters, full streams.

Every replica asks and tells the same, so that none is missed when one ends; take the maximum.
"""

from prometheus_client import Gauge

from libs.contracts.subjects import CONSUMERS, DEAD, STREAMS
from libs.runtime import deadletters
from libs.runtime.routes import durable_name, stream_name
from services.gateway.deps import Deps

PENDING = Gauge(
    "groundwire_consumer_pending", "Messages that wait for a durable to take them", ["consumer"]
)
UNACKNOWLEDGED = Gauge(
    "groundwire_consumer_unacknowledged", "Messages of a durable that are worked on", ["consumer"]
)
FILLED = Gauge("groundwire_stream_filled_ratio", "Bytes of a stream by its limit", ["stream"])
LETTERS = Gauge("groundwire_dead_letters", "Dead letters that wait for somebody", ["stream"])
OLDEST = Gauge(
    "groundwire_dead_letter_age_seconds", "Age of the oldest dead letter, in seconds", ["stream"]
)
GAUGES = (PENDING, UNACKNOWLEDGED, FILLED, LETTERS, OLDEST)


async def watch_bus(deps: Deps) -> None:
    """Set the gauges. When the bus does not answer they say nothing, rather than what was."""
    try:
        await _consumers(deps)
        await _streams(deps)
    except Exception:
        for gauge in GAUGES:
            gauge.clear()
        raise


async def _consumers(deps: Deps) -> None:
    bus = deps.bus
    for consumer in CONSUMERS:
        stream = stream_name(bus.prefix, consumer.stream)
        info = await bus.js.consumer_info(stream, durable_name(consumer))
        PENDING.labels(consumer.durable).set(info.num_pending or 0)
        UNACKNOWLEDGED.labels(consumer.durable).set(info.num_ack_pending or 0)


async def _streams(deps: Deps) -> None:
    bus = deps.bus
    for stream in STREAMS:
        info = await bus.js.stream_info(stream_name(bus.prefix, stream))
        most = info.config.max_bytes or 0
        FILLED.labels(stream.name).set(info.state.bytes / most if most > 0 else 0.0)
        if stream is DEAD:
            LETTERS.labels(stream.name).set(info.state.messages)
    oldest = await deadletters.oldest(bus)
    age = 0.0 if oldest is None else (deps.clock() - oldest).total_seconds()
    OLDEST.labels(DEAD.name).set(max(age, 0.0))
