"""The one connection of a service to the bus."""

from collections.abc import Awaitable, Callable

from faststream.nats import NatsBroker

from libs.contracts.subjects import Stage
from libs.runtime.buslogin import login_of
from libs.runtime.settings import Settings

NO_BUS = "GROUNDWIRE_NATS_URL is not set: name a NATS server, or run `groundwire up`"


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
        closed_cb=on_closed,
        logger=None,
        apply_types=False,
    )
