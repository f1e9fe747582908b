"""A job's history as server-sent events.

Lines of the history carry their sequence as `id`, so a client that was cut off resumes
without a gap. An unnumbered `job` event shows the whole job at the start, after each
change and last of all, when it has ended.
"""

import time
from collections.abc import AsyncIterator

import orjson

from libs.runtime.catalog.jobs import JobEventRecord, JobRecord
from services.gateway.deps import Deps
from services.gateway.http.views import job_view
from services.gateway.ledger import TERMINAL

POLL_SECONDS = 0.25
HEARTBEAT_SECONDS = 15.0


async def nothing_to_say(deps: Deps, job: JobRecord, after: int) -> bool:
    """Whether a resuming client has heard all there will be: 204 ends its reconnecting."""
    if after == 0 or job.state not in TERMINAL:
        return False
    return not await deps.stores.catalog.jobs.history(job.job_id, after)


async def event_stream(deps: Deps, job: JobRecord, after: int) -> AsyncIterator[bytes]:
    """Events until the job has ended."""
    jobs = deps.stores.catalog.jobs
    shown = None
    spoken = time.monotonic()
    with deps.news.watch(job.job_id) as watch:
        while True:
            followed = await jobs.followed(job.namespace, job.job_id, after)
            if followed is None:
                return
            current, lines = followed
            if current != shown:
                for line in lines:
                    after = line.sequence
                    yield _line(line)
                shown = current
                spoken = time.monotonic()
                yield _event("job", job_view(current).model_dump_json().encode())
            if current.state in TERMINAL:
                return
            if time.monotonic() - spoken >= HEARTBEAT_SECONDS:
                spoken = time.monotonic()
                yield b": waiting\n\n"
            await watch.wait(POLL_SECONDS)


def _line(line: JobEventRecord) -> bytes:
    body = {"event": line.event, "occurred_at": line.occurred_at, **line.data}
    return b"id: %d\n" % line.sequence + _event(line.event, orjson.dumps(body, default=str))


def _event(name: str, data: bytes) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"
