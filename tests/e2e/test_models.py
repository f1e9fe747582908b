"""Models over the whole stack: queries analysed, planned and ranked by them, vectors from an
endpoint, and another embedder that takes over while queries are answered."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.models import DIMENSION, Asked, FakeModels, Reply, Say, spoken
from tests.support.stack import Stack, running_stack

pytestmark = pytest.mark.slow

SAFETY = "# Safety\n\nHelmets are worn on every building site, says the safety officer.\n"
BUDGET = "# Budget\n\nThe budget of the building site grew by four percent this year.\n"
LATEST = 240.0
TIME = {"tokens": 8000, "milliseconds": 60_000}


def reply(asked: Asked) -> Reply:
    if not asked.path.endswith("/chat/completions"):
        return Say("computed")
    if asked.system.startswith("You plan the searches"):
        return spoken({"shape": "single", "searches": [{"query": "safety officer"}], "hops": 0})
    return spoken({"must_terms": ["helmets"], "analyzer_confidence": 0.9})


@pytest.fixture(scope="module")
def server() -> Iterator[FakeModels]:
    with FakeModels() as running:
        running.otherwise = reply
        yield running


@pytest.fixture(scope="module")
def stack(server: FakeModels) -> Iterator[Stack]:
    uses = server.environment("analyze", "plan", "rerank", "embed")
    settings = {
        "GROUNDWIRE_EMBEDDER": "openai",
        "GROUNDWIRE_EMBEDDER_DIMENSION": str(DIMENSION),
        "GROUNDWIRE_PLANNER_MODEL_SECONDS": "30",
        "GROUNDWIRE_PLANNER_CACHE": "false",
    }
    with running_stack(**uses, **settings) as running:
        for name, text in (("safety.md", SAFETY), ("budget.md", BUDGET)):
            running.ingest(name, text.encode(), wait_for_dense=True)
        yield running


def asked_for_vectors(server: FakeModels) -> int:
    return sum(asked.path.endswith("/embeddings") for asked in server.asked)


def channels(answer: dict[str, Any]) -> set[str]:
    return {name for found in answer["evidence"] for name in found["explain"]["channels"]}


def test_models_read_rank_and_embed(stack: Stack, server: FakeModels) -> None:
    assert asked_for_vectors(server)
    answer = stack.search("who wears helmets", mode="agentic", budget=TIME, explain=True)
    assert "Helmets" in answer["evidence"][0]["content"]
    chats = [a for a in server.asked if a.path.endswith("/chat/completions")]
    assert len(chats) == 2, "an analysis and a plan"
    assert any(a.path.endswith("/rerank") for a in server.asked)
    assert answer["budget"]["spent"]["tokens"] > 20
    classic = stack.search("who wears helmets", budget=TIME, explain=True)
    assert {"dense", "rerank"} <= channels(classic)


def test_another_embedder_takes_over_while_queries_are_answered(
    stack: Stack, server: FakeModels
) -> None:
    stack.stop()
    stack.environment |= {"GROUNDWIRE_EMBEDDER": "use", "GROUNDWIRE_EMBEDDER_BEFORE": "openai"}
    stack.start()
    deadline = time.monotonic() + LATEST
    number = 0
    while True:
        number += 1
        before = asked_for_vectors(server)
        answer = stack.search(f"helmets on building sites {number}", budget=TIME, explain=True)
        assert answer["evidence"], "queries are answered throughout"
        if "dense" in channels(answer) and asked_for_vectors(server) == before:
            break
        assert time.monotonic() < deadline, "it never took over"
        time.sleep(0.5)
