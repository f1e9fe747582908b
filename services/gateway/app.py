"""The gateway: wiring only."""

from functools import partial

from libs.contracts.events import JobEvent
from libs.contracts.subjects import LEDGER, PARK, TAKE, Stage
from libs.runtime.objects.factory import open_objects
from libs.runtime.service import Service, require, run
from libs.runtime.storecalls import watched
from services.gateway import handlers
from services.gateway.deps import Deps
from services.gateway.http.app import create_app
from services.gateway.periodic import schedule
from services.gateway.settings import Settings


def build(service: Service) -> None:
    """Wire the service."""
    settings, stores = service.settings, service.stores
    assert isinstance(settings, Settings)
    inbox = watched(open_objects(settings.resolved_inbox_url(), settings.objects_keys()), "inbox")
    deps = Deps(service.bus, stores, settings, inbox, checks=service.checks)
    service.hear(LEDGER, JobEvent, partial(handlers.on_event, deps), workers=8, advances=False)
    for _ in range(settings.intake_workers):
        service.subscribe(TAKE, partial(handlers.on_upload_event, deps))
    service.subscribe(PARK, partial(handlers.on_advisory, deps))
    schedule(service, deps)
    service.on_stop(inbox.close)
    require(service, "catalog", "objects")
    service.http(create_app(deps), settings.http_host, settings.http_port)


def main() -> None:
    """Run the gateway."""
    run(Stage.GATEWAY, Settings, build)


if __name__ == "__main__":
    main()
