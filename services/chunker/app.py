"""The chunker: rows in, chunks and navigation out. Wiring only."""

import asyncio
from functools import partial

from libs.contracts.events import DocumentParsed
from libs.contracts.subjects import CHUNK, Stage
from libs.runtime.inference.tokens import TokenCounter
from libs.runtime.service import Service, require, run
from services.chunker.handlers import Deps, on_parsed
from services.chunker.settings import Settings


def build(service: Service) -> None:
    """Wire the service."""
    settings = service.settings
    assert isinstance(settings, Settings)
    counter = TokenCounter(settings.models_dir())
    stores = service.stores
    deps = Deps(
        service.bus,
        stores.objects,
        counter.count_many,
        settings.sizes(),
        stores.catalog.documents,
    )
    service.soon(partial(asyncio.to_thread, counter.warm_up), "load the vocabulary")
    require(service, "catalog", "objects")
    service.hear(CHUNK, DocumentParsed, partial(on_parsed, deps), workers=settings.chunker_workers)


def main() -> None:
    """Run the service."""
    run(Stage.CHUNKER, Settings, build)


if __name__ == "__main__":
    main()
