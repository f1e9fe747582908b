"""Wires the gateway: the only place that knows what calls what."""

from functools import partial

from libs.contracts.events import JobEvent
from libs.contracts.subjects import LEDGER, Stage
from libs.runtime.service import Service, run
from services.gateway import handlers
from services.gateway.deps import Deps
from services.gateway.http.app import create_app
from services.gateway.release import release_waiting
from services.gateway.settings import Settings


def build(service: Service) -> None:
    """Give the service its handlers, periodic tasks and HTTP interface."""
    settings = service.settings
    if not isinstance(settings, Settings):
        raise TypeError("the gateway needs its own settings")
    deps = Deps(service.bus, service.stores, settings, checks=service.checks)
    service.on_ready("catalog", service.stores.catalog.ping)
    service.hear(LEDGER, JobEvent, partial(handlers.on_event, deps), workers=2, advances=False)
    service.every(1.0, partial(_release, deps), "release")
    service.http(create_app(deps), settings.http_host, settings.http_port)


async def _release(deps: Deps) -> None:
    await release_waiting(deps)


def main() -> None:
    """Run the gateway until it is asked to stop."""
    run(Stage.GATEWAY, Settings, build)


if __name__ == "__main__":
    main()
