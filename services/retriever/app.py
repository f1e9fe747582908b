"""The retriever: wiring only."""

from libs.contracts.subjects import Stage
from libs.runtime.service import Service, require, run
from services.retriever import calibrating, switching
from services.retriever.handlers import answers
from services.retriever.reranking import reranking_of
from services.retriever.retrieve import IN_HAND
from services.retriever.settings import Settings


def build(service: Service) -> None:
    """Wire the service."""
    assert isinstance(service.settings, Settings)
    reranking = reranking_of(service.stores, service.settings)
    for subject, answer in answers(reranking, service.stores.graph).items():
        service.answer(subject, subject.model, answer, workers=IN_HAND)
    calibrating.look(service, reranking.retriever)
    switching.warm_up(service, service.settings, reranking.retriever)
    require(service, "catalog", "index")


def main() -> None:
    """Run the retriever."""
    run(Stage.RETRIEVER, Settings, build)


if __name__ == "__main__":
    main()
