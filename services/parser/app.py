"""The parser: wiring only."""

from functools import partial

from libs.contracts.events import DocumentSharded, ShardsDone
from libs.contracts.subjects import JOIN, PARSE, Stage
from libs.runtime.service import Service, run
from services.parser.attempts import make_sandbox
from services.parser.handlers import Deps, on_shard, on_shards_done
from services.parser.settings import Settings


def build(service: Service) -> None:
    """Wire the service."""
    settings = service.settings
    assert isinstance(settings, Settings)
    sandbox = make_sandbox(settings)
    deps = Deps(service.bus, service.stores, sandbox)
    service.on_start(sandbox.start)
    service.on_end(sandbox.close)
    service.on_ready("sandbox", sandbox.ready)
    service.hear(PARSE, DocumentSharded, partial(on_shard, deps), workers=settings.parser_slots)
    service.hear(JOIN, ShardsDone, partial(on_shards_done, deps), workers=settings.parser_slots)


def main() -> None:
    """Run the service."""
    run(Stage.PARSER, Settings, build)


if __name__ == "__main__":
    main()
