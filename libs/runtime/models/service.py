"""Other services of an endpoint than chat: vectors of texts, ranks of documents."""

from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from libs.runtime.models.connection import Connection, UnsupportedParameter, our_words
from libs.runtime.models.failure import ModelFailed, Reason
from libs.runtime.models.settings import Endpoint
from libs.runtime.models.tries import Clock, Tries, real_clock

A = TypeVar("A", bound=BaseModel)


class _Vector(BaseModel):
    model_config = ConfigDict(extra="ignore")

    index: int
    embedding: list[float]


class _Vectors(BaseModel):
    model_config = ConfigDict(extra="ignore")

    data: list[_Vector]


class _Rank(BaseModel):
    model_config = ConfigDict(extra="ignore")

    index: int
    relevance_score: float = Field(allow_inf_nan=False)


class _Ranks(BaseModel):
    model_config = ConfigDict(extra="ignore")

    results: list[_Rank]


class EndpointService:
    """Asks `<url>/embeddings` and `<url>/rerank`; fails as a chat model does."""

    def __init__(self, endpoint: Endpoint, clock: Clock | None = None) -> None:
        self._clock = clock or real_clock()
        self._name = endpoint.name
        self._connection = Connection(endpoint)
        self._tries = Tries(endpoint, self._clock)

    async def vectors(self, texts: Sequence[str], seconds: float) -> list[list[float]]:
        """A vector of each text, in order."""
        body = {"model": self._name, "input": list(texts), "encoding_format": "float"}
        answer = await self._asked("/embeddings", body, _Vectors, seconds)
        by_index = {item.index: item.embedding for item in answer.data}
        if sorted(by_index) != list(range(len(texts))):
            raise ModelFailed(Reason.INVALID, "the model's server gave other vectors than asked")
        return [by_index[n] for n in range(len(texts))]

    async def ranks(self, query: str, texts: Sequence[str], seconds: float) -> dict[int, float]:
        """The scores of the texts that were ranked, by their index."""
        body = {"model": self._name, "query": query, "documents": list(texts), "top_n": len(texts)}
        answer = await self._asked("/rerank", body, _Ranks, seconds)
        scores = {r.index: r.relevance_score for r in answer.results if 0 <= r.index < len(texts)}
        if texts and not scores:
            raise ModelFailed(Reason.EMPTY, "the model's server ranked nothing")
        return scores

    async def _asked(self, path: str, body: dict[str, Any], answer: type[A], seconds: float) -> A:
        async def ask(key: str) -> A:
            client = await self._connection.client(key)
            try:
                with our_words():
                    return answer.model_validate(await client.post(path, body=body, cast_to=object))
            except UnsupportedParameter:
                raise ModelFailed(Reason.INVALID, "the server refuses the request") from None
            except ValidationError:
                raise ModelFailed(Reason.BROKEN, "the server's answer cannot be read") from None

        found, _ = await self._tries.of(ask, self._clock.now() + seconds)
        return found

    async def close(self) -> None:
        """Release connections."""
        await self._connection.close()
