"""The one connection of a service to the bus."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from faststream.nats import NatsBroker

from libs.contracts.subjects import Stage
from libs.runtime.buslogin import login_of
from libs.runtime.settings import Settings
from libs.runtime.telemetry import logger

NO_BUS = "GROUNDWIRE_NATS_URL is not set: name a NATS server, or run `groundwire up`"
SILENCE_SECONDS = 30.0
"""Between two times that the same trouble is told."""
MOST_TROUBLES = 100

log = logger("bus")


class _Troubles:
    """Tells the log why there is no connection, or what the server refused, and does not repeat
    itself: connecting is tried every second."""

    def __init__(self) -> None:
        self._told: dict[str, float] = {}

    async def __call__(self, error: Exception) -> None:
        """Tell one."""
        what, now = f"{type(error).__name__}: {error}", time.monotonic()
        if now - self._told.get(what, -SILENCE_SECONDS) < SILENCE_SECONDS:
            return
        if len(self._told) >= MOST_TROUBLES:
            self._told.clear()
        self._told[what] = now
        log.warning("trouble with the bus", error=type(error).__name__, detail=str(error))


def broker_of(
    stage: Stage, settings: Settings, on_closed: Callable[[], Awaitable[None]]
) -> NatsBroker:
    """A broker that waits for a server that is away, for ever.

    `on_closed` is called when it has given up all the same: the service ends, or the server
    has taken the user's rights away, after which the client library does not connect again.
    Raises `SystemExit` where no server is named.
    """
    if settings.nats_url is None:
        raise SystemExit(NO_BUS)
    return NatsBroker(
        **login_of(settings.nats_url).broker(),
        name=f"groundwire-{stage}",
        graceful_timeout=settings.shutdown_seconds,
        max_reconnect_attempts=-1,
        reconnect_time_wait=1,
        error_cb=_Troubles(),
        closed_cb=on_closed,
        logger=None,
        apply_types=False,
    )


def inbox_below(settings: Settings) -> bytes:
    """What the subjects of pulled messages begin with: a subscriber does not ask its broker."""
    return f"{login_of(settings.nats_url or '').inbox}.".encode()


async def connected(broker: NatsBroker, stopping: asyncio.Event) -> bool:
    """Wait for the bus; False when this process was asked to stop before it came.

    Raises what the client library does where waiting is of no use: a wrong password.
    """
    stopped = asyncio.create_task(stopping.wait())
    connecting = asyncio.create_task(broker.connect())
    await asyncio.wait((stopped, connecting), return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if connecting.done():
        connecting.result()
        return True
    connecting.cancel()
    return False
