"""The parser: wiring only."""

import asyncio
from functools import partial

from libs.contracts.api.reading import PictureQuery
from libs.contracts.events import DocumentSharded, ShardsDone
from libs.contracts.subjects import JOIN, PARSE, QUERY_PICTURE, Stage
from libs.runtime.service import Service, require, run
from services.parser.attempts import make_sandbox
from services.parser.handlers import Deps, on_picture, on_shard, on_shards_done
from services.parser.helped import open_models
from services.parser.settings import Settings


def build(service: Service) -> None:
    """Wire the service."""
    settings = service.settings
    assert isinstance(settings, Settings)
    sandbox = make_sandbox(settings)
    models, drawn = open_models(settings), asyncio.Semaphore(settings.parser_picture_slots)
    deps = Deps(service.bus, service.stores, sandbox, drawn, models)
    service.on_start(sandbox.start)
    service.on_end(sandbox.close)
    service.on_end(models.close)
    service.on_ready("sandbox", sandbox.ready)
    require(service, "catalog", "objects")
    service.hear(PARSE, DocumentSharded, partial(on_shard, deps), workers=settings.parser_slots)
    service.hear(JOIN, ShardsDone, partial(on_shards_done, deps), workers=settings.parser_slots)
    service.answer(QUERY_PICTURE, PictureQuery, partial(on_picture, deps), workers=64)


def main() -> None:
    """Run the service."""
    run(Stage.PARSER, Settings, build)


if __name__ == "__main__":
    main()
