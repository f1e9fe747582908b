"""Wires the gateway: the only place that knows what calls what."""

from functools import partial

from libs.contracts.events import JobEvent
from libs.contracts.subjects import LEDGER, PARK, TAKE, Stage
from libs.runtime.objects.factory import open_objects
from libs.runtime.service import Service, run
from services.gateway import handlers, reconcile, release
from services.gateway.deps import Deps
from services.gateway.http.app import create_app
from services.gateway.lease import reconciler_lease
from services.gateway.settings import Settings


def build(service: Service) -> None:
    """Give the service its handlers, periodic tasks and HTTP interface."""
    settings, bus, stores = service.settings, service.bus, service.stores
    assert isinstance(settings, Settings)
    inbox = open_objects(settings.resolved_inbox_url())
    deps = Deps(bus, stores, settings, inbox, checks=service.checks)
    lease = reconciler_lease(bus)
    service.hear(LEDGER, JobEvent, partial(handlers.on_event, deps), workers=2, advances=False)
    service.subscribe(TAKE, partial(handlers.on_upload_event, deps))
    service.subscribe(PARK, partial(handlers.on_advisory, deps))
    service.every(1.0, partial(release.release_waiting, deps), "release")
    service.every(3.0, partial(release.announce_forgotten, deps), "announce")
    service.every(10.0, lease.guarded(partial(reconcile.reconcile, deps)), "reconcile")
    service.every(600.0, lease.guarded(partial(reconcile.sweep_uploads, deps)), "sweep uploads")
    service.on_stop(lease.release)
    service.on_stop(inbox.close)
    service.on_ready("catalog", stores.catalog.ping)
    service.http(create_app(deps), settings.http_host, settings.http_port)


def main() -> None:
    """Run the gateway until it is asked to stop."""
    run(Stage.GATEWAY, Settings, build)


if __name__ == "__main__":
    main()
