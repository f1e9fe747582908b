"""Upload events of a namespace whose queue is full wait apart, so that those of others pass.

A consumer has a bounded number of events in hand, and a delayed one keeps its place: events
that can only wait would fill it. They are moved to a stream of their own, by namespace, and
come back to the end of the common one, in order, once their namespace has room. When that
stream is full too, an event keeps its place, and the others stay unfetched.
"""

from nats.errors import Error as NatsError
from nats.js.errors import Error as JetStreamError
from nats.js.errors import NotFoundError

from libs.contracts.faults import Code, WorldFault
from libs.contracts.subjects import (
    HELD,
    HELD_BUCKET,
    HELD_REQUESTED,
    INGEST_BUCKET,
    INGEST_REQUESTED,
    Subject,
)
from libs.runtime.bus import headers_of
from libs.runtime.deadletters import body_of
from libs.runtime.routes import stream_name, subject_of
from libs.runtime.telemetry import logger
from libs.runtime.tracing import attached
from services.gateway.deps import Deps

BATCH = 64
"""Most events of a subject that come back in one round."""

_BACK = {HELD_REQUESTED: INGEST_REQUESTED, HELD_BUCKET: INGEST_BUCKET}

log = logger("gateway.held")


async def hold(deps: Deps, subject: Subject, namespace: str, body: bytes, mark: str) -> None:
    """Keep an event until its namespace has room; `WorldFault` when no more can be kept."""
    await deps.bus.publish(subject, body, message_id=f"held:{mark}", namespace=namespace)
    log.info("an upload event waits for room", namespace=namespace)


async def release_held(deps: Deps) -> None:
    """Give back what was held to namespaces that have room again, oldest first."""
    js, stream = deps.bus.js, stream_name(deps.bus.prefix, HELD)
    try:
        info = await js.stream_info(stream, subjects_filter=">")
        for wire, count in (info.state.subjects or {}).items():
            found = subject_of(deps.bus.prefix, wire)
            if found is not None and found[0] in _BACK:
                subject, tokens = found
                many = min(count, BATCH, await _room(deps, tokens["namespace"]))
                for _ in range(many):
                    await _give_back(deps, stream, wire, _BACK[subject], tokens)
    except NotFoundError:
        return
    except (NatsError, JetStreamError, TimeoutError, OSError) as error:
        raise WorldFault(Code.BUS_AWAY, "the message bus is away", retry_after=2.0) from error


async def _room(deps: Deps, namespace: str) -> int:
    waiting = await deps.stores.catalog.jobs.count(namespace, "waiting")
    return max(0, deps.settings.max_waiting - waiting)


async def _give_back(
    deps: Deps, stream: str, wire: str, subject: Subject, tokens: dict[str, str]
) -> None:
    """Publish the oldest held event of a subject anew, then forget it: a crash between the
    two publishes it again under the same id."""
    message = await deps.bus.js.get_msg(stream, seq=1, subject=wire, next=True)
    headers = headers_of(message)
    body = await body_of(deps.stores.objects, headers, message.data or b"")
    mark = f"room:{message.seq}"
    with attached(headers):
        if subject is INGEST_REQUESTED:
            namespace = tokens["namespace"]
            await deps.bus.publish(subject, body, message_id=mark, namespace=namespace)
        else:
            await deps.bus.publish(subject, body, message_id=mark)
    await deps.bus.js.delete_msg(stream, message.seq or 0)
