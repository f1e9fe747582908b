"""What the retriever answers."""

from libs.contracts.api.search import RetrieveAnswer, RetrieveQuery
from services.retriever.retrieve import Retriever


async def on_retrieve(retriever: Retriever, query: RetrieveQuery) -> RetrieveAnswer:
    """One retrieval step."""
    return await retriever.retrieve(query)
