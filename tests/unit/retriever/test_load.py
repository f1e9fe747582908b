"""Under load: slow stores leave part of an answer, full queues refuse at once and say when."""

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from libs.contracts.api.ingest import DocumentMetadata
from libs.contracts.api.search import RetrieveQuery
from libs.contracts.artefacts import Chunk, ChunkMetadata
from libs.contracts.faults import Code, WorldFault
from libs.contracts.query.probe import ProbeQuery
from libs.runtime.catalog.documents import ActiveRevision, ActiveSet
from libs.runtime.gate import Gate
from libs.runtime.index.port import Hit, LexicalQuery
from libs.runtime.inference.errors import ModelUnavailable
from services.retriever.probe import Prober
from services.retriever.retrieve import Retriever
from services.retriever.settings import Settings
from tests.support.waiting import until

SIZE = 20
CHANNELS = {"content", "path", "term", "dense"}


class Stores:
    """A corpus of `SIZE` chunks in one revision; what is in `stuck` never answers."""

    model = "m"
    model_away = False

    def __init__(self, *stuck: str, content: str = "text") -> None:
        self.stuck = set(stuck)
        self.content = content
        self.asked: list[str] = []

    async def _pass(self, name: str) -> None:
        self.asked.append(name)
        if name in self.stuck:
            await asyncio.Event().wait()

    async def corpus_version(self, namespace: str) -> int:
        await self._pass("version")
        return 7

    async def active_set(self, namespace: str) -> ActiveSet:
        revision = ActiveRevision(
            1, "doc", 1, "doc.md", "default", "md", DocumentMetadata(), SIZE, "m"
        )
        return ActiveSet(7, (revision,))

    async def search(self, channel: str, query: Any, scope: Any, limit: int) -> list[Hit]:
        await self._pass(channel)
        return [Hit(1, order, f"t{order}", float(SIZE - order)) for order in range(SIZE)]

    async def search_vectors(self, model: str, vector: Any, scope: Any, limit: int) -> list[Hit]:
        await self._pass("dense")
        return [Hit(1, order, f"t{order}", order / SIZE) for order in reversed(range(SIZE))]

    async def embed_query(self, text: str) -> Any:
        if self.model_away:
            raise ModelUnavailable("away")
        return np.zeros(4, np.float32)

    async def fetch(self, keys: list[tuple[int, int]]) -> dict[tuple[int, int], Chunk]:
        await self._pass("fetch")
        return {
            key: Chunk(
                chunk_id=f"t{key[1]}", type="text", content=self.content, path=[], order=key[1],
                metadata=ChunkMetadata(length=4, tokens=1, content_hash="sha256:0"),
            )
            for key in keys
        }  # fmt: skip


def retriever(stores: Stores, **settings: Any) -> Retriever:
    catalog = SimpleNamespace(documents=stores, chunks=stores)
    known = Settings(_env_file=None, **settings)  # type: ignore[call-arg]
    return Retriever(
        cast(Any, catalog), cast(Any, stores), cast(Any, stores), known,
        lambda text: LexicalQuery(text.split(), text.split()),
    )  # fmt: skip


def asks(query: str = "q-1", **fields: Any) -> RetrieveQuery:
    return RetrieveQuery(namespace="acme", query=query, **{"top_k": 5, **fields})


async def test_a_query_in_time_is_whole() -> None:
    answer = await retriever(Stores()).retrieve(asks(milliseconds=60_000))
    assert (len(answer.chunks), answer.unfinished, answer.notes) == (5, [], [])
    assert answer.searched == SIZE
    assert answer.chunks[0].channels.keys() == {"content", "dense", "term"}


async def test_a_channel_without_weight_is_searched_only_where_it_has_one() -> None:
    stores = Stores()
    await retriever(stores).retrieve(asks())
    assert sorted({*stores.asked} & CHANNELS) == ["content", "dense", "term"]
    without_vectors = Stores()
    without_vectors.model = "another"
    answer = await retriever(without_vectors, retriever_weight_term=0).retrieve(asks())
    assert sorted({*without_vectors.asked} & CHANNELS) == ["content", "path"]
    assert answer.chunks[0].channels.keys() == {"content", "path"}


async def test_where_the_model_is_away_the_channels_that_count_without_it_answer() -> None:
    stores = Stores()
    searching = retriever(stores)
    stores.model_away = True
    for _ in range(2):
        answer = await searching.retrieve(asks())
        assert answer.chunks[0].channels.keys() == {"content", "path", "term"}
    stores.model_away = False
    answer = await searching.retrieve(asks())
    assert answer.chunks[0].channels.keys() == {"content", "dense", "term"}


@pytest.mark.parametrize("later", [False, True])
async def test_a_search_and_the_probe_of_its_question_ask_the_channels_once(later: bool) -> None:
    stores = Stores()
    searching = retriever(stores)
    probe = ProbeQuery(namespace="acme", question="q-1")
    if later:
        await searching.retrieve(asks())
        answer = await Prober(searching).probe(probe)
    else:
        _, answer = await asyncio.gather(searching.retrieve(asks()), Prober(searching).probe(probe))
    assert (answer.corpus_version, answer.unfinished) == (7, [])
    assert sorted(name for name in stores.asked if name in CHANNELS) == ["content", "dense", "term"]


async def test_who_has_more_time_does_not_lose_by_who_had_less() -> None:
    stores = Stores("dense")
    searching = retriever(stores)
    hurried = asyncio.create_task(searching.retrieve(asks(milliseconds=60)))
    await until(lambda: "dense" in stores.asked, what="the hurried search is under way")
    patient = asyncio.create_task(searching.retrieve(asks()))
    assert (await hurried).unfinished == ["dense"]
    stores.stuck.clear()
    assert (await patient).unfinished == []


async def test_a_dense_channel_without_time_leaves_the_lexical_evidence() -> None:
    answer = await retriever(Stores("dense")).retrieve(asks(milliseconds=100))
    assert answer.unfinished == ["dense"]
    assert [c.chunk_id for c in answer.chunks] == ["t0", "t1", "t2", "t3", "t4"]
    assert answer.chunks[0].channels.keys() == {"content", "path", "term"}


async def test_a_lexical_channel_without_time_leaves_what_the_others_found() -> None:
    answer = await retriever(Stores("content")).retrieve(asks(milliseconds=100))
    assert (len(answer.chunks), answer.unfinished) == (5, ["content"])


@pytest.mark.parametrize(("stuck", "unfinished"), [("version", ["scope"]), ("fetch", ["assembly"])])
async def test_a_time_that_ends_early_is_an_answer_too(stuck: str, unfinished: list[str]) -> None:
    answer = await retriever(Stores(stuck)).retrieve(asks(milliseconds=50))
    assert (answer.chunks, answer.unfinished) == ([], unfinished)


async def test_an_answer_that_the_bus_cannot_carry_ends_before() -> None:
    answer = await retriever(Stores(content="x" * 100_000)).retrieve(asks(top_k=SIZE - 1))
    assert len(answer.chunks) == 3
    assert answer.unfinished == ["size"]


async def test_a_long_query_says_what_was_left_out() -> None:
    words = " ".join(f"w{n}" for n in range(100))
    notes = (await retriever(Stores()).retrieve(asks(words))).notes
    assert [note.split(":")[0] for note in notes] == [
        "the query has 100 different words",
        "the query has 100 different terms",
    ]


async def test_beyond_the_queue_a_query_is_refused_at_once_and_says_when() -> None:
    stores = Stores("content")
    busy = retriever(stores, retriever_searches=1, retriever_queue=1)
    running = [asyncio.create_task(busy.retrieve(asks(str(n)))) for n in range(2)]
    await until(lambda: "content" in stores.asked, what="the first search is under way")
    with pytest.raises(WorldFault) as refused:
        await busy.retrieve(asks("one too many"))
    assert refused.value.code is Code.OVERLOADED
    assert refused.value.retry_after
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
    stores.stuck.clear()
    assert len((await busy.retrieve(asks())).chunks) == 5


async def test_a_time_that_ends_in_the_queue_is_an_answer_without_evidence() -> None:
    stores = Stores("content")
    busy = retriever(stores, retriever_searches=1, retriever_queue=1)
    first = asyncio.create_task(busy.retrieve(asks()))
    await until(lambda: "content" in stores.asked, what="the first search is under way")
    answer = await busy.retrieve(asks(milliseconds=20))
    assert (answer.chunks, answer.unfinished) == ([], ["scope"])
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)


async def test_places_go_to_those_who_wait_longest_and_none_is_lost() -> None:
    gate, entered = Gate("a gate", 1, 3), []
    ends = [asyncio.Event() for _ in range(4)]

    async def through(number: int) -> None:
        async with gate.enter():
            entered.append(number)
            await ends[number].wait()

    started: Callable[[int], Awaitable[None]] = through
    tasks = [asyncio.ensure_future(started(number)) for number in range(4)]
    await until(lambda: entered == [0])
    tasks[1].cancel()
    for number in (0, 2, 3):
        ends[number].set()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert entered == [0, 2, 3]
    async with gate.enter():
        pass
