"""Work on the stores that nothing else may touch meanwhile: refused while services run."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import nats
import nats.errors
from nats.js.errors import Error as JetStreamError
from nats.js.errors import NotFoundError

from deploy.local.folder import DataFolder, FolderTaken
from libs.contracts.subjects import CONSUMERS
from libs.runtime.buslogin import login_of
from libs.runtime.routes import durable_name, stream_name
from libs.runtime.settings import Settings

CONNECT_SECONDS = 3


class ServicesRun(Exception):
    """Services work on these stores; the message says how that was seen."""


@contextmanager
def alone(settings: Settings, what: str) -> Iterator[None]:
    """Hold the data folder, as a stack would, for the work `what`.

    Raises `ServicesRun` when a stack holds it, or when services take messages from the given
    bus. A bus that is away is no obstacle: without it no service can work.
    """
    folder = DataFolder(settings.data_dir.absolute())
    folder.make()
    try:
        lock = folder.lock(what)
    except FolderTaken as taken:
        raise ServicesRun(str(taken)) from None
    with lock:
        if settings.nats_url is not None:
            working = asyncio.run(_at_work(settings.nats_url, settings.prefix))
            if working:
                raise ServicesRun(
                    f"services take messages from the bus ({', '.join(working)}): stop them first"
                )
        yield


async def _at_work(url: str, prefix: str) -> list[str]:
    """Stages that wait for messages just now."""
    try:
        client = await nats.connect(**login_of(url).briefly(CONNECT_SECONDS))
    except (OSError, nats.errors.Error):
        return []
    try:
        js = client.jetstream()
        found: set[str] = set()
        for consumer in CONSUMERS:
            try:
                info = await js.consumer_info(
                    stream_name(prefix, consumer.stream), durable_name(consumer)
                )
            except NotFoundError:
                continue
            if info.num_waiting or info.num_ack_pending:
                found.add(str(consumer.stage))
        return sorted(found)
    except (nats.errors.Error, JetStreamError, TimeoutError):
        return []
    finally:
        await client.close()
