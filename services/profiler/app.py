"""The profiler: wiring only."""

from functools import partial

from libs.contracts.events import DocumentAccepted, ShardParsed
from libs.contracts.subjects import PROFILE, RELEASE, Stage
from libs.runtime.service import Service, require, run
from services.profiler.classify import classifier_of
from services.profiler.handlers import Deps, on_accepted, on_shard_parsed
from services.profiler.look import make_sandbox
from services.profiler.settings import Settings


def build(service: Service) -> None:
    """Wire the service."""
    settings = service.settings
    assert isinstance(settings, Settings)
    sandbox = make_sandbox(settings)
    stores, classifier = service.stores, classifier_of(service.stores.objects, settings)
    bounds, window = settings.bounds(), settings.shard_window
    deps = Deps(service.bus, stores, sandbox, bounds, window, classifier)
    service.on_start(sandbox.start)
    service.on_end(sandbox.close)
    service.on_end(classifier.close)
    service.on_ready("sandbox", sandbox.ready)
    slots = settings.profiler_slots
    require(service, "catalog", "objects")
    service.hear(PROFILE, DocumentAccepted, partial(on_accepted, deps), workers=slots)
    service.hear(RELEASE, ShardParsed, partial(on_shard_parsed, deps), workers=2)


def main() -> None:
    """Run the service."""
    run(Stage.PROFILER, Settings, build)


if __name__ == "__main__":
    main()
