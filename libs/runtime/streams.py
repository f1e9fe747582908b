"""Bootstrap: makes streams, durables and buckets as the catalogue says; idempotent.

It runs before any service, because FastStream ignores changed settings of an existing
durable in silence, and because an interest stream drops what nobody has subscribed to.
"""

from collections.abc import Mapping
from types import MappingProxyType

from nats.js import JetStreamContext
from nats.js.api import (
    AckPolicy,
    ConsumerConfig,
    DiscardPolicy,
    KeyValueConfig,
    RetentionPolicy,
    StorageType,
    StreamConfig,
)
from nats.js.errors import BadRequestError, BucketNotFoundError, NotFoundError

from libs.contracts.subjects import CONSUMERS, STREAMS, Consumer, Stream
from libs.runtime.routes import durable_name, full, stream_name

DUPLICATE_WINDOW_SECONDS = 120.0
BUCKETS = {"searches": 600.0, "leases": 30.0}


def stream_config(
    prefix: str, stream: Stream, replicas: int = 1, max_age: float | None = None
) -> StreamConfig:
    """The server's configuration of a catalogue stream; `max_age` in seconds, 0 for ever, goes
    before the catalogue's."""
    return StreamConfig(
        name=stream_name(prefix, stream),
        description=stream.purpose,
        subjects=[full(prefix, s) for s in stream.subjects],
        retention=RetentionPolicy(stream.retention),
        discard=DiscardPolicy(stream.discard),
        storage=StorageType.FILE,
        max_age=stream.max_age if max_age is None else max_age,
        max_bytes=stream.max_bytes,
        num_replicas=replicas,
        duplicate_window=DUPLICATE_WINDOW_SECONDS,
        allow_direct=True,
        allow_msg_schedules=True if stream.schedules else None,
    )


def consumer_config(prefix: str, consumer: Consumer, ack_wait: float) -> ConsumerConfig:
    """The server's configuration of a catalogue durable; `ack_wait` in seconds, which
    heartbeats renew."""
    return ConsumerConfig(
        durable_name=durable_name(consumer),
        description=consumer.purpose,
        ack_policy=AckPolicy.EXPLICIT,
        ack_wait=ack_wait,
        max_deliver=consumer.max_deliver,
        max_ack_pending=consumer.max_ack_pending,
        filter_subjects=[full(prefix, s) for s in consumer.subjects],
    )


async def bootstrap(
    js: JetStreamContext,
    prefix: str,
    *,
    ack_wait: float,
    replicas: int = 1,
    max_ages: Mapping[Stream, float] = MappingProxyType({}),
) -> None:
    """Make or update every stream, then every durable, then the key-value buckets. `max_ages`
    in seconds, 0 for ever, go before the catalogue's."""
    for stream in STREAMS:
        config = stream_config(prefix, stream, replicas, max_ages.get(stream))
        try:
            await js.add_stream(config)
        except BadRequestError:
            await js.update_stream(config)
    for consumer in CONSUMERS:
        await js.add_consumer(
            stream_name(prefix, consumer.stream), consumer_config(prefix, consumer, ack_wait)
        )
    for bucket, ttl in BUCKETS.items():
        try:
            await js.key_value(bucket_name(prefix, bucket))
        except (BucketNotFoundError, NotFoundError):
            await js.create_key_value(
                KeyValueConfig(bucket=bucket_name(prefix, bucket), ttl=ttl, replicas=replicas)
            )


def bucket_name(prefix: str, bucket: str) -> str:
    """A key-value bucket's name on the server."""
    return f"{prefix}-{bucket}"
