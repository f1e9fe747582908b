"""What the retriever answers."""

from libs.contracts.api.search import RetrieveAnswer, RetrieveQuery
from libs.contracts.query.entries import MatchAnswer, MatchQuery
from libs.contracts.query.navigate import NavigateAnswer, NavigateQuery
from libs.contracts.query.probe import HydrateAnswer, HydrateQuery, ProbeAnswer, ProbeQuery
from services.retriever.entries import EntryFinder
from services.retriever.navigate import Navigator
from services.retriever.probe import Prober
from services.retriever.reranking import Reranking


async def on_retrieve(retriever: Reranking, query: RetrieveQuery) -> RetrieveAnswer:
    """One retrieval step."""
    return await retriever.retrieve(query)


async def on_probe(prober: Prober, query: ProbeQuery) -> ProbeAnswer:
    """The searches of one hop."""
    return await prober.probe(query)


async def on_hydrate(prober: Prober, query: HydrateQuery) -> HydrateAnswer:
    """Chosen chunks."""
    return await prober.hydrate(query)


async def on_navigate(navigator: Navigator, query: NavigateQuery) -> NavigateAnswer:
    """The sections around what was found."""
    return await navigator.navigate(query)


async def on_match(finder: EntryFinder, query: MatchQuery) -> MatchAnswer:
    """One attempt of a search of entries."""
    return await finder.match(query)
