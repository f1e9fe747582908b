"""The retriever: wiring only."""

from functools import partial

from libs.contracts.api.search import RetrieveQuery
from libs.contracts.subjects import QUERY_RETRIEVE, Stage
from libs.runtime.index.port import LexicalQuery
from libs.runtime.index.tokenizer import query_terms, tokenize
from libs.runtime.service import Service, run
from services.retriever.handlers import on_retrieve
from services.retriever.retrieve import Retriever
from services.retriever.settings import Settings

IN_HAND = 1024
"""More than the retriever's own gate lets wait, so that it is the gate that refuses."""


def build(service: Service) -> None:
    """Wire the service."""
    stores, settings = service.stores, service.settings
    assert isinstance(settings, Settings)
    retriever = Retriever(
        stores.catalog,
        stores.index,
        stores.embedder,
        settings,
        lambda text: LexicalQuery(tokenize(text), query_terms(text)),
    )
    service.answer(QUERY_RETRIEVE, RetrieveQuery, partial(on_retrieve, retriever), workers=IN_HAND)
    service.soon(retriever.warm_up, "load the embedder")
    service.on_ready("catalog", stores.catalog.ping)


def main() -> None:
    """Run the retriever."""
    run(Stage.RETRIEVER, Settings, build)


if __name__ == "__main__":
    main()
