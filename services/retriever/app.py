"""The retriever: wiring only."""

from functools import partial

from libs.contracts.api.search import RetrieveQuery
from libs.contracts.query.probe import HydrateQuery, ProbeQuery
from libs.contracts.subjects import QUERY_HYDRATE, QUERY_PROBE, QUERY_RETRIEVE, Stage
from libs.runtime.service import Service, require, run
from services.retriever.handlers import on_hydrate, on_probe, on_retrieve
from services.retriever.probe import Prober
from services.retriever.retrieve import Retriever
from services.retriever.settings import Settings
from services.retriever.words import words_of

IN_HAND = 1024
"""More than the retriever's own gate lets wait, so that it is the gate that refuses."""


def build(service: Service) -> None:
    """Wire the service."""
    stores, settings = service.stores, service.settings
    assert isinstance(settings, Settings)
    retriever = Retriever(stores.catalog, stores.index, stores.embedder, settings, words_of)
    prober = Prober(retriever)
    service.answer(QUERY_RETRIEVE, RetrieveQuery, partial(on_retrieve, retriever), workers=IN_HAND)
    service.answer(QUERY_PROBE, ProbeQuery, partial(on_probe, prober), workers=IN_HAND)
    service.answer(QUERY_HYDRATE, HydrateQuery, partial(on_hydrate, prober), workers=IN_HAND)
    service.soon(retriever.warm_up, "load the embedder")
    require(service, "catalog", "index")


def main() -> None:
    """Run the retriever."""
    run(Stage.RETRIEVER, Settings, build)


if __name__ == "__main__":
    main()
