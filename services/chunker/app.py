"""The chunker: rows in, chunks and navigation out. Wiring only."""

import asyncio
from functools import partial

from libs.contracts.events import DocumentParsed, EntriesDescribed, EntriesMerged
from libs.contracts.query.entries import CostQuery
from libs.contracts.subjects import CHUNK, DESCRIBE, QUERY_COST, TELL_APART, Stage
from libs.runtime.inference.tokens import TokenCounter
from libs.runtime.service import Service, require, run
from services.chunker.enrich import enricher_of
from services.chunker.handlers import Deps, on_cost, on_described, on_merged, on_parsed
from services.chunker.settings import Settings
from services.chunker.summaries import summariser_of


def build(service: Service) -> None:
    """Wire the service."""
    settings = service.settings
    assert isinstance(settings, Settings)
    counter, workers = TokenCounter(settings.models_dir()), settings.chunker_workers
    catalog, objects = service.stores.catalog, service.stores.objects
    asked = (catalog.documents, enricher_of(objects, settings), summariser_of(objects, settings))
    deps = Deps(service.bus, objects, counter.count_many, settings.sizes(), *asked)
    service.soon(partial(asyncio.to_thread, counter.warm_up), "load the vocabulary")
    service.on_end(deps.close)
    require(service, "catalog", "objects")
    service.hear(CHUNK, DocumentParsed, partial(on_parsed, deps), workers=workers)
    service.hear(DESCRIBE, EntriesMerged, partial(on_merged, deps), workers=workers)
    service.hear(TELL_APART, EntriesDescribed, partial(on_described, deps), workers=workers)
    service.answer(QUERY_COST, CostQuery, partial(on_cost, deps), workers=1)


def main() -> None:
    """Run the service."""
    run(Stage.CHUNKER, Settings, build)


if __name__ == "__main__":
    main()
