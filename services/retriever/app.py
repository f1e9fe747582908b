"""The retriever: wiring only."""

from functools import partial

from libs.contracts import subjects
from libs.contracts.api.search import RetrieveQuery
from libs.contracts.query import entries, navigate, probe
from libs.runtime.service import Service, require, run
from services.retriever import handlers, switching
from services.retriever.entries import EntryFinder
from services.retriever.navigate import Navigator
from services.retriever.reranking import reranking_of
from services.retriever.retrieve import IN_HAND
from services.retriever.settings import Settings


def build(service: Service) -> None:
    """Wire the service."""
    assert isinstance(service.settings, Settings)
    reranking = reranking_of(service.stores, service.settings)
    navigator = Navigator(reranking.retriever, service.stores.graph)
    prober, finder = navigator.prober, EntryFinder(reranking.retriever, reranking.reranker)
    answer = partial(service.answer, workers=IN_HAND)
    answer(subjects.QUERY_RETRIEVE, RetrieveQuery, partial(handlers.on_retrieve, reranking))
    answer(subjects.QUERY_PROBE, probe.ProbeQuery, partial(handlers.on_probe, prober))
    answer(subjects.QUERY_HYDRATE, probe.HydrateQuery, partial(handlers.on_hydrate, prober))
    found = partial(handlers.on_navigate, navigator)
    answer(subjects.QUERY_NAVIGATE, navigate.NavigateQuery, found)
    answer(subjects.QUERY_MATCH, entries.MatchQuery, partial(handlers.on_match, finder))
    switching.warm_up(service, service.settings, reranking.retriever)
    require(service, "catalog", "index")


def main() -> None:
    """Run the retriever."""
    run(subjects.Stage.RETRIEVER, Settings, build)


if __name__ == "__main__":
    main()
