"""Rerankers: an endpoint, a local cross-encoder, each where the one before it fails."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from libs.runtime.inference.errors import ModelUnavailable
from libs.runtime.inference.rerank import Reranker, open_reranker
from libs.runtime.models.settings import Endpoint
from tests.support.models import FakeModels, Hang, Reply, Status

TEXTS = ["nothing of it", "safety rules of work", "rules"]


class CrossEncoder:
    def __init__(self, folder: str, device: str) -> None:
        pass

    def predict(self, pairs: list[tuple[str, str]]) -> np.ndarray:
        return np.array([float(len(text)) for _, text in pairs])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    library = ModuleType("sentence_transformers")
    library.CrossEncoder = CrossEncoder  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    (tmp_path / "config.json").write_text("{}")
    return tmp_path


@pytest.fixture
async def both(server: FakeModels, folder: Path) -> AsyncIterator[Reranker]:
    reranker = open_reranker(Endpoint(url=server.url, name="ranks"), folder)
    assert reranker is not None
    yield reranker
    await reranker.close()


async def test_the_endpoint_comes_first(both: Reranker, server: FakeModels) -> None:
    scores = await both.scores("safety rules", TEXTS, 60.0)
    assert scores == {1: 1.0, 2: 0.5, 0: 0.0}
    assert server.asked[0].body["documents"] == TEXTS
    assert server.asked[0].path.endswith("/rerank")


@pytest.mark.parametrize("reply", [Status(400), Status(401), Status(404)])
async def test_the_local_model_takes_over(both: Reranker, server: FakeModels, reply: Reply) -> None:
    server.otherwise = reply
    scores: Any = await both.scores("safety rules", TEXTS, 60.0)
    assert scores == {n: float(len(text)) for n, text in enumerate(TEXTS)}


async def test_an_endpoint_that_hangs_gets_its_part_of_the_time(
    both: Reranker, server: FakeModels
) -> None:
    server.otherwise = Hang()
    assert len(await both.scores("safety rules", TEXTS, 2.0)) == 3


async def test_where_nothing_answers_it_says_so(server: FakeModels, tmp_path: Path) -> None:
    server.otherwise = Status(400)
    reranker = open_reranker(Endpoint(url=server.url, name="ranks"), tmp_path / "absent")
    assert reranker is not None
    with pytest.raises(ModelUnavailable):
        await reranker.scores("safety rules", TEXTS, 60.0)
    await reranker.close()


def test_nothing_is_configured_by_default() -> None:
    assert open_reranker(Endpoint(), None) is None
