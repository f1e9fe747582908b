"""What the retriever answers."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from pydantic import BaseModel

from libs.contracts import subjects
from libs.contracts.api.search import RetrieveAnswer, RetrieveQuery
from libs.contracts.bus import Subject
from libs.contracts.query.documents import DocumentsAnswer, DocumentsQuery
from libs.contracts.query.entries import MatchAnswer, MatchQuery
from libs.contracts.query.navigate import NavigateAnswer, NavigateQuery
from libs.contracts.query.probe import HydrateAnswer, HydrateQuery, ProbeAnswer, ProbeQuery
from libs.runtime.graph.port import GraphStore
from services.retriever.entries import EntryFinder
from services.retriever.naming import Resolver
from services.retriever.navigate import Navigator
from services.retriever.probe import Prober
from services.retriever.reranking import Reranking

Answer = Callable[[Any], Awaitable[BaseModel]]
"""A handler with what it works on."""


def answers(reranking: Reranking, graph: GraphStore) -> dict[Subject, Answer]:
    """What each request is answered with."""
    retriever = reranking.retriever
    navigator = Navigator(retriever, graph)
    return {
        subjects.QUERY_RETRIEVE: partial(on_retrieve, reranking),
        subjects.QUERY_PROBE: partial(on_probe, navigator.prober),
        subjects.QUERY_HYDRATE: partial(on_hydrate, navigator.prober),
        subjects.QUERY_NAVIGATE: partial(on_navigate, navigator),
        subjects.QUERY_DOCUMENTS: partial(on_documents, Resolver(retriever)),
        subjects.QUERY_MATCH: partial(on_match, EntryFinder(retriever, reranking.reranker)),
    }


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


async def on_documents(resolver: Resolver, query: DocumentsQuery) -> DocumentsAnswer:
    """The documents that a question names."""
    return await resolver.documents(query)


async def on_match(finder: EntryFinder, query: MatchQuery) -> MatchAnswer:
    """One attempt of a search of entries."""
    return await finder.match(query)
