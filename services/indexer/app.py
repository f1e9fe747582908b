"""The indexer: wiring only."""

from functools import partial

from libs.contracts.events import DocumentChunked, DocumentPublished, ErasureRequested
from libs.contracts.subjects import EMBED, ERASE, PUBLISH, Stage
from libs.runtime.index.tokenizer import tokenize
from libs.runtime.service import Service, require, run
from services.indexer import reembed
from services.indexer.deps import Deps
from services.indexer.erase import SWEEP_SECONDS, sweep_again
from services.indexer.following import LOOK_SECONDS, Following
from services.indexer.handlers import on_chunked, on_erasure_requested, on_published
from services.indexer.settings import Settings


def build(service: Service) -> None:
    """Wire the service."""
    settings = service.settings
    assert isinstance(settings, Settings)
    deps = Deps(service.bus, service.stores, tokenize, settings)
    workers = settings.indexer_workers
    service.hear(PUBLISH, DocumentChunked, partial(on_chunked, deps), workers=workers)
    service.hear(
        EMBED, DocumentPublished, partial(on_published, deps), workers=workers, advances=False
    )
    service.hear(ERASE, ErasureRequested, partial(on_erasure_requested, deps), advances=False)
    service.every(SWEEP_SECONDS, partial(sweep_again, deps), "second sweep of erasures")
    service.every(LOOK_SECONDS, Following(deps).look, "corpus files")
    service.every(reembed.LOOK_SECONDS, reembed.Reembedding(deps).look, "vectors of another model")
    require(service, "catalog", "objects", "index", "graph")


def main() -> None:
    """Run the indexer."""
    run(Stage.INDEXER, Settings, build)


if __name__ == "__main__":
    main()
