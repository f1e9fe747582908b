"""The client against llama.cpp with a small model: real tokens, real prose, real nonsense.

The model is a base model of 270 million parameters, which follows no instruction: what it
answers is exactly what may never harm.
"""

import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from libs.runtime.models.budget import Budget
from libs.runtime.models.caches import MemoryAnswers
from libs.runtime.models.client import EndpointModel
from libs.runtime.models.failure import ModelFailed, Reason
from libs.runtime.models.settings import Endpoint
from libs.runtime.models.tokens import TokenEstimate
from libs.runtime.models.use import ModelUse
from services.planner.analysis import model as analysing
from services.planner.local import analyzer
from tests.models.environments import LLAMA, python_with

SECONDS = 600.0


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    python = python_with("llama", LLAMA)
    folder = tmp_path_factory.mktemp("gguf")
    script = Path(__file__).with_name("llama_server.py")
    with subprocess.Popen(
        [str(python), str(script), str(folder)], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        try:
            address = server.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:"), "the server did not start"
            yield address
        finally:
            server.terminate()


@pytest.fixture
async def model(url: str, token_estimate: TokenEstimate) -> AsyncIterator[EndpointModel]:
    endpoint = Endpoint(url=url, name="gemma-3-270m-q4_k_m")
    found = EndpointModel(ModelUse.SUMMARY, endpoint, token_estimate)
    yield found
    await found.close()


async def test_text_comes_with_the_servers_own_counts(model: EndpointModel) -> None:
    budget, cache = Budget(tokens=5000, calls=3), MemoryAnswers()
    answer = await model.text(
        "", "The capital of France is", max_tokens=16, seconds=SECONDS, budget=budget, cache=cache
    )
    assert answer.text
    assert answer.finish in ("stop", "length")
    assert 0 < answer.tokens_out <= 16
    assert 5 <= answer.tokens_in <= 40
    assert budget.tokens_spent == answer.tokens_in + answer.tokens_out
    again = await model.text("", "The capital of France is", max_tokens=16, cache=cache)
    assert (again.text, again.cached) == (answer.text, True)


class Heading(BaseModel):
    level: int
    title: str


async def test_json_is_valid_or_a_failure(model: EndpointModel) -> None:
    try:
        found = await model.json(
            "Give the level and title of the heading.", "2.1 Scope", Heading,
            max_tokens=24, seconds=SECONDS,
        )  # fmt: skip
    except ModelFailed as failed:
        assert failed.reason in (Reason.INVALID, Reason.TRUNCATED, Reason.EMPTY)
    else:
        assert isinstance(found, Heading)


async def test_a_query_is_analysed_whatever_the_model_says(
    url: str, token_estimate: TokenEstimate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analysing, "MAX_TOKENS", 48)
    endpoint = Endpoint(url=url, name="gemma-3-270m-q4_k_m")
    asked = EndpointModel(ModelUse.ANALYZE, endpoint, token_estimate)
    query = "삼성전자 2023년 사업보고서의 매출"
    done = await analysing.Analyzer(analyzer(), asked, seconds=SECONDS).analyse(query, SECONDS)
    await asked.close()
    assert done.analysis is not None
    assert done.analysis.hard_filters.year in (None, 2023)
    assert all(term in query for term in done.analysis.must_terms)
    assert done.analysis.normalized_queries[0].text == query
