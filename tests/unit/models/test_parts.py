"""The parts beside the client: caches, budgets, other services of an endpoint, telemetry."""

import logging
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import BaseModel

from libs.runtime.models import watching
from libs.runtime.models.budget import Budget, Reservation
from libs.runtime.models.caches import MemoryAnswers, StoredAnswers
from libs.runtime.models.failure import ModelFailed, Reason
from libs.runtime.models.jsontext import instructed, read_object, without_thoughts
from libs.runtime.models.port import Answer
from libs.runtime.models.service import EndpointService
from libs.runtime.models.settings import Endpoint
from libs.runtime.objects.factory import open_objects
from tests.support.models import FakeModels, Raw, Say, Status
from tests.unit.models.conftest import FastClock, Open

KEY = "a" * 64
ANSWER = Answer("시험 text", 11, 5, finish="stop")


async def test_stored_answers_lie_below_their_prefix_and_go_with_it(tmp_path: Path) -> None:
    objects = open_objects(f"file:{tmp_path}")
    kept = StoredAnswers(objects, "acme/doc-1/.answers/")
    assert await kept.get(KEY) is None
    await kept.put(KEY, ANSWER)
    found = await StoredAnswers(objects, "acme/doc-1/.answers/").get(KEY)
    assert found == Answer("시험 text", 11, 5, cached=True, finish="stop")
    await objects.put(f"acme/doc-1/.answers/{KEY}.json", b'{"text": 7}')
    assert await kept.get(KEY) is None, "what cannot be read is not there"
    await kept.put(KEY, ANSWER)
    assert await objects.delete_prefix("acme/doc-1/") == 1
    assert await kept.get(KEY) is None
    await objects.close()


async def test_a_store_that_is_away_fails_no_call(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("where the folder should be")
    objects = open_objects(f"file:{tmp_path / 'file'}")
    kept = StoredAnswers(objects, "acme/")
    await kept.put(KEY, ANSWER)
    assert await kept.get(KEY) is None
    await objects.close()


async def test_memory_keeps_what_was_used_last() -> None:
    kept = MemoryAnswers(limit=2)
    for key in ("a", "b"):
        await kept.put(key, ANSWER)
    await kept.get("a")
    await kept.put("c", ANSWER)
    assert [await kept.get(key) is not None for key in ("a", "b", "c")] == [True, False, True]


@given(st.lists(st.tuples(st.integers(1, 50), st.booleans()), max_size=40))
def test_a_budget_is_never_passed(steps: list[tuple[int, bool]]) -> None:
    budget = Budget(tokens=200, calls=15)
    held: list[tuple[Reservation, int]] = []
    for tokens, settle in steps:
        if settle and held:
            reservation, cost = held.pop(0)
            budget.settle(reservation, cost // 2)
            with pytest.raises(ValueError, match="settled"):
                budget.settle(reservation, 0)
            continue
        try:
            held.append((budget.reserve(tokens), tokens))
        except ModelFailed as failed:
            assert failed.reason is Reason.BUDGET
        reserved = sum(tokens for _, tokens in held)
        assert budget.tokens_spent + reserved + (budget.tokens_left or 0) == 200
        assert budget.calls_spent + len(held) <= 15


def test_a_budget_of_time_ends() -> None:
    now = [0.0]
    budget = Budget(seconds=5, clock=lambda: now[0])
    budget.reserve(10**9)
    now[0] = 5.0
    with pytest.raises(ModelFailed):
        budget.reserve(1)
    assert Budget().tokens_left is None


class Titled(BaseModel):
    """What it is for."""

    title: str
    description: int


def test_a_schema_is_shown_without_ornament() -> None:
    said = instructed("Do it.", Titled)
    assert '"title":{"type":"string"}' in said
    assert '"description":{"type":"integer"}' in said
    assert "What it is for" not in said
    assert "JSON" in said


def test_the_valid_object_among_several_is_found() -> None:
    text = '{"a": 1} or {"title": 1} or {"title": "t", "description": 2} {"title": "u"}'
    assert read_object(text, Titled, cut=False) == Titled(title="t", description=2)


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("<think>Level 2?</think>Zweck", "Zweck"),
        ("\n<think>one\ntwo</think>\nZweck", "\nZweck"),
        ("begun elsewhere</think> Zweck", " Zweck"),
        ('<think>perhaps {"title": "no", "description": 1}', ""),
        ("I think so", "I think so"),
    ],
)
def test_reasoning_is_no_part_of_an_answer(said: str, answer: str) -> None:
    assert without_thoughts(said) == answer


def test_an_object_in_unfinished_reasoning_is_no_answer() -> None:
    with pytest.raises(ModelFailed) as failed:
        read_object('<think>perhaps {"title": "no", "description": 1}', Titled, cut=True)
    assert failed.value.reason is Reason.TRUNCATED


def service(server: FakeModels, time: FastClock) -> EndpointService:
    return EndpointService(Endpoint(url=server.url, name="m"), time.clock)


@pytest.mark.parametrize("bad", [Status(503), Status(429, retry_after="9"), Raw(b"no"), Raw(b"{}")])
async def test_other_services_are_tried_again_as_well(
    server: FakeModels, time: FastClock, bad: Status | Raw
) -> None:
    asking = service(server, time)
    server.will(bad)
    assert await asking.ranks("a b", ["b", "a b", "c"], 60.0) == {1: 1.0, 0: 0.5, 2: 0.0}
    server.will(bad)
    assert len(await asking.vectors(["a", "b"], 60.0)) == 2
    assert len(server.asked) == 4
    await asking.close()


async def test_an_azure_endpoint_is_asked_in_its_own_form(opened: Open, server: FakeModels) -> None:
    url = server.url.removesuffix("/v1") + "?api-version=2024-10-21"
    answer = await opened(url=url).text("", "question", max_tokens=50)
    assert answer.text == "ok"
    (asked,) = server.asked
    assert asked.path == "/openai/deployments/fake/chat/completions"
    assert asked.key == "key-a"


async def test_spans_and_logs_hold_counts_alone(
    opened: Open,
    server: FakeModels,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    canary, exporter = "canary-4711", InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(watching, "tracer", lambda: provider.get_tracer("test"))
    caplog.set_level(logging.DEBUG)
    model = opened(keys=canary)
    server.will(Say(canary), Status(400, message=canary))
    await model.text(canary, canary, max_tokens=50)
    with pytest.raises(ModelFailed):
        await model.text(canary, canary, max_tokens=51)
    done, failed = exporter.get_finished_spans()
    assert done.name == "chat fake"
    assert done.kind is trace.SpanKind.CLIENT
    known = dict(done.attributes or {})
    assert (known["gen_ai.operation.name"], known["gen_ai.request.model"]) == ("chat", "fake")
    assert (known["gen_ai.usage.input_tokens"], known["gen_ai.usage.output_tokens"]) == (11, 11)
    assert known["gen_ai.response.finish_reasons"] == ("stop",)
    assert (failed.attributes or {})["error.type"] == "invalid"
    assert canary not in "".join(span.to_json() for span in (done, failed))
    ours = [r for r in caplog.records if not r.name.startswith(("asyncio", "httpcore2"))]
    assert canary not in " ".join(record.getMessage() for record in ours)
