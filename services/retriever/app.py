"""The retriever: wiring only."""

from functools import partial

from libs.contracts import subjects
from libs.contracts.api.search import RetrieveQuery
from libs.contracts.query.entries import MatchQuery
from libs.contracts.query.probe import HydrateQuery, ProbeQuery
from libs.contracts.subjects import Stage
from libs.runtime.service import Service, require, run
from services.retriever.entries import EntryFinder
from services.retriever.handlers import on_hydrate, on_match, on_probe, on_retrieve
from services.retriever.probe import Prober
from services.retriever.reranking import reranking_of
from services.retriever.retrieve import IN_HAND
from services.retriever.settings import Settings


def build(service: Service) -> None:
    """Wire the service."""
    settings = service.settings
    assert isinstance(settings, Settings)
    reranking = reranking_of(service.stores, settings)
    prober, finder = Prober(reranking.retriever), EntryFinder(reranking.retriever)
    answer = partial(service.answer, workers=IN_HAND)
    answer(subjects.QUERY_RETRIEVE, RetrieveQuery, partial(on_retrieve, reranking))
    answer(subjects.QUERY_PROBE, ProbeQuery, partial(on_probe, prober))
    answer(subjects.QUERY_HYDRATE, HydrateQuery, partial(on_hydrate, prober))
    answer(subjects.QUERY_MATCH, MatchQuery, partial(on_match, finder))
    service.soon(reranking.retriever.warm_up, "load the embedder")
    require(service, "catalog", "index")


def main() -> None:
    """Run the retriever."""
    run(Stage.RETRIEVER, Settings, build)


if __name__ == "__main__":
    main()
