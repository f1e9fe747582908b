"""What the gateway does now and then, on every replica or on the one that holds the lease."""

from functools import partial

from libs.runtime.service import Service
from services.gateway.deps import Deps
from services.gateway.held import release_held
from services.gateway.lease import reconciler_lease
from services.gateway.reconcile import reconcile, sweep_uploads
from services.gateway.release import announce_forgotten, release_waiting
from services.gateway.watch import watch_bus

RELEASE_SECONDS = 1.0
ANNOUNCE_SECONDS = 3.0
RECONCILE_SECONDS = 10.0
"""A third of how long a lease lives."""
SWEEP_SECONDS = 600.0
WATCH_SECONDS = 10.0
LOOK_SECONDS = 2.0


def schedule(service: Service, deps: Deps) -> None:
    """Give the service its periodic tasks. Releasing is one transaction in the catalog and
    safe on every replica; reconciling is one replica's."""
    lease = reconciler_lease(service.bus)
    alone = lease.guarded
    service.every(RELEASE_SECONDS, partial(release_waiting, deps), "release")
    service.every(ANNOUNCE_SECONDS, partial(announce_forgotten, deps), "announce")
    service.every(LOOK_SECONDS, partial(deps.window.look, deps.bus), "look at the parsers")
    service.every(WATCH_SECONDS, partial(watch_bus, deps), "watch the bus")
    service.every(RELEASE_SECONDS, alone(partial(release_held, deps)), "give back held events")
    service.every(RECONCILE_SECONDS, alone(partial(reconcile, deps)), "reconcile")
    service.every(SWEEP_SECONDS, alone(partial(sweep_uploads, deps)), "sweep uploads")
    service.on_stop(lease.release)
