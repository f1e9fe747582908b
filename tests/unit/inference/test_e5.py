"""The embedder's threads, with a session that computes nothing."""

import asyncio
import os
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from libs.runtime.inference import e5
from libs.runtime.inference.e5 import E5Embedder
from libs.runtime.inference.errors import ModelUnavailable
from libs.runtime.inference.factory import open_embedder
from libs.runtime.inference.port import Vectors
from libs.runtime.settings import Settings
from tests.support.waiting import PATIENCE


class FakeSession:
    """One token a letter; a batch waits at `gate`, a query (one short text) does not."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.begun = threading.Semaphore(0)
        self.batches = 0
        self.nice: dict[str, int] = {}

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        return [[len(text)] * len(text) for text in texts]

    def vectors(self, batch: Sequence[Sequence[int]]) -> Vectors:
        name = threading.current_thread().name
        self.nice[name[:8]] = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
        if name.startswith("e5-passage"):
            self.batches += 1
            self.begun.release()
            assert self.gate.wait(PATIENCE)
        out = np.zeros((len(batch), 384), np.float32)
        out[:, 0] = [row[0] for row in batch]
        return out


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> FakeSession:
    fake = FakeSession()
    monkeypatch.setattr(e5, "open_session", lambda _root: fake)
    return fake


def threads() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name.startswith("e5-")]


async def begun(session: FakeSession, count: int) -> None:
    for _ in range(count):
        assert await asyncio.to_thread(session.begun.acquire, timeout=30)


async def test_nothing_is_loaded_or_started_before_the_first_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path] = []
    fake = FakeSession()
    monkeypatch.setattr(e5, "open_session", lambda root: opened.append(root) or fake)
    embedder = E5Embedder(tmp_path)
    assert (embedder.model, embedder.dimension) == ("e5-1571fc98-v1", 384)
    assert (opened, threads()) == ([], [])
    await asyncio.gather(*(embedder.embed_query("x") for _ in range(4)))
    await embedder.embed_passages(["x"])
    assert opened == [tmp_path]
    await embedder.close()
    assert threads() == []


async def test_vectors_come_in_the_order_of_the_texts(tmp_path: Path, session: FakeSession) -> None:
    embedder = E5Embedder(tmp_path)
    texts = ["x" * n for n in (700, 3, 900, 1, 250, 3)] * 100
    vectors = await embedder.embed_passages(texts)
    assert vectors[:, 0].tolist() == [len("passage: ") + len(text) for text in texts]
    assert (await embedder.embed_query("four"))[0] == len("query: four")
    await embedder.close()


async def test_passages_fill_their_threads_and_leave_queries_alone(
    tmp_path: Path, session: FakeSession
) -> None:
    embedder = E5Embedder(tmp_path, threads=2)
    session.gate.clear()
    bulk = asyncio.create_task(embedder.embed_passages(["x" * 900] * 6))
    await begun(session, 2)
    await asyncio.wait_for(embedder.embed_query("now"), PATIENCE)
    assert session.batches == 2
    session.gate.set()
    assert len(await bulk) == 6
    await embedder.close()


async def test_passages_leave_the_processor_to_queries_and_others(
    tmp_path: Path, session: FakeSession
) -> None:
    embedder = E5Embedder(tmp_path)
    await embedder.embed_passages(["x"])
    await embedder.embed_query("now")
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert session.nice == {"e5-query": own, "e5-passa": max(own, e5.NICE)}
    await embedder.close()


async def test_cancelled_passages_free_the_threads(tmp_path: Path, session: FakeSession) -> None:
    embedder = E5Embedder(tmp_path, threads=1)
    session.gate.clear()
    bulk = asyncio.create_task(embedder.embed_passages(["x" * 900] * 50))
    await begun(session, 1)
    bulk.cancel()
    with pytest.raises(asyncio.CancelledError):
        await bulk
    session.gate.set()
    await embedder.embed_passages(["y"])
    assert session.batches == 2
    await embedder.close()


async def test_closing_drops_what_waits(tmp_path: Path, session: FakeSession) -> None:
    embedder = E5Embedder(tmp_path, threads=1)
    session.gate.clear()
    bulk = asyncio.create_task(embedder.embed_passages(["x" * 900] * 50))
    await begun(session, 1)
    closing = asyncio.create_task(embedder.close())
    await asyncio.sleep(0)  # it begins
    session.gate.set()
    await closing
    assert threads() == []
    assert session.batches == 1
    with pytest.raises(asyncio.CancelledError):
        await bulk
    with pytest.raises(RuntimeError):
        await embedder.embed_query("too late")


async def test_a_model_that_does_not_load_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_root: Path) -> FakeSession:
        raise ModelUnavailable("pip install it")

    embedder = E5Embedder(tmp_path)
    monkeypatch.setattr(e5, "open_session", missing)
    for call in (embedder.embed_query("x"), embedder.embed_passages(["x"])):
        with pytest.raises(ModelUnavailable):
            await call
    monkeypatch.setattr(e5, "open_session", lambda _root: FakeSession())
    assert len(await embedder.embed_passages(["x"])) == 1
    await embedder.close()


def test_the_factory(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, _env_file=None)  # type: ignore[call-arg]
    assert isinstance(open_embedder(settings), E5Embedder)
    assert open_embedder(settings, "none") is None
    with pytest.raises(ValueError, match="not 'bge'"):
        open_embedder(settings, "bge")
